// A search for rings through GPUs that NVLinks join directly, as NCCL's: at each speed as many paths through all GPUs
// as the links carry, each path taking its speed from every link it uses.
//
//   0 == 1      0-1 and 2-3 have two links, 0-2 and 1-3 one, of 20 GB/s: at 20 GB/s one ring 0 1 3 2 and its mirror
//   |    |      0 2 3 1; the second link of the pairs stays free, since every ring needs both kinds.
//   2 == 3
//
//   alone     closed rings
//   several   paths from a GPU beside a NIC to one beside the same; where there are not enough of those, to one beside
//             the next NIC, with the mirror image as the second of a pair; or to any, which sends to the NIC over
//             NVLink. Of these three what carries most.
//
// GPUs and NICs are tried by number, so the same graph has the same rings; steps are bounded as NCCL's are, so that
// what is found on a large mesh is good and not always best.
#include <algorithm>
#include <cmath>
#include <map>

#include "graph_build.hpp"
#include "nccl_speeds.hpp"

namespace fmsim {
namespace {

constexpr double kHair = 1e-9;
enum class Ends : std::uint8_t { closed, same_nic, next_nic, any_gpu };

class MeshSearch {
public:
    MeshSearch(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain, const Gpu& gpu);
    std::vector<RingPath> at(double gbps, Ends ends);
    std::vector<RingPath> one_by_number() const;

private:
    struct Hop {
        std::uint32_t to{};
        Route route;
    };
    void add_hops(std::uint32_t from);
    void add_nic(DeviceId nic);
    bool take(const Route& route, double gbps);
    void give(const Route& route, double gbps);
    const Hop* hop(std::uint32_t from, std::uint32_t to) const;
    void next_path();
    void begin(std::uint32_t first, std::uint32_t enter, std::uint32_t leave);
    void extend(std::uint32_t enter, std::uint32_t leave);
    void close(std::uint32_t enter, std::uint32_t leave);
    void add_mirror(std::uint32_t enter, std::uint32_t leave);
    bool done() const { return steps_ >= kMostSearchSteps || best_.size() >= enough_; }
    bool is_beside(std::uint32_t nic, std::uint32_t gpu) const {
        return std::find(beside_[nic].begin(), beside_[nic].end(), gpu) != beside_[nic].end();
    }

