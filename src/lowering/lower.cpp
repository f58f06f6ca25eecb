// From steps to a system: each after those it waits for, each as its fidelity says.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "alone.hpp"
#include "apart.hpp"
#include "crowding.hpp"
#include "exchange.hpp"
#include "fmsim/lowering.hpp"
#include "gpu_parts.hpp"
#include "hop_costs.hpp"
#include "link_map.hpp"
#include "overlap.hpp"
#include "puts.hpp"
#include "solo_makespan.hpp"

namespace fmsim {
namespace {

// Some 350 bytes each: beyond this a plain error beats the operating system's.
constexpr double kMostActivities = 4e7;
// Of all channels of one schedule that are drawn hop by hop, some 500 bytes each. Rings over alike domains are not.
constexpr std::size_t kMostHops = 4'000'000;

// Until it is known which.
constexpr ResourceId kBusiestLink{kOwnLimit.value - 1};

bool has_exchange(std::span<const Step> steps) {
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
        return step.schedule != nullptr && step.schedule->exchange.has_value();
    });
}

class Lowering {
public:
    // `classes`: of a folded run, else null.
    Lowering(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes, Fidelity fidelity,
             Overlap overlap)
        : topology_(topology),
          fidelity_(fidelity),
          shared_(overlap.meets),
          rounds_(overlap.rounds),
          map_(classes != nullptr ? LinkMap(topology, builder_, has_exchange(steps), *classes)
                                  : LinkMap(topology, builder_, has_exchange(steps))) {}
    void keep_apart() { joins_ = false; }
    void add_step(const Step& step);
    Lowered finish() &&;

private:
    // One activity of a step in `stream`, or one of its rounds, which come one after another and are all alike.
    struct Flow {
        std::uint32_t channel{};
        SimTime delay;
        double work{}, rate_limit{};
        double share = 1;
        std::vector<Use> uses;
        SimTime tail;  // after its end
        Pace pace;
        std::uint32_t rounds = 1;
        double tight = 0;  // work before the other, with no limit but its links
        Pace tight_pace{};
    };
    using Flows = std::vector<Flow>;
    static void join_alike(Flows& flows);
    const Flows& flows_of(const Step& step);
    void add_flows(const Flows& flows);
    After<ActivityId> add_round(const Flow& flow, After<ActivityId> before);
    void channels(const Group& group, const Schedule& schedule, Flows& flows);
    Flow stream(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed, const SoloRun& alone) const;
    void pace_alone(Flow& flow, const SoloRun& alone) const;
    void pace_among_others(Flow& flow, const SoloRun& alone) const;
    void name_holders(std::span<Flow> flows) const;
    void chunks(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed);
    void puts(const Group& group, const Puts& puts, Flows& flows) const;
    void exchange_stream(const Group& group, const Schedule& schedule, Flows& flows) const;
    void exchange_chunks(const Group& group, const Schedule& schedule);
    void message_chunks(const Schedule& schedule, const MessageOnLinks& message, SimTime first_posts);
    ActivityId add(const Activity& activity, std::uint32_t channel, std::uint32_t stage);
    void refuse_too_many(double cells, const Schedule& schedule) const;

    const Topology& topology_;
    const Fidelity fidelity_;
    const bool shared_;  // operations may share links
    const std::uint32_t rounds_;
    bool joins_ = true;  // channels of a step that do the same are one activity, and all rounds of them are there
    SystemBuilder builder_;
    LinkMap map_;
    double copies_ = 1;  // of the step at hand, over all parts that it stands for
    double part_repeats_ = 1;
    // Of each call as often as it comes: the layers of a model, one micro-batch after another. Only looked up.
    std::map<std::tuple<const Group*, const Schedule*, double, double>, Flows> flows_;
    Lowered lowered_;
    std::uint32_t step_ = 0;
    StepSpan span_{};
    std::vector<After<ActivityId>> ends_;  // of the channels of the step at hand
};

ActivityId Lowering::add(const Activity& activity, std::uint32_t channel, std::uint32_t stage) {
    lowered_.origin.rows.push_back({step_, channel, stage});
    if (fidelity_ == Fidelity::stream) lowered_.pace.rows.push_back({});
    return builder_.add(activity);
}

