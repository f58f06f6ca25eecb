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
    std::optional<CostFactors> costs;                                       // none: the cluster's own
    std::map<std::tuple<Family, Collective, std::int64_t>, RunSteps> made;  // of runs at the cluster's own

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
    double simulated(Family family, Collective collective, std::int64_t bytes) {
        if (!costs) return fmsim::seconds(run(family, collective, bytes).prediction.end);
        const auto key = std::make_tuple(family, collective, bytes);
        auto found = made.find(key);
        if (found == made.end()) {
            Scenario base = run(family, collective, bytes);
            found = made.emplace(key, std::move(base.prediction.made)).first;
        }
        return fmsim::seconds(again(topology(layout_of(family).domains), found->second, *costs).timeline.end);
    }
    struct Layout {
        std::uint32_t domains{};
        std::uint32_t ranks{};
    };
    Layout layout_of(const Family& family) const {
        const std::uint32_t block = family.size * family.stride;
        const std::uint32_t ranks = std::lcm(block, per_domain);
        // A block of several domains, or a domain of several blocks.
        const std::uint32_t used =
            ranks == block || ranks == per_domain ? ranks : (block + per_domain - 1) / per_domain * per_domain;
        return {(used + per_domain - 1) / per_domain, used / block * block};
    }
    // Of the family's block on the cluster's first domains.
    Scenario run(Family family, Collective collective, std::int64_t bytes) {
        const Layout layout = layout_of(family);
        const Topology& net = topology(layout.domains);
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
        const Placement placement = linear_placement(net, layout.ranks, per_domain);
        return {&net, predict(net, std::vector<Placement>{placement}, work, nccl,
                              {.fidelity = Fidelity::stream, .pins = pins})};
    }
    // One rank a domain where ranks are further apart: domains between carry others' bytes.
    Family near(Family family) const {
        family.stride = std::min(family.stride, per_domain);
        return family;
    }
    // As many ranks of a near family as are simulated.
    Family few(Family family) const {
        family.size = family.stride >= per_domain ? kMostDomains : kMostDomains * per_domain / family.stride;
        return family;
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

namespace {

// Two leading digits and a bit: sizes that differ by less than a part in a thousand are one.
std::int64_t rounded(double bytes) {
    const std::int64_t size = std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
    const std::int64_t grain = std::max<std::int64_t>(size / 1024, 1);
    return size / grain * grain;
}

}  // namespace

void Exchanges::set_costs(const CostFactors& factors) {
    state_->costs = factors;
    state_->known.clear();
}

Exchanges::Scenario Exchanges::scenario(const Family& family, Collective collective, double bytes) {
    const Family near = state_->near(family);
    return state_->run(domains_of(near) <= kMostDomains ? near : state_->few(near), collective, rounded(bytes));
}

double Exchanges::seconds(const Family& family, Collective collective, double bytes) {
    if (family.size <= 1 || bytes <= 0) return 0;
    const std::int64_t size = rounded(bytes);
    const auto key = std::make_tuple(family, collective, size);
    const auto found = state_->known.find(key);
    if (found != state_->known.end()) return found->second;
    const Family near = state_->near(family);
    double time = 0;
    const std::uint32_t domains = domains_of(near);
    if (domains <= kMostDomains) {
        time = state_->simulated(near, collective, size);
    } else {
        const Family few = state_->few(near);
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
