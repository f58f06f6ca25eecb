#include "constants.hpp"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fmsim::cli {
namespace {

using Pointer = nlohmann::json::json_pointer;

struct Tunable {
    const char* folder;
    const char* pointer;
    double least_factor, most_factor;  // how far from the catalogue's value it may go
};
constexpr Tunable kTunables[]{{"channels/", "/launch", 0.3, 3},
                              {"channels/", "/rate/LL", 0.3, 3},
                              {"channels/", "/rate/LL128", 0.5, 2},
                              {"channels/", "/rate/Simple", 0.5, 2},
                              {"channels/", "/unit_cost/LL128", 0.2, 20},
                              {"channels/", "/unit_cost/Simple", 0.2, 5},
                              {"links/", "/ring_efficiency", 0.7, 1.2},
                              {"links/", "/hop_latency/LL", 0.3, 3},
                              {"links/", "/hop_latency/LL128", 0.2, 3},
                              {"links/", "/hop_latency/Simple", 0.3, 3},
                              {"links/", "/switch_efficiency", 0.7, 1.3},
                              {"links/", "/switch_latency", 0.3, 5},
                              {"links/", "/switch_chunk_cost", 0.2, 5},
                              {"links/", "/switch_block_cost", 0.2, 5},
                              {"nics/", "/carries", 0.97, 1.02},  // the most that tables show, no mean
                              {"nics/", "/hop_latency/LL", 0.2, 5},
                              {"nics/", "/hop_latency/LL128", 0.2, 5},
                              {"nics/", "/hop_latency/Simple", 0.2, 5},
                              {"nics/", "/message_cost", 0.2, 5},
                              {"nics/", "/hop_spread", 0.1, 4},
                              {"nccl/", "/execution/launch/LL128", 0.2, 5},
                              {"nccl/", "/execution/launch/Simple", 0.2, 5},
                              {"nccl/", "/execution/transfer_launch", 0.2, 5},
                              {"nccl/", "/execution/transfer_host", 0.2, 5}};

// "24.2 GB/s" or 0.82.
Constant constant_of(const std::string& file, const Tunable& tunable, const nlohmann::json& leaf) {
    Constant constant{.file = file, .pointer = tunable.pointer};
    const nlohmann::json& value = leaf.at("value");
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        std::size_t end = 0;
        constant.value = std::stod(text, &end);
        constant.unit = text.substr(text.find_first_not_of(' ', end));
    } else {
        constant.value = value.get<double>();
    }
    constant.bounds = {constant.value * tunable.least_factor, constant.value * tunable.most_factor};
    return constant;
}

}  // namespace

TableGround ground_of(const Catalogue& catalogue, const Measurements& table) {
    TableGround ground;
    const Cluster cluster = catalogue.cluster(table.cluster);
    const DomainType& type = cluster.blocks.front().type;
    const std::string gpu = fmt::format("gpus/{}.json", type.instance.gpu.name);
    ground.files.insert(gpu);
    const auto channels = nlohmann::json::parse(catalogue.files().at(gpu))["channels"]["value"].get<std::string>();
    ground.files.insert(fmt::format("channels/{}.json", channels));
    if (type.instance.nvlink) ground.files.insert(fmt::format("links/{}.json", type.instance.nvlink->name));
    if (type.instance.nic) ground.files.insert(fmt::format("nics/{}.json", type.instance.nic->name));
    for (const auto& [file, text] : catalogue.files())
        if (file.starts_with("nccl/") && nlohmann::json::parse(text).contains("execution")) ground.files.insert(file);
    const Placement placement = linear_placement(build_topology(cluster), table.gpus, table.per_domain);
    ground.leaves_domain = group_of(placement).parts.size() > 1;
    return ground;
}

std::vector<Constant> constants_of(const Catalogue& catalogue, const std::set<std::string>& files) {
    std::vector<Constant> constants;
    for (const std::string& file : files) {
        const auto json = nlohmann::json::parse(catalogue.files().at(file));
        for (const Tunable& tunable : kTunables) {
            const Pointer pointer(tunable.pointer);
            if (!file.starts_with(tunable.folder) || !json.contains(pointer)) continue;
            Constant constant = constant_of(file, tunable, json.at(pointer));
            if (constant.value > 0) constants.push_back(std::move(constant));
        }
    }
    return constants;
}

Catalogue with(const Catalogue& catalogue, const std::vector<Constant>& constants, const std::vector<double>& values) {
    std::map<std::string, std::string> files = catalogue.files();
    std::map<std::string, nlohmann::json> changed;
    for (std::size_t i = 0; i < constants.size(); ++i) {
        const Constant& constant = constants[i];
        auto& json = changed.try_emplace(constant.file, nlohmann::json::parse(files.at(constant.file))).first->second;
        nlohmann::json& value = json[Pointer(constant.pointer)]["value"];
        if (constant.unit.empty())
            value = values[i];
        else
            value = fmt::format("{:.9f} {}", values[i], constant.unit);
    }
    for (const auto& [file, json] : changed) files[file] = json.dump();
    return Catalogue(std::move(files));
}

bool reaches(const Constant& constant, const TableGround& ground, const ValidatedRow& row) {
    if (!ground.files.contains(constant.file)) return false;
    if (constant.file.starts_with("nics/") && !ground.leaves_domain) return false;
    const bool transfers = row.algorithm == "SendRecv";
    const bool is_of_transfers = constant.pointer == "/message_cost" ||
                                 constant.pointer.ends_with("/transfer_launch") ||
                                 constant.pointer.ends_with("/transfer_host");
    if (is_of_transfers) return transfers;
    if (constant.pointer.starts_with("/switch_")) return row.algorithm.starts_with("NVLS");
    const std::string last = constant.pointer.substr(constant.pointer.rfind('/') + 1);
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
        if (last == name(protocol)) return transfers || row.protocol == last;
    return true;
}

}  // namespace fmsim::cli