void Lowering::add_step(const Step& step) {
    step_ = static_cast<std::uint32_t>(lowered_.steps.size());
    const Schedule* schedule = step.schedule;
    const bool moves = schedule != nullptr && schedule->moves();
    span_.launch = add({.delay = moves ? schedule->launch : step.takes}, kLaunch, kNoStage);
    for (const std::uint32_t before : step.after) builder_.order(lowered_.steps[before].done, span_.launch);
    if (step.not_before.fs > 0) builder_.order(add({.delay = step.not_before}, kNotBefore, kNoStage), span_.launch);
    if (!moves) {
        lowered_.steps.push_back({span_.launch, span_.launch});
        return;
    }
    ends_.clear();
    copies_ = step.copies * step.part_repeats;
    part_repeats_ = step.part_repeats;
    if (schedule->exchange && schedule->exchange->host > schedule->launch) {  // the host may be slower than the GPUs
        const ActivityId host = add({.delay = schedule->exchange->host - schedule->launch}, kHost, kNoStage);
        builder_.order(span_.launch, host);
        ends_.push_back({host, {}});
    }
    if (fidelity_ == Fidelity::chunk && schedule->exchange) exchange_chunks(*step.group, *schedule);
    add_flows(flows_of(step));
    span_.done = add({}, kDone, kNoStage);
    builder_.order(span_.launch, span_.done);
    for (const auto& [end, lag] : ends_) builder_.order(end, span_.done, lag);
    lowered_.steps.push_back(span_);
}

// In `chunk` the pieces of channels are added here, and only puts are left.
const Lowering::Flows& Lowering::flows_of(const Step& step) {
    const auto [known, fresh] = flows_.try_emplace(std::tuple{step.group, step.schedule, copies_, part_repeats_});
    Flows& flows = known->second;
    const bool in_chunks = fidelity_ == Fidelity::chunk && !step.schedule->channels.empty();
    if (!fresh && !in_chunks) return flows;
    flows.clear();
    channels(*step.group, *step.schedule, flows);
    if (fidelity_ == Fidelity::stream && step.schedule->exchange) exchange_stream(*step.group, *step.schedule, flows);
    if (step.schedule->puts) puts(*step.group, *step.schedule->puts, flows);
    return flows;
}

void Lowering::add_flows(const Flows& flows) {
    for (const Flow& flow : flows) {
        After<ActivityId> last{span_.launch, {}};
        for (std::uint32_t round = 0; round < (joins_ ? flow.rounds : 1); ++round) last = add_round(flow, last);
        ends_.push_back(last);
    }
}

// Apart, a round has its tight part even when there is nothing in it, as at other costs there may be, and both parts
// have the delay.
After<ActivityId> Lowering::add_round(const Flow& flow, After<ActivityId> before) {
    const auto add_after = [&](SimTime delay, double work, double rate_limit, const Pace& pace) {
        const ActivityId made =
            add({.delay = delay, .work = work, .share = flow.share, .rate_limit = rate_limit, .uses = flow.uses},
                flow.channel, 0);
        if (fidelity_ == Fidelity::stream) lowered_.pace[made] = pace;
        builder_.order(before.cell, made, before.lag);
        before = {made, pace.tail};
    };
    SimTime delay = flow.delay;
    if (flow.tight > 0 || (flow.rounds > 1 && !joins_)) {
        add_after(delay, flow.tight, Activity{}.rate_limit, flow.tight_pace);
        if (joins_) delay = {};
    }
    add_after(delay, flow.work, flow.rate_limit, flow.pace);
    return {before.cell, flow.tail};
}

void Lowering::channels(const Group& group, const Schedule& schedule, Flows& flows) {
    std::size_t hops = 0;
    for (const Channel& channel : schedule.channels) hops += channel.hops.size();
    if (hops > kMostHops)
        throw LimitReached(
            fmt::format("{} of {} over {} ranks has {:.2g} hops to draw; the most is {:.2g}. Pin another "
                        "algorithm, such as Ring, or ask for fewer GPUs",
                        schedule.algorithm, to_text(schedule.size), group.places.size(), static_cast<double>(hops),
                        static_cast<double>(kMostHops)));
    if (fidelity_ == Fidelity::chunk) {
        double cells = 0;
        for (const Channel& channel : schedule.channels) {
            const LoopCounts counts(channel.steps, static_cast<std::uint32_t>(channel.hops.size()));
            double transfers = 0;
            for (std::uint32_t hop = 0; hop < channel.hops.size(); ++hop) transfers += counts.per_loop(hop);
            for (const Loop& loop : channel.loops) cells += transfers * loop.units();
        }
        refuse_too_many(cells, schedule);
    }
    const auto placed = place(topology_, group, schedule, part_repeats_);
    if (fidelity_ == Fidelity::chunk) {
        for (std::uint32_t c = 0; c < placed.size(); ++c) chunks(schedule, c, placed[c]);
        return;
    }
    const std::vector<SoloRun> alone = runs_alone(topology_, schedule, placed, shared_);
    for (std::uint32_t c = 0; c < placed.size(); ++c) flows.push_back(stream(schedule, c, placed[c], alone[c]));
    name_holders(flows);
    if (joins_) join_alike(flows);
}

