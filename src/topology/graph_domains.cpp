// An NVLink domain of a free graph as a type: what the choice of NCCL, reports and closed forms ask for.
//
// Where parts differ the poorest counts, as NCCL has it: the oldest GPU, the fewest NVLinks, the slowest NIC. A NIC is
// a device to NCCL of its own, and hangs with the GPUs nearest to it.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "graph_build.hpp"

namespace fmsim {
namespace {

class DomainMaker {
public:
    DomainMaker(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain)
        : topology_(topology), graph_(*topology.cluster.graph), routes_(routes), domain_(domain) {}

    DomainType make() {
        InstanceType& type = type_.instance;
        const FreeGraph::Machine& host = graph_.machines[part_of(domain_.gpus[0]).machine];
        type.gpu = oldest();
        type.name = fmt::format("{} x {}", domain_.gpus.size(), type.gpu.name);
        type.gpus = static_cast<std::uint32_t>(domain_.gpus.size());
        type.cpu = host.cpu;
        type.gpudirect = true;
        type.simple_buffer = host.simple_buffer;
        add_nvlink();
        add_nics();
        type_.name = type.name;
        find_rings();
        return std::move(type_);
    }

private:
    const FreeGraph::Device& part_of(DeviceId device) const { return graph_.devices[device.value]; }

    const Gpu& oldest() const {
        const Gpu* oldest = &graph_.gpus[part_of(domain_.gpus[0]).part];
        for (const DeviceId gpu : domain_.gpus) {
            const Gpu& other = graph_.gpus[part_of(gpu).part];
            if (other.compute_capability < oldest->compute_capability) oldest = &other;
        }
        return *oldest;
    }

    void add_nvlink() {
        if (routes_.nvlinks_of(domain_.gpus[0]).empty()) return;
        double least = std::numeric_limits<double>::infinity();
        bool multicast = true, switched = false;
        std::uint32_t kind = 0;
        for (const DeviceId gpu : domain_.gpus) {
            double sum = 0;
            for (const GraphRoutes::Out& out : routes_.nvlinks_of(gpu)) {
                sum += out.rate;
                const bool by_switch = part_of(out.to).kind == DeviceKind::nvswitch;
                if (by_switch && !switched) kind = part_of(out.to).part;
                switched = switched || by_switch;
                direct_ = direct_ || !by_switch;
                multicast = multicast && by_switch && graph_.nvlinks[part_of(out.to).part].multicast;
            }
            least = std::min(least, sum);
        }
        NvLink& nvlink = type_.instance.nvlink.emplace(graph_.nvlinks[direct_ ? 0 : kind]);
        nvlink.rate = {least / nvlink.efficiency};
        nvlink.multicast = multicast;
    }

    void add_nics() {
        InstanceType& type = type_.instance;
        type.nics = static_cast<std::uint32_t>(domain_.nics.size());
        type.rails = type.nics > 0 ? 1 : 0;
        std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> nics_beside;
        std::vector<std::uint8_t> hangs(type.gpus);
        for (std::uint32_t n = 0; n < type.nics; ++n) {
            std::vector<std::uint32_t> gpus;
            for (const DeviceId gpu : routes_.beside(domain_, domain_.nics[n])) {
                gpus.push_back(routes_.place_of(gpu).gpu);
                hangs[gpus.back()] = 1;
                add_rates(gpu, domain_.nics[n]);
            }
            nics_beside[gpus].push_back(n);
            const Nic& nic = graph_.nics[part_of(domain_.nics[n]).part];
            if (!type.nic || nic.carries < type.nic->carries) type.nic = nic;
        }
        for (std::uint32_t g = 0; g < type.gpus; ++g)
            if (!hangs[g]) nics_beside[{g}];
        for (auto& [gpus, nics] : nics_beside) type.switches.push_back({0, gpus, std::move(nics)});
    }

    // Of the first and the last link between a GPU and a NIC beside it.
    void add_rates(DeviceId gpu, DeviceId nic) {
        const auto way = routes_.pcie_way(gpu, nic);
        if (way.empty()) return;
        const auto keep_least = [](BytesPerSecond& kept, BytesPerSecond rate) {
            if (kept.value == 0 || rate < kept) kept = rate;
        };
        keep_least(type_.instance.pcie_gpu, topology_.links[way.front()].rate);
        keep_least(type_.instance.pcie_nic, topology_.links[way.back()].rate);
    }

    // GPUs that hang on switches alone are what the patterns of NCCL's published results are about.
    void find_rings() {
        const bool meshed = direct_ || std::any_of(domain_.gpus.begin(), domain_.gpus.end(),
                                                   [&](DeviceId gpu) { return !routes_.joined(domain_.gpus[0], gpu); });
        for (const bool alone : {true, false}) {
            RingSearch& search = alone ? type_.alone : type_.several;
            search = meshed ? mesh_rings(topology_, routes_, domain_, type_.instance.gpu, alone || domain_.nics.empty())
                            : default_search(type_.instance, 1, alone);
        }
    }

    const Topology& topology_;
    const FreeGraph& graph_;
    const GraphRoutes& routes_;
    const GraphRoutes::Domain& domain_;
    DomainType type_;
    bool direct_ = false;
};

}  // namespace

std::string signature_of(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain) {
    const FreeGraph& graph = *topology.cluster.graph;
    std::map<std::uint32_t, std::size_t> own;  // numbers of GPUs and NVSwitches, as they are first met
    std::vector<DeviceId> met = domain.gpus;
    for (const DeviceId gpu : met) own.emplace(gpu.value, own.size());
    const FreeGraph::Machine& host = graph.machines[graph.devices[domain.gpus[0].value].machine];
    std::string text = fmt::format("{} {};", static_cast<int>(host.cpu), host.simple_buffer.count);
    for (std::size_t at = 0; at < met.size(); ++at) {
        const FreeGraph::Device& device = graph.devices[met[at].value];
        text += fmt::format("{} {}:", static_cast<int>(device.kind), device.part);
        for (const GraphRoutes::Out& out : routes.nvlinks_of(met[at])) {
            const auto [known, is_new] = own.emplace(out.to.value, own.size());
            if (is_new) met.push_back(out.to);
            text += fmt::format("{} {},", known->second, out.rate);
        }
    }
    for (const DeviceId nic : domain.nics) {
        text += fmt::format(";nic {}:", graph.devices[nic.value].part);
        for (const GraphRoutes::Out& out : routes.network_of(nic)) text += fmt::format("{},", out.rate);
        for (const DeviceId gpu : routes.beside(domain, nic)) {
            text += fmt::format("gpu {}:", own.at(gpu.value));
            for (const LinkId link : routes.pcie_way(gpu, nic))
                text += fmt::format("{},", topology.links[link].rate.value);
        }
    }
    return text;
}

DomainType domain_type(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain) {
    return DomainMaker(topology, routes, domain).make();
}

}  // namespace fmsim
