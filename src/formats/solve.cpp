// Bare systems: links with a capacity, flows over them. A flow is an activity that waits for its start and its latency.
#include <map>
#include <optional>
#include <set>
#include <utility>

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

struct Links {
    std::map<std::string, ResourceId> ids;
    std::vector<std::size_t> last_flow;  // that names the link, counted from 1: finds one named twice
};

Links add_links(const Spot& list, SystemBuilder& builder) {
    Links links;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const ResourceId id = builder.add_resource(list[i]["capacity"].number());
        if (!links.ids.emplace(list[i]["id"].name(), id).second)
            list[i]["id"].refuse("expected a name of its own for each link");
    }
    links.last_flow.resize(list.size());
    return links;
}

// The resources of a flow's route; refuses a link that is unknown or named twice.
std::vector<Use> uses_of(const Spot& route, Links& links, std::size_t flow) {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < route.size(); ++i) {
        const auto link = links.ids.find(route[i].text());
        if (link == links.ids.end()) {
            route[i].refuse("expected the name of a link");
            continue;
        }
        if (std::exchange(links.last_flow[link->second.value], flow) == flow)
            route[i].refuse("expected each link once in a route");
        else
            uses.push_back({link->second, 1});
    }
    return uses;
}

// Nothing when the start and the latency are no delay that a run can hold.
std::optional<SimTime> delay_of(const Spot& flow) {
    const SimTime start = instant(flow, "start_s");
    const SimTime latency = instant(flow, "latency_s");
    if (start <= SimTime::max() - latency) return start + latency;
    flow["latency_s"].refuse("expected a start and latency of less than 2.56 hours together");
    return std::nullopt;
}

SolveCase case_of(const Spot& spot) {
    SolveCase solve{.id = spot["id"].name(), .flows = {}, .system = {}};
    SystemBuilder builder;
    Links links = add_links(spot["links"], builder);
    const Spot flows = spot["flows"];
    std::set<std::string> names;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const Spot flow = flows[i];
        solve.flows.push_back(flow["id"].name());
        if (!names.insert(solve.flows.back()).second) flow["id"].refuse("expected a name of its own for each flow");
        const auto uses = uses_of(flow["route"], links, i + 1);
        const auto delay = delay_of(flow);
        // A flow that was refused may lack its uses: the file is on its way out, and goes on for its other problems.
        if (delay && !uses.empty()) builder.add({.delay = *delay, .work = flow["bytes"].number(), .uses = uses});
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
