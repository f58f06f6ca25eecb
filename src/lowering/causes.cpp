// What time is spent on, and the same machine at other costs.
//
// A stream takes what its pipeline takes alone: a delay, its pace, and where others may share its links a tail. All
// grow with latencies and with bytes / rates, and twice as fast when all are twice as dear, so what a cause has in them
// is how they grow with its cost. That is read off by making each cause 1e-4 dearer and cheaper. Where both sides do
// not agree (two ways through the pipeline take equally long) the cause is at a kink, and gets the mean.
//
// By hand: a ring of two at 1 byte/ns, 5 ns a hop, two steps of one byte: it takes 12 ns, of which 5 are its delay and
// 7 its pace. 1 % more latency makes them 5.05 and 7.05: the latency of hops has 5 of the pace, the links have 2.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "apart.hpp"
#include "fmsim/lowering.hpp"
#include "gpu_parts.hpp"
#include "overlap.hpp"

namespace fmsim {
namespace {

constexpr double kStep = 1e-4;

struct CauseWords {
    const char* name;
    const char* key;
};
constexpr std::array<CauseWords, kCauses> kWords{{
    {"NVLink bandwidth", "nvlink_bandwidth"},
    {"PCIe bandwidth", "pcie_bandwidth"},
    {"NUMA bandwidth", "numa_bandwidth"},
    {"network bandwidth", "network_bandwidth"},
    {"channels' SM rate", "channel_rate"},
    {"proxy, a message", "message_cost"},
    {"NVLink latency", "nvlink_latency"},
    {"network latency", "network_latency"},
    {"NVSwitch sums", "nvswitch_sums"},
    {"SM signals", "unit_cost"},
    {"kernel launch", "launch"},
    {"host", "host"},
    {"compute", "compute"},
    {"memory bandwidth", "memory_bandwidth"},
    {"fixed", "fixed"},
}};

SimTime times(SimTime span, double factor) { return factor == 1 ? span : from_seconds(seconds(span) * factor); }

void make_dearer(InstanceType& type, const CostFactors& factors) {
    Gpu& gpu = type.gpu;
    for (BytesPerSecond& rate : gpu.channel_rate.values) rate.value /= factors[Cause::channels];
    for (SimTime& cost : gpu.unit_cost.values) cost = times(cost, factors[Cause::signals]);
    if (type.nvlink) {
        NvLink& link = *type.nvlink;
        for (SimTime& latency : link.hop_latency.values) latency = times(latency, factors[Cause::nvlink_latency]);
        link.wire_latency = times(link.wire_latency, factors[Cause::nvlink_latency]);
        for (SimTime* cost : {&link.switch_latency, &link.switch_chunk_cost, &link.switch_block_cost})
            *cost = times(*cost, factors[Cause::switches]);
    }
    if (type.nic) {
        Nic& nic = *type.nic;
        for (SimTime& latency : nic.hop_latency.values) latency = times(latency, factors[Cause::network_latency]);
        for (SimTime* latency : {&nic.wire_latency, &nic.hop_spread})
            *latency = times(*latency, factors[Cause::network_latency]);
        nic.message_cost = times(nic.message_cost, factors[Cause::messages]);
    }
}

// Causes that at_cost() changes; those of starts are known without.
constexpr std::array kOfMachines{Cause::nvlink,         Cause::pcie,           Cause::numa,     Cause::network,
                                 Cause::channels,       Cause::messages,       Cause::switches, Cause::signals,
                                 Cause::nvlink_latency, Cause::network_latency};

// Of one that is no transfer.
CauseSeconds start_causes(const Step& step, const Origin& origin, SimTime delay, const CostFactors& factors) {
    CauseSeconds causes;
    if (delay.fs == 0) return causes;
    if (origin.channel == kNotBefore) {
        causes[Cause::fixed] = seconds(delay);
    } else if (origin.channel == kHost) {
        causes[Cause::launch] = -seconds(step.schedule->launch) * factors[Cause::launch];
        causes[Cause::host] = seconds(delay) - causes[Cause::launch];
    } else if (step.schedule != nullptr) {
        causes[Cause::launch] = seconds(delay);
    } else {
        const SimTime flops = times(step.by_flops, factors[Cause::compute]);
        const SimTime memory = times(step.by_memory, factors[Cause::memory]);
        const bool computes = std::max(flops, memory).fs > 0;
        causes[!computes ? Cause::fixed : flops >= memory ? Cause::compute : Cause::memory] = seconds(delay);
        if (computes && flops == memory)
            causes.kinks = 1u << static_cast<unsigned>(Cause::compute) | 1u << static_cast<unsigned>(Cause::memory);
    }
    return causes;
}

// Steps that differ only in when they run have the same delays.
using StepKind = std::tuple<const Schedule*, const Group*, double>;

// The part of a round that only its links hold back.
bool is_tight(const Lowered& lowered, ActivityId activity) {
    return lowered.pace[activity].alone.fs > 0 && !std::isfinite(lowered.system.rate_limit[activity]);
}

class KindCauses {
public:
    KindCauses(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes)
        : topology_(topology), classes_(classes), overlap_(overlap_of(steps)) {
        for (const Step& step : steps) {
            if (step.schedule == nullptr) continue;
            const auto [found, fresh] = number_.try_emplace(kind_of(step), kinds_.size());
            if (!fresh) continue;
            kinds_.push_back(step);
            kinds_.back().after.clear();
            kinds_.back().not_before = {};
        }
        if (!kinds_.empty()) find();
    }
    struct Of {
        CauseSeconds delay, pace, tail, more;
    };
    const Of& of(const Step& step, std::uint32_t channel, bool tight) const {
        return causes_.at({number_.at(kind_of(step)), channel, tight});
    }

private:
    static StepKind kind_of(const Step& step) { return {step.schedule, step.group, step.copies * step.part_repeats}; }

