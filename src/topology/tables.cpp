// Devices and links by number, those of like instances kept once.
//
//   numbers   0 .. 13 | 14 .. 27 | 28 .. 41 | 42 ..     three instances of 14 devices, then others
//   rows_     0 .. 13                         14 ..
#include <algorithm>
#include <limits>

#include "fmsim/topology.hpp"

namespace fmsim {
namespace {

constexpr std::uint32_t kAlone = std::numeric_limits<std::uint32_t>::max();  // rows that stand for themselves: one set

// The last run that begins at or before `id`; the first begins at 0.
template <class Run>
const Run& run_of(const std::vector<Run>& runs, std::uint32_t id) {
    const auto after =
        std::upper_bound(runs.begin(), runs.end(), id, [](std::uint32_t at, const Run& run) { return at < run.first; });
    return *(after - 1);
}

}  // namespace

Device DeviceTable::operator[](DeviceId id) const {
    const Run& run = run_of(runs_, id.value);
    const std::uint32_t at = id.value - run.first, set = at / run.each;
    Device device = rows_[run.row + at % run.each];
    device.instance.value += set * run.apart;
    return device;
}

void DeviceTable::add(Device device) {
    if (runs_.empty() || runs_.back().each != kAlone)
        runs_.push_back({size_, kAlone, static_cast<std::uint32_t>(rows_.size()), 0});
    rows_.push_back(device);
    ++size_;
}

void DeviceTable::repeat(std::uint32_t each, std::uint32_t count, std::uint32_t apart) {
    if (each == 0 || count == 0) return;
    runs_.push_back({size_ - each, each, static_cast<std::uint32_t>(rows_.size()) - each, apart});
    size_ += each * count;
}

DeviceId LinkTable::shifted(DeviceId end, const Repeat& sets, std::uint32_t set) {
    if (end.value < sets.first_nvswitch) return {end.value + set * sets.apart};
    if (end.value < sets.first_nvswitch + sets.nvswitches) return {end.value + set / sets.together};
    return end;
}

Link LinkTable::operator[](LinkId id) const {
    const Run& run = run_of(runs_, id.value);
    const std::uint32_t at = id.value - run.first, set = at / run.sets.each;
    Link link = rows_[run.row + at % run.sets.each];
    if (set > 0) {
        link.from = shifted(link.from, run.sets, set);
        link.to = shifted(link.to, run.sets, set);
    }
    if (scaled_.empty()) return link;
    if (const auto found = scaled_.find(id.value); found != scaled_.end()) link.rate.value *= found->second;
    return link;
}

void LinkTable::add(const Link& link) {
    if (runs_.empty() || runs_.back().sets.each != kAlone)
        runs_.push_back({size_, static_cast<std::uint32_t>(rows_.size()), {.each = kAlone}});
    rows_.push_back(link);
    ++size_;
}

void LinkTable::repeat(const Repeat& sets) {
    if (sets.each == 0 || sets.count == 0) return;
    runs_.push_back({size_ - sets.each, static_cast<std::uint32_t>(rows_.size()) - sets.each, sets});
    size_ += sets.each * sets.count;
}

std::map<LinkKind, std::uint32_t> LinkTable::kinds() const {
    std::map<LinkKind, std::uint32_t> all;
    for (const Link& link : rows_) ++all[link.kind];
    for (const Run& run : runs_)
        if (run.sets.each != kAlone)
            for (std::uint32_t i = 0; i < run.sets.each; ++i) all[rows_[run.row + i].kind] += run.sets.count;
    return all;
}

void LinkTable::scale(LinkKind kind, double fraction) {
    for (Link& link : rows_)
        if (link.kind == kind) link.rate.value *= fraction;
}

void LinkTable::scale(LinkId link, double fraction) { scaled_.try_emplace(link.value, 1.0).first->second *= fraction; }

}  // namespace fmsim
