// Bare systems: links with a capacity, flows over them. A flow is an activity that waits for its start and its latency.
#include <algorithm>
#include <map>

#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

SimTime instant(const Spot& flow, const char* key) {
    if (!flow.has(key)) return {};
    try {
        return from_seconds(flow[key].number());
    } catch (const LimitReached&) {
        flow[key].refuse("expected a time below 2.56 hours, in seconds");
        return {};
    }
}

// The resources of a flow's route; refuses a link that is unknown or named twice.
std::vector<Use> uses_of(const Spot& route, const std::map<std::string, ResourceId>& links) {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < route.size(); ++i) {
        const auto link = links.find(route[i].text());
        if (link == links.end()) {
            route[i].refuse("expected the name of a link");
            continue;
        }
        const bool again =
            std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.resource == link->second; });
        if (again)
            route[i].refuse("expected each link once in a route");
        else
            uses.push_back({link->second, 1});
    }
    return uses;
}

SolveCase case_of(const Spot& spot) {
    SolveCase solve{.id = spot["id"].text(), .flows = {}, .system = {}};
    SystemBuilder builder;
    std::map<std::string, ResourceId> links;
    const Spot link_list = spot["links"];
    for (std::size_t i = 0; i < link_list.size(); ++i) {
        const ResourceId id = builder.add_resource(link_list[i]["capacity"].number());
        if (!links.emplace(link_list[i]["id"].text(), id).second)
            link_list[i]["id"].refuse("expected a name of its own for each link");
    }
    const Spot flows = spot["flows"];
    bool sound = true;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const Spot flow = flows[i];
        const auto uses = uses_of(flow["route"], links);
        sound = sound && uses.size() == flow["route"].size();
        solve.flows.push_back(flow["id"].text());
        const SimTime start = instant(flow, "start_s");
        const SimTime latency = instant(flow, "latency_s");
        if (start > SimTime::max() - latency) {
            flow["latency_s"].refuse("expected a start and latency of less than 2.56 hours together");
            continue;
        }
        if (sound) builder.add({.delay = start + latency, .work = flow["bytes"].number(), .uses = uses});
    }
    solve.system = std::move(builder).build();
    return solve;
}

}  // namespace

std::vector<SolveCase> parse_solve(std::string_view text, const std::string& file) {
    Document document(text, file, "system");
    const Spot list = document.root()["cases"];
    std::vector<SolveCase> cases;
    for (std::size_t i = 0; i < list.size(); ++i) cases.push_back(case_of(list[i]));
    document.finish();
    return cases;
}

}  // namespace fmsim
