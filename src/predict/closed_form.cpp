#include "closed_form.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace fmsim {

// Inside a domain one GPU's NVLink. Between domains what the poorest sends into the network: there a GPU has its NICs
// beside its NVLink, so that only the domain's bytes count. Without faults and without the network's upper layers.
BytesPerSecond ClosedForm::rate() {
    if (rate_) return *rate_;
    if (group_->parts.size() == 1) {
        const auto& nvlink = topology_->type_of(group_->parts.front().domain).instance.nvlink;
        rate_ = nvlink ? nvlink->carries() : BytesPerSecond{std::numeric_limits<double>::infinity()};
        return *rate_;
    }
    rate_ = BytesPerSecond{std::numeric_limits<double>::infinity()};
    std::set<std::pair<const DomainType*, std::size_t>> seen;
    for (const Group::Part& part : group_->parts)
        if (seen.insert({&topology_->type_of(part.domain), part.positions.size()}).second)
            rate_ = std::min(*rate_, topology_->rate_out_of(part.domain));
    return *rate_;
}

SimTime ClosedForm::of(const Schedule& schedule) {
    const Algorithm* const row = find_algorithm(schedule.algorithm, schedule.collective);
    const LeastBytes least =
        row != nullptr ? row->least(*group_) : least_bytes(schedule.collective, *group_, false);
    const double bytes = group_->parts.size() > 1 ? least.domain : least.gpu;
    return bytes > 0 ? from_seconds(static_cast<double>(schedule.size.count) * bytes / rate().value) : SimTime{};
}

}  // namespace fmsim