    Lowered lowered_at(const Topology& topology) const { return lower_apart(topology, kinds_, classes_, overlap_); }
    void find() {
        const Lowered middle = lowered_at(topology_);
        std::vector<Of> of(middle.origin.size());
        for (const Cause cause : kOfMachines) add(cause, middle, of);
        for (std::uint32_t i = 0; i < of.size(); ++i) {
            const Origin& origin = middle.origin[ActivityId{i}];
            if (origin.stage == kNoStage) continue;
            fill_up(of[i].delay, middle.system.delay[ActivityId{i}]);
            fill_up(of[i].pace, middle.pace[ActivityId{i}].alone);
            fill_up(of[i].tail, middle.pace[ActivityId{i}].tail);
            causes_[{origin.step, origin.channel, is_tight(middle, ActivityId{i})}] = of[i];
        }
    }
    static void fill_up(CauseSeconds& of, SimTime whole) { of[largest(of)] += seconds(whole) - of.all(); }
    // Where what is missing to the delay goes: to a kink, whose mean of two slopes need not add up, else to the
    // largest, which hides the rounding.
    static Cause largest(const CauseSeconds& of) {
        std::size_t most = 0;
        const auto rank = [&](std::size_t i) {
            return std::pair{of.kink(static_cast<Cause>(i)), std::abs(of.seconds[i])};
        };
        for (std::size_t i = 1; i < kCauses; ++i)
            if (rank(i) > rank(most)) most = i;
        return static_cast<Cause>(most);
    }
    void add(Cause cause, const Lowered& middle, std::vector<Of>& of) const {
        CostFactors dearer, cheaper;
        dearer[cause] = 1 + kStep;
        cheaper[cause] = 1 - kStep;
        const Lowered up = lowered_at(at_cost(topology_, dearer));
        const Lowered down = lowered_at(at_cost(topology_, cheaper));
        for (std::uint32_t i = 0; i < of.size(); ++i) {
            const ActivityId activity{i};
            differentiate(cause, middle.system.delay[activity], up.system.delay[activity], down.system.delay[activity],
                          of[i].delay);
            const Pace &at = middle.pace[activity], &above = up.pace[activity], &below = down.pace[activity];
            differentiate(cause, at.alone, above.alone, below.alone, of[i].pace);
            differentiate(cause, at.tail, above.tail, below.tail, of[i].tail);
            const double work = middle.system.work[activity];
            if (!(work > 0)) continue;
            const double up_by = (up.system.work[activity] / work - 1) / kStep;
            const double down_by = (1 - down.system.work[activity] / work) / kStep;
            of[i].more[cause] = (up_by + down_by) / 2;
            if (std::abs(up_by - down_by) > 1e-3) of[i].more.kinks |= 1u << static_cast<unsigned>(cause);
        }
    }
    static void differentiate(Cause cause, SimTime at, SimTime dearer, SimTime cheaper, CauseSeconds& of) {
        const double here = seconds(at);
        const double above = (seconds(dearer) - here) / kStep, below = (here - seconds(cheaper)) / kStep;
        of[cause] = (above + below) / 2;
        constexpr double kRounding = 2e-12;  // a few hundred femtoseconds, over the step
        if (std::abs(above - below) > 2e-3 * std::max(std::abs(above), std::abs(below)) + 1e-4 * here + kRounding)
            of.kinks |= 1u << static_cast<unsigned>(cause);
    }

