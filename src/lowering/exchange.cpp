// An exchange in `stream`: the messages of a level flow together, each link with its part of the bytes, as fast as the
// busiest of links, proxies and copiers lets them. Beside others it has a part of a link for each message at a time.
//
//   delay = the copies of the first chunks, which no flight overlaps, since a rank's kernel works on all its messages
//   at
//           once + the proxy's work on the first message of each peer, since its NICs run short of messages until then
//   tail  = the flight of the last byte + the copy of the last chunk out of the receiver's buffer
//
// By hand: 2 domains of 8 GPUs with 50 GB/s of NIC each, 8 GiB a rank: each rank sends 8/16 of it to the other domain,
// 4 GiB / 50 GB/s = 86 ms, and 7/16 over NVLink, which is over long before.
#include "exchange.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gpu_parts.hpp"
#include "hop_costs.hpp"
#include "resource_sums.hpp"

namespace fmsim {
namespace {

// The GPU by whose NIC a message leaves: by PXN the neighbour of the receiver's number, where there is one.
std::uint32_t exit_gpu(const Topology& topology, const Exchange& exchange, GpuPlace from, GpuPlace to) {
    const DomainType& type = topology.type_of(from.domain);
    if (!exchange.pxn || !type.instance.nvlink || type.gpus() == 1) return from.gpu;
    return to.gpu % type.gpus();
}

std::uint32_t level_of(const Topology& topology, GpuPlace from, GpuPlace to) {
    if (from.domain == to.domain) return 0;
    if (!network_counts(topology)) return 2;  // as far as any other
    return topology.leaf_of(topology.instance_of(from)) == topology.leaf_of(topology.instance_of(to)) ? 1 : 2;
}

// Sums of one level.
struct Level {
    ResourceSums bytes;         // on links
    ResourceSums parts;         // transfers at once on links
    ResourceSums seconds;       // of proxies and copiers
    double slowest{};           // seconds that the longest message needs by its own channels,
    double copying{};           // and of them those for its bytes
    ResourceSums first_copies;  // seconds of copiers
    double first_copy{};        // of one message by its own channel
    ResourceSums first_posts;   // seconds of proxies
    double last_copy{};         // of the receiver, out of its buffer
    SimTime latency;

