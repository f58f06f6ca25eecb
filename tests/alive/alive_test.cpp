// Every value of the catalogue is alive: changed by a tenth, some prediction changes. Values that so far only a listing
// reads are named here, and this list can only shrink.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using Files = std::map<std::string, std::string>;

// By file and pointer. A GPU's memory refuses plans that do not fit; NVLink's wire latency is for schedules that outrun
// their buffers. The PCIe and NUMA links are read, but a sound machine with GPUDirect is not bound by them; one with
// faults, or without GPUDirect, is. A NIC's line rate says
// what it is sold as; what it carries is what counts. A compute capability is a name made of digits. The
// rate of a search's paths only says whether a ring's channels are doubled once more, from 45 GB/s on: NCCL's beliefs
// come from the graphs beside them.
const std::vector<std::regex> kOnlyListed{
    std::regex("gpus/.*json/(memory|compute_capability)"),
    std::regex("instances/.*json/(pcie/.*_rate|nics/pcie_rate)"),
    std::regex("(instances|domains)/.*json/nccl/(alone|several)/path_(inter|intra)_rate"),
    std::regex("links/.*json/wire_latency"),
    std::regex("nics/.*json/rate"),
};

bool only_listed(const std::string& value) {
    return std::any_of(kOnlyListed.begin(), kOnlyListed.end(),
                       [&](const std::regex& known) { return std::regex_match(value, known); });
}