    const Topology& topology_;
    const GraphRoutes& routes_;
    const GraphRoutes::Domain& domain_;
    const Gpu& gpu_;
    std::vector<std::vector<Hop>> hops_;                // of each GPU
    std::vector<std::vector<std::uint32_t>> beside_;    // of each NIC: GPUs
    std::vector<double> nic_gbps_, nic_in_, nic_out_;   // what a NIC has, and what is left
    std::map<std::uint32_t, double> link_gbps_, left_;  // of each NVLink
    double speed_ = 0;
    Ends ends_{};
    std::size_t enough_ = 0;
    std::uint32_t steps_ = 0;
    std::vector<std::uint32_t> path_;
    std::vector<std::uint8_t> on_path_;
    std::vector<RingPath> found_, best_;
};

MeshSearch::MeshSearch(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain,
                       const Gpu& gpu)
    : topology_(topology), routes_(routes), domain_(domain), gpu_(gpu), hops_(domain.gpus.size()) {
    for (std::uint32_t g = 0; g < domain.gpus.size(); ++g) add_hops(g);
    for (const DeviceId nic : domain.nics) add_nic(nic);
}

// To the GPUs that a direct link or switches lead to, in a circle from its own number.
void MeshSearch::add_hops(std::uint32_t from) {
    const auto count = static_cast<std::uint32_t>(domain_.gpus.size());
    std::vector<DeviceId> reached{domain_.gpus[from]};
    for (std::size_t at = 0; at < reached.size(); ++at) {
        if (at > 0 && topology_.devices[reached[at]].kind == DeviceKind::gpu) continue;
        for (const GraphRoutes::Out& out : routes_.nvlinks_of(reached[at]))
            if (std::find(reached.begin(), reached.end(), out.to) == reached.end()) reached.push_back(out.to);
    }
    for (const DeviceId device : reached) {
        if (topology_.devices[device].kind != DeviceKind::gpu || device == domain_.gpus[from]) continue;
        hops_[from].push_back({routes_.place_of(device).gpu, routes_.nvlink_route(domain_.gpus[from], device)});
        for (const auto& [link, share] : hops_[from].back().route) {
            const Link& taken = topology_.links[link];
            const FreeGraph& graph = *topology_.cluster.graph;
            const auto& a = graph.devices[taken.from.value];
            const auto& b = graph.devices[taken.to.value];
            const std::uint32_t kind = a.kind == DeviceKind::nvswitch   ? a.part
                                       : b.kind == DeviceKind::nvswitch ? b.part
                                                                        : 0;
            link_gbps_[link.value] = nvlink_gbps(gpu_, {taken.rate.value / graph.nvlinks[kind].efficiency});
        }
    }
    std::sort(hops_[from].begin(), hops_[from].end(), [&](const Hop& a, const Hop& b) {
        return (a.to + count - from) % count < (b.to + count - from) % count;
    });
}

void MeshSearch::add_nic(DeviceId nic) {
    const Nic& kind = topology_.cluster.graph->nics[topology_.cluster.graph->devices[nic.value].part];
    double gbps = 0;
    for (const GraphRoutes::Out& out : routes_.network_of(nic)) gbps += out.rate / kind.carries.value * kind.rate.value;
    gbps = std::min(gbps, kind.rate.value) * 1e-9;
    beside_.emplace_back();
    for (const DeviceId gpu : routes_.beside(domain_, nic)) {
        beside_.back().push_back(routes_.place_of(gpu).gpu);
        for (const LinkId link : routes_.pcie_way(gpu, nic))
            gbps = std::min(gbps, pcie_gbps(topology_.links[link].rate));
    }
    nic_gbps_.push_back(gbps);
}

bool MeshSearch::take(const Route& route, double gbps) {
    for (const auto& [link, share] : route)
        if (left_.at(link.value) * (1 + kHair) < share * gbps) return false;
    for (const auto& [link, share] : route) left_.at(link.value) -= share * gbps;
    return true;
}

void MeshSearch::give(const Route& route, double gbps) {
    for (const auto& [link, share] : route) left_.at(link.value) += share * gbps;
}

const MeshSearch::Hop* MeshSearch::hop(std::uint32_t from, std::uint32_t to) const {
    for (const Hop& hop : hops_[from])
        if (hop.to == to) return &hop;
    return nullptr;
}

// One more path than there are, from each GPU that it can begin at.
void MeshSearch::next_path() {
    if (found_.size() > best_.size()) best_ = found_;
    if (done()) return;
    if (ends_ == Ends::closed) return begin(0, 0, 0);
    const auto nics = static_cast<std::uint32_t>(beside_.size());
    for (std::uint32_t enter = 0; enter < nics && !done(); ++enter) {
        const std::uint32_t leave = ends_ == Ends::next_nic ? enter ^ 1u : enter;
        if (leave >= nics || (ends_ == Ends::next_nic && enter % 2 != 0)) continue;
        if (nic_in_[enter] * (1 + kHair) < speed_ || nic_out_[leave] * (1 + kHair) < speed_) continue;
        nic_in_[enter] -= speed_;
        nic_out_[leave] -= speed_;
        for (const std::uint32_t first : beside_[enter])
            if (!done()) begin(first, enter, leave);
        nic_in_[enter] += speed_;
        nic_out_[leave] += speed_;
    }
}

void MeshSearch::begin(std::uint32_t first, std::uint32_t enter, std::uint32_t leave) {
    const auto path_before = std::move(path_);
    const auto on_path_before = std::move(on_path_);
    path_ = {first};
    on_path_.assign(domain_.gpus.size(), 0);
    on_path_[first] = 1;
    extend(enter, leave);
    path_ = path_before;
    on_path_ = on_path_before;
}

void MeshSearch::extend(std::uint32_t enter, std::uint32_t leave) {
    if (done()) return;
    ++steps_;
    if (path_.size() == domain_.gpus.size()) return close(enter, leave);
    for (const Hop& hop : hops_[path_.back()]) {
        if (on_path_[hop.to] || !take(hop.route, speed_)) continue;
        path_.push_back(hop.to);
        on_path_[hop.to] = 1;
        extend(enter, leave);
        on_path_[hop.to] = 0;
        path_.pop_back();
        give(hop.route, speed_);
        if (done()) return;
    }
}

// The last GPU: back to the first, to its NIC, or over NVLink to one beside the NIC.
void MeshSearch::close(std::uint32_t enter, std::uint32_t leave) {
    const std::uint32_t last = path_.back();
    const Hop* over = nullptr;
    if (ends_ == Ends::closed) {
        over = hop(last, path_.front());
        if (over == nullptr) return;
    } else if (!is_beside(leave, last)) {
        if (ends_ != Ends::any_gpu) return;
        over = hop(last, beside_[leave].front());
        if (over == nullptr) return;
    }
    if (over != nullptr && !take(over->route, speed_)) return;
    found_.push_back({.gpus = path_, .enter_group = enter, .leave_group = leave});
    if (ends_ == Ends::next_nic)
        add_mirror(enter, leave);
    else
        next_path();
    found_.pop_back();
    if (over != nullptr) give(over->route, speed_);
}

void MeshSearch::add_mirror(std::uint32_t enter, std::uint32_t leave) {
    const std::vector<std::uint32_t> back(path_.rbegin(), path_.rend());
    std::size_t taken = 0;
    while (taken + 1 < back.size()) {
        const Hop* over = hop(back[taken], back[taken + 1]);
        if (over == nullptr || !take(over->route, speed_)) break;
        ++taken;
    }
    const bool whole =
        taken + 1 == back.size() && nic_in_[leave] * (1 + kHair) >= speed_ && nic_out_[enter] * (1 + kHair) >= speed_;
    if (whole) {
        nic_in_[leave] -= speed_;
        nic_out_[enter] -= speed_;
        found_.push_back({.gpus = back, .enter_group = leave, .leave_group = enter});
        next_path();
        found_.pop_back();
        nic_in_[leave] += speed_;
        nic_out_[enter] += speed_;
    }
    while (taken > 0) {
        --taken;
        give(hop(back[taken], back[taken + 1])->route, speed_);
    }
}

std::vector<RingPath> MeshSearch::at(double gbps, Ends ends) {
    left_ = link_gbps_;
    nic_in_ = nic_out_ = nic_gbps_;
    speed_ = gbps;
    ends_ = ends;
    steps_ = 0;
    found_.clear();
    best_.clear();
    enough_ = kMostRingPaths;
    if (ends != Ends::closed) {
        double sum = 0;
        for (const double nic : nic_gbps_) sum += std::floor(nic / gbps * (1 + kHair));
        enough_ = std::min(enough_, static_cast<std::size_t>(sum));
    }
    std::vector<double> out(domain_.gpus.size());
    for (std::uint32_t g = 0; g < hops_.size(); ++g)
        for (const GraphRoutes::Out& link : routes_.nvlinks_of(domain_.gpus[g])) {
            const auto known = link_gbps_.find(link.link.value);
            if (known != link_gbps_.end()) out[g] += known->second;
        }
    if (ends == Ends::closed)  // a ring leaves every GPU
        enough_ =
            std::min(enough_, static_cast<std::size_t>(*std::min_element(out.begin(), out.end()) / gbps * (1 + kHair)));
    next_path();
    return best_;
}

// Where no path visits all GPUs without passing one twice: transfers between neighbours go through others.
std::vector<RingPath> MeshSearch::one_by_number() const {
    RingPath path{.gpus = {}, .enter_group = 0, .leave_group = 0};
    const std::uint32_t first = beside_.empty() || beside_[0].empty() ? 0 : beside_[0].front();
    const auto count = static_cast<std::uint32_t>(domain_.gpus.size());
    for (std::uint32_t g = 0; g < count; ++g) path.gpus.push_back((first + g) % count);
    return {path};
}

}  // namespace

RingSearch mesh_rings(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain,
                      const Gpu& gpu, bool alone) {
    MeshSearch search(topology, routes, domain, gpu);
    const auto tried = speeds(gpu, alone ? Reach::domain : Reach::network);
    RingSearch best;
    for (const double gbps : tried) {
        if (!best.paths.empty() && gbps * 1e9 < kSlowestTried * best.inter.value) break;
        for (const Ends ends : {Ends::closed, Ends::same_nic, Ends::next_nic, Ends::any_gpu}) {
            if ((ends == Ends::closed) != alone) continue;
            auto paths = search.at(gbps, ends);
            const double now = static_cast<double>(paths.size()) * gbps;
            const double before = static_cast<double>(best.paths.size()) * best.inter.value * 1e-9;
            if (now > before * (1 + kHair))
                best = {.paths = std::move(paths),
                        .crosses_nics = ends == Ends::next_nic,
                        .intra = {gbps * 1e9},
                        .inter = {gbps * 1e9}};
        }
    }
    if (best.paths.empty())
        best = {.paths = search.one_by_number(),
                .crosses_nics = false,
                .intra = {tried.back() * 1e9},
                .inter = {tried.back() * 1e9}};
    return doubled(std::move(best), gpu);
}

}  // namespace fmsim