// Channels with the same bytes, limit and links have one rate at all times: the first of them asks for what they ask
// together, and ends when each of them does (docs/models/channels.md).
void Lowering::join_alike(Flows& flows) {
    const auto same_use = [](const Use& a, const Use& b) { return a.resource == b.resource && a.weight == b.weight; };
    const auto alike = [&](const Flow& a, const Flow& b) {
        return a.delay == b.delay && a.work == b.work && a.tight == b.tight && a.rate_limit == b.rate_limit &&
               a.tail == b.tail && a.pace.more == b.pace.more && a.pace.alone == b.pace.alone &&
               a.pace.working == b.pace.working && a.pace.held_by == b.pace.held_by &&
               std::equal(a.uses.begin(), a.uses.end(), b.uses.begin(), b.uses.end(), same_use);
    };
    std::vector<std::pair<Flow, std::vector<Use>>> kinds;  // the first, and what all have asked together
    for (Flow& flow : flows) {
        const auto known =
            std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return alike(kind.first, flow); });
        if (known == kinds.end()) {
            kinds.emplace_back(flow, flow.uses);
            continue;
        }
        for (std::size_t u = 0; u < flow.uses.size(); ++u) known->second[u].weight += flow.uses[u].weight;
    }
    flows.clear();
    for (auto& [flow, uses] : kinds) {
        flows.push_back(std::move(flow));
        flows.back().uses = std::move(uses);
    }
}

// All links of a channel at once, each with its part of the bytes of the busiest hop.
std::vector<Use> uses_of(const ChannelOnLinks& placed, const LoopCounts& counts, double busiest_hop) {
    std::map<ResourceId, double> weights;
    for (std::uint32_t h = 0; h < placed.hops.size(); ++h)
        for (const auto& [link, share] : placed.hops[h].route)
            weights[ResourceId{link.value}] += share * counts.chunks_a_loop(h) / busiest_hop;
    std::vector<Use> uses;
    for (const auto& [resource, weight] : weights) uses.push_back({resource, weight});
    return uses;
}

// The work counts wire bytes of the busiest hop, so that all channels that share a NIC keep the same pace, whatever
// else their bytes cross (docs/decisions/0002).
Lowering::Flow Lowering::stream(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed,
                                const SoloRun& alone) const {
    const Channel& channel = schedule.channels[c];
    const LoopCounts counts(channel.steps, static_cast<std::uint32_t>(channel.hops.size()));
    double busiest_hop = 0;
    for (std::uint32_t h = 0; h < channel.hops.size(); ++h)
        if (channel.hops[h].way != Way::local) busiest_hop = std::max(busiest_hop, counts.chunks_a_loop(h));
    double work = 0;
    for (const Loop& loop : channel.loops) work += loop.chunk * busiest_hop * schedule.wire_per_data;

    const bool by_links = alone.busiest > alone.own_busiest * (1 + 1e-9);
    Flow flow{.channel = c,
              .work = work,
              .uses = map_.uses(uses_of(placed, counts, busiest_hop), copies_),
              .pace = {.held_by = by_links ? kBusiestLink : kOwnLimit}};
    if (shared_)
        pace_among_others(flow, alone);
    else
        pace_alone(flow, alone);
    return flow;
}

// Of an operation that has its links to itself: the last hop's latency passes when all bytes are gone.
void Lowering::pace_alone(Flow& flow, const SoloRun& alone) const {
    const SimTime span = std::max(alone.makespan - alone.last_latency, from_seconds(alone.busiest));
    flow.delay = std::max(SimTime{}, alone.makespan - span);
    flow.rate_limit = flow.work / seconds(span);
    flow.pace.alone = span;
    flow.pace.working = from_seconds(alone.busiest);
}