// A tenth more: of a quantity its number, of a count at least one.
std::optional<json> changed(const json& value) {
    if (value.is_number_integer())
        return value.get<std::int64_t>() + std::max<std::int64_t>(1, value.get<std::int64_t>() / 10);
    if (value.is_number_float()) return value.get<double>() * 0.9;
    if (!value.is_string()) return std::nullopt;
    const auto text = value.get<std::string>();
    std::size_t used = 0;
    try {
        const double number = std::stod(text, &used);
        if (used == text.size() || text[used] != ' ') return std::nullopt;
        return std::to_string(number == 0 ? 50 : number * 1.1) + text.substr(used);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

std::string end_of(const Topology& net, const Group& group, const Nccl& nccl, Collective collective, std::int64_t size,
                   const std::string& algorithm, std::optional<Protocol> protocol) {
    PredictOptions options;
    if (!algorithm.empty()) options.pins.algorithm = algorithm;
    options.pins.protocol = protocol;
    const Workload job = in_turn({{"call", collective, Bytes{size}}});
    return std::to_string(predict(net, group, job, nccl, options).end.fs) + " ";
}

// Everything that predictions on a machine depend on: alone and as two domains, each protocol, what NCCL would choose.
std::string predictions(const Catalogue& catalogue, const std::string& machine) {
    std::string all;
    const Nccl nccl = catalogue.nccl();
    for (const std::uint32_t count : {1u, 2u, 3u}) {
        Cluster cluster = catalogue.cluster(machine);
        cluster.blocks[0].count = count;
        if (count > 1 && cluster.blocks[0].type.groups() == 0) continue;
        const Topology net = build_topology(cluster);
        const Group group = group_of(linear_placement(net, 0, 0));
        if (group.places.size() < 2) continue;
        for (double size = 8; size < 1e11; size *= 1.05) {
            const Choice choice =
                choose(Collective::all_reduce, Bytes{static_cast<std::int64_t>(size)}, net, group, nccl, {});
            all += std::string(name(choice.protocol)) + std::to_string(choice.channels) + " ";
        }
        if (count == 3) continue;  // NCCL's beliefs differ there, the physics does not
        for (const Protocol protocol : kProtocols)
            for (const char* algorithm : {"", "Ring"})
                for (const std::int64_t size : {std::int64_t{8}, std::int64_t{1} << 22, std::int64_t{1} << 28})
                    all += end_of(net, group, nccl, Collective::all_reduce, size, algorithm, protocol);
        for (const std::int64_t size : {std::int64_t{1} << 10, std::int64_t{1} << 28})
            all += end_of(net, group, nccl, Collective::all_to_all, size, "", std::nullopt);
    }
    return all;
}

// Kernels of every kind on a machine's GPU: each precision it has units for, each implementation of attention.
std::string kernel_times(const Catalogue& catalogue, const std::string& machine) {
    const Gpu gpu = catalogue.domain(machine).instance.gpu;
    const KernelFacts facts = catalogue.kernels(gpu);
    std::vector<Kernel> kernels{Traffic{.reads = {1 << 20}, .writes = {1 << 20}}};
    for (const PrecisionKind& row : kPrecisions)
        for (const std::int64_t side : {512, 8192})
            if (gpu.peak.contains(std::string(row.peak)))
                kernels.emplace_back(Gemm{.m = side, .n = side, .k = side, .precision = row.precision});
    for (const auto& [implementation, its] : facts.attention)
        for (const Pass pass : {Pass::forward, Pass::backward})
            kernels.emplace_back(Attention{.heads = 16,
                                           .kv_heads = 16,
                                           .queries = 1000,
                                           .keys = 1000,
                                           .qk_dim = 128,
                                           .v_dim = 128,
                                           .pass = pass,
                                           .implementation = implementation});
    std::string all;
    for (const bool in_graph : {false, true}) {
        std::vector<KernelTime> times;
        for (const Kernel& kernel : kernels) {
            times.push_back(time_of(kernel, gpu, facts, {.in_graph = in_graph}));
            all += std::to_string(times.back().total().fs) + " ";
        }
        all += std::to_string(span_of(times, facts, {.in_graph = in_graph}).fs) + " ";
    }
    return all;
}

// What a step of training costs there, and its checkpoint takes.
std::string outlays(const Catalogue& catalogue, const std::string& machine) {
    TrainingPlan plan;
    plan.model = model_preset("llama3-8b");
    const InstanceType type = catalogue.domain(machine).instance;
    plan.gpus = type.gpus;
    const Outlay outlay = outlay_of(plan, type, 1);
    return fmt::format("{} {} {} {}", outlay.on_demand_usd.value_or(0), outlay.capacity_block_usd.value_or(0),
                       outlay.of_host_memory, outlay.of_drives);
}

// The machines whose files, or whose parts' files, include this one.
std::vector<std::string> machines_of(const Catalogue& catalogue, const std::string& file) {
    // A board and its NICs are read from its name: "nics/roce-400g.json" belongs to "hgx-h100-8x400-roce".
    std::smatch nic;
    if (std::regex_match(file, nic, std::regex("nics/(infiniband|roce)-([0-9]+)g.json")))
        return {(nic[2] == "800" ? "hgx-b300-8x" : "hgx-h100-8x") + nic[2].str() + (nic[1] == "roce" ? "-roce" : "")};
    if (file.find("h800") != std::string::npos) return {"hgx-h800"};
    if (file.find("500w") != std::string::npos) return {"hgx-h100-500w"};
    std::vector<std::string> found;
    for (const std::string& machine : catalogue.names())
        for (const SourcedValue& value : catalogue.sources(machine))
            if (value.file == file) {
                found.push_back(machine);
                break;
            }
    return found;
}

void leaves(const json& at, const std::string& pointer, std::vector<std::string>& found) {
    if (!at.is_object()) return;
    if (at.contains("value") && at.contains("source"))
        found.push_back(pointer);
    else
        for (const auto& [key, child] : at.items()) leaves(child, pointer + "/" + key, found);
}

bool alive(const Files& files, const std::string& path, const std::string& pointer, const json& value,
           const std::vector<std::string>& machines) {
    Files other = files;
    json root = json::parse(files.at(path));
    root[json::json_pointer(pointer)]["value"] = value;
    other[path] = root.dump();
    for (const std::string& machine : machines) {
        try {
            if (outlays(Catalogue(other), machine) != outlays(Catalogue(files), machine)) return true;
            if (kernel_times(Catalogue(other), machine) != kernel_times(Catalogue(files), machine)) return true;
            if (predictions(Catalogue(other), machine) != predictions(Catalogue(files), machine)) return true;
        } catch (const InputError&) {
            return true;  // a count that no longer fits the rest: read, and cared about
        }
    }
    return false;
}

}  // namespace

TEST_CASE(
    "each value of an instance type, a GPU, an NVLink, a NIC or a kernel moves a prediction, but for those only "
    "listed") {
    const Catalogue catalogue = Catalogue::shipped();
    std::set<std::string> dead;
    std::size_t moved = 0;
    for (const auto& [path, text] : catalogue.files()) {
        if (path == "training.json") continue;   // training_alive_test.cpp
        if (path.starts_with("moe/")) continue;  // moe_alive_test.cpp
        if (path.starts_with("nccl/") || path == "hgx.json") continue;
        auto machines = machines_of(catalogue, path);
        std::vector<std::string> pointers;
        leaves(json::parse(text), "", pointers);
        for (const std::string& pointer : pointers) {
            if (only_listed(path + pointer)) continue;
            const auto value = changed(json::parse(text)[json::json_pointer(pointer)]["value"]);
            if (!value) continue;  // a name, a flag or a list
            if (alive(catalogue.files(), path, pointer, *value, machines))
                ++moved;
            else
                dead.insert(path + pointer);
        }
    }
    CHECK(dead == std::set<std::string>{});
    CHECK(moved > 150);
}

}  // namespace fmsim
