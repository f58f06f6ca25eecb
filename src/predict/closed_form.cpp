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

// The busiest GPU over NVLink, or the busiest domain over its NICs; by what the best of them carries, since which one
// is the busiest is not kept.
double ClosedForm::puts_seconds(const Puts& puts) const {
    double nvlink = 0, out = 0;
    for (const Group::Part& part : group_->parts) {
        const DomainType& type = topology_->type_of(part.domain);
        if (type.instance.nvlink) nvlink = std::max(nvlink, type.instance.nvlink->carries().value);
        out = std::max(out, topology_->rate_out_of(part.domain).value);
    }
    return std::max(puts.busiest_gpu > 0 ? puts.busiest_gpu / nvlink : 0,
                    puts.busiest_domain > 0 ? puts.busiest_domain / out : 0);
}

SimTime ClosedForm::of(const Schedule& schedule) {
    if (schedule.puts) return from_seconds(puts_seconds(*schedule.puts));
    const Algorithm* const row = find_algorithm(schedule.algorithm, schedule.collective);
    const LeastBytes least =
        row != nullptr ? row->least(*group_) : least_bytes(schedule.collective, *group_, false);
    const double bytes = group_->parts.size() > 1 ? least.domain : least.gpu;
    return bytes > 0 ? from_seconds(static_cast<double>(schedule.size.count) * bytes / rate().value) : SimTime{};
}

}  // namespace fmsim