void Lowering::pace_among_others(Flow& flow, const SoloRun& alone) const {
    const CrowdedPace all = crowded_pace(alone);
    const auto round_of = [rounds = rounds_](SimTime whole) { return SimTime{whole.fs / rounds}; };
    const SimTime tight = round_of(all.tight), span = round_of(all.span);
    flow.rounds = rounds_;
    flow.delay = flow.tail = flow.pace.tail = round_of(SimTime{all.fill.fs / 2});
    const double work = flow.work / rounds_;
    if (tight.fs > 0) flow.tight = work * (seconds(all.tight) / alone.links);
    flow.work = work * all.more - flow.tight;
    flow.rate_limit = flow.work / seconds(span - tight);
    flow.pace.more = all.more;
    flow.tight_pace = flow.pace;
    flow.tight_pace.tail = {};
    const double working = alone.busiest / seconds(all.span);
    for (const auto& [pace, part] : {std::pair{&flow.tight_pace, tight}, std::pair{&flow.pace, span - tight}}) {
        pace->alone = part;
        pace->working = from_seconds(working * seconds(part));
    }
}

// Of all that its channel uses the resource that the operation fills most.
void Lowering::name_holders(std::span<Flow> flows) const {
    std::map<ResourceId, double> seconds;
    for (const Flow& flow : flows)
        for (const auto& [resource, weight] : flow.uses)
            seconds[resource] += weight * (flow.tight + flow.work) / flow.pace.more / builder_.capacity(resource);
    for (Flow& flow : flows) {
        if (flow.pace.held_by != kBusiestLink) continue;
        flow.pace.held_by = kOwnLimit;
        double most = 0;
        for (const auto& [resource, weight] : flow.uses)
            if (seconds.at(resource) > most * (1 + 1e-9)) {
                most = seconds.at(resource);
                flow.pace.held_by = resource;
            }
        flow.tight_pace.held_by = flow.pace.held_by;
    }
}

void Lowering::chunks(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed) {
    const Pipeline pipe = pipeline_of(schedule, schedule.channels[c], placed.hops);
    std::vector<std::vector<Use>> uses(placed.hops.size());
    for (std::size_t h = 0; h < uses.size(); ++h) {
        for (const auto& [link, share] : placed.hops[h].route) uses[h].push_back({ResourceId{link.value}, share});
        uses[h] = map_.uses(uses[h], copies_);
    }

    const auto last = walk<ActivityId>(pipe, [&](const Cell& cell, std::span<const After<ActivityId>> waits) {
        const ActivityId made = add(activity_of(placed.hops[cell.hop], cell, uses[cell.hop]), c,
                                    2 * cell.hop + static_cast<std::uint32_t>(cell.stage));
        for (const auto& [before, lag] : waits) builder_.order(before, made, lag);
        if (waits.empty()) builder_.order(span_.launch, made);
        return made;
    });
    ends_.insert(ends_.end(), last.begin(), last.end());
}

// The same in both fidelities: nothing is published of the order of a kernel's own puts.
void Lowering::puts(const Group& group, const Puts& puts, Flows& flows) const {
    for (const PutLeg& leg : puts.legs) {
        const PutFlow flow = put_flow(topology_, group, leg);
        if (flow.work <= 0) continue;
        flows.push_back({.channel = leg.leaves_domain ? 1u : 0u,
                         .delay = leg.delay,
                         .work = flow.work,
                         .rate_limit = flow.rate_limit,
                         .uses = map_.uses(flow.uses, copies_),
                         .tail = leg.tail});
    }
}

void Lowering::exchange_stream(const Group& group, const Schedule& schedule, Flows& flows) const {
    std::uint32_t level = 0;
    for (const LevelFlow& flow : level_flows(topology_, group, schedule)) {
        const std::uint32_t its_level = level++;
        if (flow.work <= 0) continue;
        flows.push_back({.channel = its_level,
                         .delay = flow.delay,
                         .work = flow.work,
                         .rate_limit = flow.rate_limit,
                         .share = flow.share,
                         .uses = map_.uses(flow.uses, copies_),
                         .tail = flow.tail,
                         .pace = {.alone = flow.alone, .working = flow.copying, .tail = flow.tail}});
    }
}

void Lowering::exchange_chunks(const Group& group, const Schedule& schedule) {
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    double cells = 0;
    const auto chunk =
        static_cast<double>(std::min(schedule.exchange->inside.chunk, schedule.exchange->between.chunk).count);
    each_message(*schedule.exchange, ranks, [&](const Message& message) { cells += 2 + message.bytes / chunk; });
    refuse_too_many(cells, schedule);
    std::vector<MessageOnLinks> messages;
    std::map<ResourceId, double> posts;  // of each proxy: the first message of each peer
    each_message(*schedule.exchange, ranks, [&](const Message& message) {
        if (message.from == message.to || message.bytes <= 0) return;
        messages.push_back(place(topology_, group, schedule, message));
        if (messages.back().leaves_domain) posts[messages.back().proxy] += messages.back().message_seconds;
    });
    if (schedule.exchange->kept > 0)
        for (const GpuPlace place : group.places)
            message_chunks(schedule, kept_at(topology_, place, *schedule.exchange), {});
    for (const MessageOnLinks& message : messages)
        message_chunks(schedule, message, message.leaves_domain ? from_seconds(posts.at(message.proxy)) : SimTime{});
}

