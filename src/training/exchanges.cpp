// The time of a collective on one group while all its sister groups do the same.
//
// A family covers the job in blocks of size x stride ranks, and blocks on different domains share no NIC. So one block
// is enough: it is simulated on whole domains, as many as it takes. A block of many domains whose groups have their
// ranks `stride` apart by whole domains has the same load on each NIC as one with the domains between left out. A fault
// anywhere is taken into that block, since the block that has it ends last. Left
// out: what oversubscribed layers above the NICs would add, since the domains taken are neighbours. A group on more
// domains than `kMostDomains` is simulated on so many, and what grows with the group is carried on: the part of the
// bytes that leave, and the latency of a hop.
//
// Cost: a run of predict for each family, collective and size, once.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "fmsim/predict.hpp"
#include "fmsim/training.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {
namespace {

constexpr std::uint32_t kMostDomains = 64;
constexpr double kSmall = 65536;  // bytes a rank, where latency is all

}  // namespace

struct Exchanges::State {
    Cluster cluster;
    std::uint32_t per_domain{};
    Nccl nccl;
    Pins pins;
    std::map<std::uint32_t, Topology> topologies;  // by domains
    std::map<std::tuple<Family, Collective, std::int64_t>, double> known;

    const Topology& topology(std::uint32_t domains) {
        const auto found = topologies.find(domains);
        if (found != topologies.end()) return found->second;
        Cluster part = cluster;
        std::uint32_t left = domains;
        for (DomainBlock& block : part.blocks) {
            block.count = std::min(block.count, left);
            left -= block.count;
        }
        std::erase_if(part.blocks, [](const DomainBlock& block) { return block.count == 0; });
        part.instance_names.clear();
        take_faults(part);
        return topologies.emplace(domains, build_topology(part)).first->second;
    }
    // The faults of instances beyond the part are those of as many domains before.
    static void take_faults(Cluster& part) {
        std::uint32_t instances = 0;
        for (const DomainBlock& block : part.blocks) instances += block.count * block.type.instances;
        for (Fault& fault : part.faults)
            if (fault.kind != DeviceKind::network_switch && fault.kind != DeviceKind::fabric)
                fault.instance %= instances;
    }
    // Of the family's block on the cluster's first domains.
    double simulated(Family family, Collective collective, std::int64_t bytes) {
        const std::uint32_t block = family.size * family.stride;
        const std::uint32_t ranks = std::lcm(block, per_domain);
        // A block of several domains, or a domain of several blocks.
        const std::uint32_t used =
            ranks == block || ranks == per_domain ? ranks : (block + per_domain - 1) / per_domain * per_domain;
        const std::uint32_t whole = used / block * block;
        const Topology& net = topology((used + per_domain - 1) / per_domain);
        Workload work;
        Job job;
        job.groups.push_back({.name = "all", .members = {}, .size = 0, .stride = 1, .place = ""});
        job.groups.push_back(
            {.name = "family", .members = {}, .size = family.size, .stride = family.stride, .place = ""});
        CollectiveCall call{.collective = collective, .size = Bytes{bytes}, .group = 1};
        job.programs.push_back(
            {.role = "",
             .ranks = {},
             .operations = {{.name = "call", .stream = "", .after = {}, .start = {}, .action = call, .place = ""}},
             .place = ""});
        work.jobs.push_back(std::move(job));
        const Placement placement = linear_placement(net, whole, per_domain);
        const Prediction made =
            predict(net, std::vector<Placement>{placement}, work, nccl, {.fidelity = Fidelity::stream, .pins = pins});
        return fmsim::seconds(made.end);
    }
};

Exchanges::Exchanges(Cluster cluster, std::uint32_t per_domain, Nccl nccl, Pins pins)
    : state_(std::make_unique<State>()) {
    state_->per_domain = per_domain > 0 ? per_domain : cluster.blocks.front().type.gpus();
    state_->cluster = std::move(cluster);
    state_->nccl = std::move(nccl);
    state_->pins = std::move(pins);
}
Exchanges::~Exchanges() = default;
Exchanges::Exchanges(Exchanges&&) noexcept = default;

std::uint32_t Exchanges::domain_gpus() const { return state_->per_domain; }
const Cluster& Exchanges::cluster() const { return state_->cluster; }

std::uint32_t Exchanges::domains_of(const Family& family) const {
    const std::uint32_t per = state_->per_domain;
    if (family.stride >= per) return family.size;
    return std::max(1U, (family.size * family.stride + per - 1) / per);
}

double Exchanges::seconds(const Family& family, Collective collective, double bytes) {
    if (family.size <= 1 || bytes <= 0) return 0;
    // Two leading digits and a bit: sizes that differ by less than a part in a thousand are one.
    std::int64_t size = std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
    const std::int64_t grain = std::max<std::int64_t>(size / 1024, 1);
    size = size / grain * grain;
    const auto key = std::make_tuple(family, collective, size);
    const auto found = state_->known.find(key);
    if (found != state_->known.end()) return found->second;
    Family near = family;
    const std::uint32_t per = state_->per_domain;
    if (near.stride > per) near.stride = per;  // one rank a domain: domains between carry others' bytes
    double time = 0;
    const std::uint32_t domains = domains_of(near);
    if (domains <= kMostDomains) {
        time = state_->simulated(near, collective, size);
    } else {
        Family few = near;
        few.size = near.stride >= per ? kMostDomains : kMostDomains * per / near.stride;
        Family half = few;
        half.size /= 2;
        const auto small = static_cast<std::int64_t>(kSmall);
        const double hop = (state_->simulated(few, collective, small) - state_->simulated(half, collective, small)) /
                           (few.size - half.size);
        const auto share = [](double n) { return (n - 1) / n; };
        const double part = collective == Collective::all_to_all ? 1 : share(near.size) / share(few.size);
        time = state_->simulated(few, collective, size) * part +
               std::max(hop, 0.0) * static_cast<double>(near.size - few.size);
    }
    state_->known[key] = time;
    return time;
}

double Exchanges::message_seconds(std::uint32_t stride, double bytes) {
    // Each rank to the next of a pair; on different domains when the stride is a domain or more.
    return seconds({.size = 2, .stride = stride}, Collective::send_recv, bytes);
}

}  // namespace fmsim
