// Every number of a dispatcher is alive: changed by a tenth, a call takes another time, other SMs, or is refused or
// not.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "fmsim/formats.hpp"
#include "fmsim/moe.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

struct Place {
    Topology net;
    Group group;
};

// Networks of all kinds, few and many domains, one GPU more than a dispatcher's kernels may have.
std::vector<Place> places() {
    std::vector<Place> all;
    const auto add = [&](const char* words, std::uint32_t gpus) {
        Topology net = build_topology(Catalogue::shipped().cluster(words));
        Group group = group_of(linear_placement(net, gpus, 0));
        all.push_back({std::move(net), std::move(group)});
    };
    for (const char* words :
         {"hgx-h800-8x400:2", "hgx-h100-8x400:1", "hgx-h100-8x400:2", "hgx-h100-8x400:20", "hgx-h100-8x400:22",
          "hgx-h100-8x400-roce:2", "hgx-h100-8x400-roce:16", "hgx-h100-8x400-roce:22", "hgx-b200:1", "p5.48xlarge:2",
          "p5.48xlarge:9", "p5.48xlarge:20", "p5.48xlarge:22", "p5en.48xlarge:2", "p5en.48xlarge:9", "p5en.48xlarge:22",
          "p6-b200.48xlarge:2", "p6-b200.48xlarge:9"})
        add(words, 0);
    for (const std::uint32_t gpus : {2u, 9u, 72u}) add("gb200-nvl72:1", gpus);
    return all;
}

std::string says(const Dispatcher& dispatcher, const std::vector<Place>& places) {
    std::string all;
    for (const auto& [net, group] : places)
        for (const bool combine : {false, true})
            for (const std::uint32_t tokens : {16u, 2048u})
                for (const std::uint32_t hidden : {1024u, 65536u}) {
                    const ExpertCall call{.combine = combine,
                                          .tokens = tokens,
                                          .hidden = hidden,
                                          .top_k = 8,
                                          .experts = static_cast<std::uint32_t>(group.places.size()) * 8,
                                          .dtype = "bf16"};
                    if (const std::string why = refusal(net, group, call, dispatcher); !why.empty()) {
                        all += why + "\n";
                        continue;
                    }
                    const ExpertCost cost = expert_cost(net, group, call, dispatcher);
                    all += std::to_string(cost.seconds * 1e9) + " " + std::to_string(cost.sms) + "\n";
                }
    return all;
}

Dispatcher read(std::map<std::string, std::string> files, const std::string& path, const json& root) {
    files[path] = root.dump();
    const Catalogue catalogue(std::move(files));
    return find(catalogue.dispatchers(), root["name"].get<std::string>());
}

void leaves(const json& at, const std::string& pointer, std::vector<std::string>& found) {
    if (!at.is_object()) return;
    if (at.contains("value") && at.contains("source"))
        found.push_back(pointer);
    else
        for (const auto& [key, child] : at.items()) leaves(child, pointer + "/" + key, found);
}

// A tenth more, or a fifth less of what has to stay below 1: shares of a line count where NCCL gets more of it; nothing
// of words and flags.
json changed(const json& value) {
    if (value.is_number_integer()) return value.get<int>() + std::max(1, value.get<int>() / 10);
    if (value.is_number_float()) return value.get<double>() * 0.8;
    if (!value.is_string()) return nullptr;
    const auto text = value.get<std::string>();
    std::size_t used = 0;
    try {
        const double number = std::stod(text, &used) * 1.1;
        return used == text.size() ? json() : json(std::to_string(number) + text.substr(used));
    } catch (const std::invalid_argument&) {
        return nullptr;
    }
}

}  // namespace

TEST_CASE("each number of a dispatcher moves what a call takes, or whether it runs") {
    const Catalogue catalogue = Catalogue::shipped();
    const std::vector<Place> where = places();
    std::set<std::string> dead;
    std::size_t moved = 0;
    for (const auto& [path, text] : catalogue.files()) {
        if (!path.starts_with("moe/") || path == "moe/nccl.json") continue;
        const json root = json::parse(text);
        const std::string before = says(read(catalogue.files(), path, root), where);
        std::vector<std::string> pointers;
        leaves(root, "", pointers);
        for (const std::string& pointer : pointers) {
            json other = root;
            const json value = changed(root[json::json_pointer(pointer)]["value"]);
            if (value.is_null()) continue;
            other[json::json_pointer(pointer)]["value"] = value;
            if (says(read(catalogue.files(), path, other), where) == before)
                dead.insert(path + pointer);
            else
                ++moved;
        }
    }
    CHECK(dead == std::set<std::string>{});
    CHECK(moved > 100);
}

}  // namespace fmsim