    // So many like it, of which each link has its part of all.
    void add(const MessageOnLinks& message, double times) {
        add_bytes(message, times);
        if (message.leaves_domain) {
            seconds.add(message.proxy, times * message.messages * message.message_seconds);
            first_posts.add(message.proxy, times * message.message_seconds);
        }
        seconds.add(message.copier, times * message.bytes * message.copier_seconds);
        // The last chunk's signal holds up no other: it is part of the hop's latency.
        const double signals = message.messages / message.parts - 1;
        const double copies = message.bytes / (message.parts * message.copy_limit);
        take_slower(copies + signals * fmsim::seconds(message.unit_cost), copies);
        last_copy = std::max(last_copy, message.last_copy_seconds);
        if (message.leaves_domain) {
            const double piece = message.bytes / message.messages;
            first_copies.add(message.copier, times * message.parts * piece * message.copier_seconds);
            first_copy = std::max(first_copy, piece / message.copy_limit);
        }
        latency = std::max(latency, message.latency);
    }
    void add_bytes(const MessageOnLinks& message, double times) {
        for (const auto& [link, share] : message.route) {
            bytes.add({link.value}, times * share * message.bytes);
            parts.add({link.value}, times * share * message.parts);
        }
    }
    void take_slower(double other, double its_copying) {
        if (other <= slowest) return;
        slowest = other;
        copying = its_copying;
    }
    // Of what is not summed.
    void take_most(const Level& other) {
        take_slower(other.slowest, other.copying);
        first_copy = std::max(first_copy, other.first_copy);
        last_copy = std::max(last_copy, other.last_copy);
        latency = std::max(latency, other.latency);
    }
    LevelFlow flow() const {
        LevelFlow flow;
        flow.work = bytes.largest();
        if (flow.work <= 0) return flow;
        for (const auto* uses : {&bytes, &seconds})
            for (const auto& [resource, there] : uses->in_order())
                if (there > 0) flow.uses.push_back({resource, there / flow.work});
        flow.rate_limit = flow.work / slowest;
        flow.alone = from_seconds(slowest);
        flow.copying = from_seconds(copying);
        if (const double together = parts.largest(); together > 0) flow.share = together;
        const double first = std::max(first_copy, first_copies.largest());
        flow.tail = latency + from_seconds(last_copy);
        flow.delay = latency + from_seconds(first + first_posts.largest() + last_copy) - flow.tail;
        return flow;
    }
};

}  // namespace

MessageOnLinks place(const Topology& topology, const Group& group, const Schedule& schedule, const Message& message) {
    const Exchange& exchange = *schedule.exchange;
    const GpuPlace from = group.places[message.from], to = group.places[message.to];
    const DomainType& sends = topology.type_of(from.domain);
    const DomainType& receives = topology.type_of(to.domain);
    MessageOnLinks placed{.level = level_of(topology, from, to), .leaves_domain = from.domain != to.domain};
    const TransferShape& shape = placed.leaves_domain ? exchange.between : exchange.inside;
    placed.bytes = message.bytes * shape.wire_per_data;
    placed.parts = shape.parts;
    const Gpu& gpu = sends.instance.gpu;
    // A lone message has a block's threads to itself, and its receiver copies out as fast as it comes.
    const bool lone = exchange.each <= 0 && exchange.messages.size() == 1;
    placed.copy_limit = gpu.channel_rate[shape.protocol].value * shape.wire_per_data;
    if (!lone) placed.copy_limit *= gpu.transfer_share[shape.protocol];
    if (!lone) placed.unit_cost = gpu.unit_cost[shape.protocol];
    placed.copier_seconds = 1 / (placed.copy_limit * exchange.channels);
    placed.copier = resource_of(topology, from, GpuPart::copier);
    const auto chunk = static_cast<double>(shape.chunk.count);
    if (shape.protocol == Protocol::simple && !lone)  // LL's lines are copied out as they come
        placed.last_copy_seconds = gpu.receive_share * std::min(chunk, message.bytes / shape.parts) / placed.copy_limit;
    placed.messages = shape.parts * std::max(1.0, std::ceil(message.bytes / shape.parts / chunk - 1e-9));
    if (placed.leaves_domain) {
        const std::uint32_t exit = exit_gpu(topology, exchange, from, to);
        const std::uint64_t flow = std::uint64_t{message.from} * group.places.size() + message.to;
        placed.route = topology.network_route(from, sends.nic_group_of(exit), receives.nic_group_of(to.gpu), to, flow);
        placed.proxy = resource_of(topology, {from.domain, exit}, GpuPart::proxy);
        placed.latency = network_latency(sends.instance, receives.instance, shape.protocol);
        placed.credit_latency = network_credit(sends.instance, receives.instance);
        placed.message_seconds =
            seconds(sends.instance.nic->message_cost) * writes_of(sends.instance, placed.bytes / placed.messages);
    } else {
        placed.route = topology.nvlink_route(from, to);
        placed.latency = sends.instance.nvlink->hop_latency[shape.protocol];
        placed.credit_latency = sends.instance.nvlink->wire_latency;
    }
    refuse_down(topology, placed.route);
    return placed;
}

namespace {

// What a rank sends to itself: its SMs copy it.
void add_kept(const Topology& topology, const Group& group, const Exchange& exchange, Level& level) {
    if (exchange.kept <= 0) return;
    for (const GpuPlace place : group.places) {
        const Gpu& gpu = topology.type_of(place.domain).instance.gpu;
        const double rate = gpu.channel_rate[Protocol::simple].value * gpu.transfer_share[Protocol::simple];
        level.seconds.add(resource_of(topology, place, GpuPart::copier), exchange.kept / (rate * exchange.channels));
    }
}

using Levels = std::vector<Level>;

std::vector<LevelFlow> flows_of(const Topology& topology, const Group& group, const Exchange& exchange, Levels levels) {
    add_kept(topology, group, exchange, levels.front());
    std::vector<LevelFlow> flows;
    for (const Level& level : levels) flows.push_back(level.flow());
    return flows;
}

// Parts that do the same in an exchange of equal messages: the same GPUs of domains of one type, none of them broken.
struct PartKind {
    std::vector<std::uint32_t> parts;
};
std::vector<PartKind> kinds_of(const Topology& topology, const Group& group) {
    std::set<std::uint32_t> broken;  // domains
    for (const Fault& fault : topology.cluster.faults)
        if (fault.kind != DeviceKind::network_switch && fault.kind != DeviceKind::fabric)
            broken.insert(topology.instances[InstanceId{fault.instance}].domain.value);
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    std::vector<PartKind> kinds;
    for (std::uint32_t p = 0; p < group.parts.size(); ++p) {
        const Group::Part& part = group.parts[p];
        std::vector<std::uint32_t> key{topology.instances[topology.first_instance[part.domain]].block};
        for (const std::uint32_t position : part.positions) key.push_back(group.places[position].gpu);
        if (broken.contains(part.domain.value)) key.insert(key.begin(), {0xffffffff, part.domain.value});
        const auto [at, fresh] = known.try_emplace(std::move(key), kinds.size());
        if (fresh) kinds.emplace_back();
        kinds[at->second].parts.push_back(p);
    }
    return kinds;
}

// The messages of two parts, with what each of the two has of them, on ids that count from its domain's first.
class EqualMessages {
public:
    EqualMessages(const Topology& topology, const Group& group, const Schedule& schedule)
        : topology_(topology), group_(group), schedule_(schedule), kinds_(kinds_of(topology, group)) {
        of_kind_.assign(kinds_.size(), Levels(kLevels));
    }