// Each part goes chunk by chunk: the copy into the sender's buffer, then the flight; within a domain the copy alone.
void Lowering::message_chunks(const Schedule& schedule, const MessageOnLinks& message, SimTime first_posts) {
    std::vector<Use> links, copier{{message.copier, message.copier_seconds}};
    for (const auto& [link, share] : message.route) links.push_back({ResourceId{link.value}, share});
    const auto parts = static_cast<std::uint32_t>(message.parts);
    const auto pieces = static_cast<std::uint32_t>(message.messages / message.parts);
    const double piece = message.bytes / message.messages;
    if (message.leaves_domain)
        links.push_back({message.proxy, message.message_seconds / piece});
    else
        links.push_back(copier.front());
    const std::uint32_t stage = 2 * message.level;
    for (std::uint32_t part = 0; part < parts; ++part) {
        std::vector<ActivityId> copies, flights;
        for (std::uint32_t i = 0; i < pieces; ++i) {
            const ActivityId copy = add({.delay = i == 0 ? SimTime{} : message.unit_cost,
                                         .work = piece,
                                         .rate_limit = message.copy_limit,
                                         .uses = message.leaves_domain ? copier : links},
                                        message.level, stage);
            builder_.order(i == 0 ? span_.launch : copies.back(), copy);
            copies.push_back(copy);
            if (!message.leaves_domain) continue;
            if (i >= schedule.chunks_in_flight)
                builder_.order(flights[i - schedule.chunks_in_flight], copy, message.credit_latency);
            const ActivityId flight = add({.delay = i == 0 ? first_posts : SimTime{}, .work = piece, .uses = links},
                                          message.level, stage + 1);
            builder_.order(copy, flight);
            if (i > 0) builder_.order(flights.back(), flight);
            flights.push_back(flight);
        }
        ends_.push_back({message.leaves_domain ? flights.back() : copies.back(),
                         message.latency + from_seconds(message.last_copy_seconds)});
    }
}

void Lowering::refuse_too_many(double cells, const Schedule& schedule) const {
    if (cells > kMostActivities)
        throw LimitReached(
            fmt::format("chunk fidelity would need {:.2g} transfers for {}; the most is {:.0g}. Use "
                        "stream fidelity, or fewer ranks",
                        cells, to_text(schedule.size), kMostActivities));
}

Lowered Lowering::finish() && {
    lowered_.system = std::move(builder_).build();
    lowered_.stands_for = std::move(map_.stands_for);
    return std::move(lowered_);
}

}  // namespace

namespace {

Lowered lower_joined(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes,
                     Fidelity fidelity) {
    Lowering lowering(topology, steps, classes, fidelity, overlap_of(steps));
    for (const Step& step : steps) lowering.add_step(step);
    return std::move(lowering).finish();
}

}  // namespace

Lowered lower(const Topology& topology, std::span<const Step> steps, Fidelity fidelity) {
    return lower_joined(topology, steps, nullptr, fidelity);
}

Lowered lower_folded(const Topology& topology, std::span<const Step> steps, const LinkClasses& classes,
                     Fidelity fidelity) {
    return lower_joined(topology, steps, &classes, fidelity);
}

Lowered lower_apart(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes,
                    Overlap overlap) {
    Lowering lowering(topology, steps, classes, Fidelity::stream, overlap);
    lowering.keep_apart();
    for (const Step& step : steps) lowering.add_step(step);
    return std::move(lowering).finish();
}

std::string resource_name(const Topology& topology, ResourceId resource) {
    const auto links = static_cast<std::uint32_t>(topology.links.size());
    if (resource.value < links) return topology.name(LinkId{resource.value});
    const std::uint32_t part = resource.value - links;
    return fmt::format("{} {}", topology.name(DeviceId{part / kGpuParts}), resource_kind(topology, resource));
}

std::string_view resource_kind(const Topology& topology, ResourceId resource) {
    const auto links = static_cast<std::uint32_t>(topology.links.size());
    if (resource.value < links) return kind_name(topology, topology.links[LinkId{resource.value}].kind);
    const auto part = static_cast<GpuPart>((resource.value - links) % kGpuParts);
    return part == GpuPart::proxy ? "proxy" : "channels";
}

}  // namespace fmsim