    const Topology& topology_;
    const LinkClasses* classes_;
    const Overlap overlap_;
    std::vector<Step> kinds_;
    std::map<StepKind, std::size_t> number_;                             // only looked up
    std::map<std::tuple<std::size_t, std::uint32_t, bool>, Of> causes_;  // of a kind, a channel, and whether tight
};

}  // namespace

std::string_view name(Cause cause) { return kWords[static_cast<std::size_t>(cause)].name; }
std::string_view key(Cause cause) { return kWords[static_cast<std::size_t>(cause)].key; }

double CauseSeconds::all() const {
    double sum = 0;
    for (const double one : seconds) sum += one;
    return sum;
}

CauseSeconds& CauseSeconds::add(const CauseSeconds& other, double times) {
    if (times == 0) return *this;
    for (std::size_t i = 0; i < kCauses; ++i) seconds[i] += times * other.seconds[i];
    kinks |= other.kinks;
    return *this;
}

Topology at_cost(const Topology& topology, const CostFactors& factors) {
    Topology dearer = topology;
    for (const auto& [kind, links] : topology.links.kinds())  // causes begin as kinds of link do
        dearer.links.scale(kind, 1 / factors.factor[static_cast<std::size_t>(kind)]);
    for (DomainBlock& block : dearer.cluster.blocks) make_dearer(block.type.instance, factors);
    return dearer;
}

Cause cause_of(const Topology& topology, ResourceId resource) {
    const auto links = static_cast<std::uint32_t>(topology.links.size());
    if (resource.value < links) return static_cast<Cause>(topology.links[LinkId{resource.value}].kind);
    const auto part = static_cast<GpuPart>((resource.value - links) % kGpuParts);
    return part == GpuPart::proxy ? Cause::messages : Cause::channels;
}

void set_starts(Lowered& lowered, std::span<const Step> steps, const CostFactors& factors) {
    for (std::uint32_t i = 0; i < lowered.origin.size(); ++i) {
        const Origin& origin = lowered.origin[ActivityId{i}];
        if (origin.stage != kNoStage || origin.channel == kDone || origin.channel == kNotBefore) continue;
        const Step& step = steps[origin.step];
        SimTime delay = lowered.system.delay[ActivityId{i}];
        if (origin.channel == kHost)
            delay = std::max(SimTime{}, times(step.schedule->exchange->host, factors[Cause::host]) -
                                            times(step.schedule->launch, factors[Cause::launch]));
        else if (step.schedule != nullptr)
            delay = times(delay, factors[Cause::launch]);
        else if (std::max(step.by_flops, step.by_memory).fs > 0)
            delay =
                std::max(times(step.by_flops, factors[Cause::compute]), times(step.by_memory, factors[Cause::memory]));
        lowered.system.delay.set(ActivityId{i}, delay);
    }
}

ActivityCauses causes_of(const Topology& topology, std::span<const Step> steps, const Lowered& lowered,
                         const LinkClasses* classes, const CostFactors& factors) {
    const KindCauses kinds(topology, steps, classes);
    ActivityCauses causes;
    for (std::uint32_t i = 0; i < lowered.origin.size(); ++i) {
        const Origin& origin = lowered.origin[ActivityId{i}];
        const Step& step = steps[origin.step];
        if (origin.stage == kNoStage) {
            causes.delay.push_back(start_causes(step, origin, lowered.system.delay[ActivityId{i}], factors));
            causes.pace.emplace_back();
            causes.tail.emplace_back();
            causes.more.emplace_back();
        } else {
            const auto& of = kinds.of(step, origin.channel, is_tight(lowered, ActivityId{i}));
            causes.delay.push_back(lowered.system.delay[ActivityId{i}].fs > 0 ? of.delay : CauseSeconds{});
            causes.pace.push_back(of.pace);
            causes.tail.push_back(of.tail);
            causes.more.push_back(of.more);
        }
    }
    return causes;
}

}  // namespace fmsim