    Levels levels() {
        for (std::size_t from = 0; from < kinds_.size(); ++from) {
            add_pair(from, kinds_[from].parts[0], from, kinds_[from].parts[0]);
            for (std::size_t to = 0; to < kinds_.size(); ++to) {
                if (from == to && kinds_[to].parts.size() < 2) continue;
                add_pair(from, kinds_[from].parts[0], to, kinds_[to].parts[from == to ? 1 : 0]);
            }
        }
        Levels all(kLevels);
        for (std::size_t k = 0; k < kinds_.size(); ++k)
            for (std::uint32_t level = 0; level < kLevels; ++level) {
                for (const std::uint32_t part : kinds_[k].parts) spread(of_kind_[k][level], part, all[level]);
                all[level].take_most(of_kind_[k][level]);
            }
        return all;
    }

private:
    // `other`: a part of its own kind, or the same part: the messages inside it.
    void add_pair(std::size_t from_kind, std::uint32_t from, std::size_t to_kind, std::uint32_t to) {
        const bool inside = from == to;
        const auto others = [&](std::size_t kind) {
            return inside ? 1 : static_cast<double>(kinds_[kind].parts.size()) - (from_kind == to_kind ? 1 : 0);
        };
        for (const std::uint32_t sender : group_.parts[from].positions)
            for (const std::uint32_t receiver : group_.parts[to].positions) {
                if (sender == receiver) continue;
                const MessageOnLinks message =
                    place(topology_, group_, schedule_, {sender, receiver, schedule_.exchange->each});
                MessageOnLinks sent = message, received = message;
                sent.route.clear();
                received.route.clear();
                for (const auto& [link, share] : message.route)
                    (belongs(link, from) ? sent : received).route.push_back({link, share});
                of_kind_[from_kind][message.level].add(relative(sent, from), others(to_kind));
                if (inside) continue;
                of_kind_[to_kind][message.level].add_bytes(relative(received, to), others(from_kind));
            }
    }
    std::uint32_t first_link(std::uint32_t part) const {
        return topology_.instances[topology_.first_instance[group_.parts[part].domain]].link;
    }
    std::uint32_t first_part(std::uint32_t part) const {
        return resource_of(topology_, {group_.parts[part].domain, 0}, GpuPart::proxy).value;
    }
    bool belongs(LinkId link, std::uint32_t part) const {
        const std::uint32_t domain = group_.parts[part].domain.value;
        return link.value >= first_link(part) &&
               (domain + 1 >= topology_.domains() ||
                link.value < topology_.instances[topology_.first_instance[DomainId{domain + 1}]].link);
    }
    MessageOnLinks relative(MessageOnLinks message, std::uint32_t part) const {
        for (auto& [link, share] : message.route) link.value -= first_link(part);
        message.proxy.value -= first_part(part);
        message.copier.value -= first_part(part);
        return message;
    }
    void spread(const Level& level, std::uint32_t part, Level& all) const {
        for (const auto& [resource, there] : level.bytes.in_order())
            all.bytes.add({resource.value + first_link(part)}, there);
        for (const auto& [resource, there] : level.parts.in_order())
            all.parts.add({resource.value + first_link(part)}, there);
        const std::uint32_t first = first_part(part);
        for (const auto& [resource, there] : level.seconds.in_order()) all.seconds.add({resource.value + first}, there);
        for (const auto& [resource, there] : level.first_copies.in_order())
            all.first_copies.add({resource.value + first}, there);
        for (const auto& [resource, there] : level.first_posts.in_order())
            all.first_posts.add({resource.value + first}, there);
    }

    const Topology& topology_;
    const Group& group_;
    const Schedule& schedule_;
    const std::vector<PartKind> kinds_;
    std::vector<Levels> of_kind_;  // what a part of the kind has, counted from its domain's first link and GPU
};

}  // namespace

std::vector<LevelFlow> level_flows_by_message(const Topology& topology, const Group& group, const Schedule& schedule) {
    Levels levels(kLevels);
    const Exchange& exchange = *schedule.exchange;
    each_message(exchange, static_cast<std::uint32_t>(group.places.size()), [&](const Message& message) {
        if (message.from == message.to || message.bytes <= 0) return;
        const MessageOnLinks placed = place(topology, group, schedule, message);
        levels[placed.level].add(placed, 1);
    });
    return flows_of(topology, group, exchange, std::move(levels));
}

// Equal messages between domains that only a fabric joins are told apart by the kinds of their two ends: a domain's
// links carry as many times one pair's as there are others of the kind.
std::vector<LevelFlow> level_flows(const Topology& topology, const Group& group, const Schedule& schedule) {
    const Exchange& exchange = *schedule.exchange;
    const bool by_kinds = exchange.each > 0 && exchange.messages.empty() && !topology.cluster.graph &&
                          topology.cluster.network.layers.empty();
    if (!by_kinds) return level_flows_by_message(topology, group, schedule);
    return flows_of(topology, group, exchange, EqualMessages(topology, group, schedule).levels());
}

}  // namespace fmsim
