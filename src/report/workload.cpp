// A workload as a file of ours, written out: what formats reads from it is the same workload.
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fmsim/report.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {
namespace {

using Json = nlohmann::ordered_json;

// A text that is read back as this very femtosecond. Beyond 2^53 fs not every one is a double of any unit; a time that
// was read from a text is, or is the neighbour of one.
std::string span_text(SimTime span) {
    static constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
        {{"s", 1e15}, {"ms", 1e12}, {"us", 1e9}, {"ns", 1e6}}};
    for (const auto& [unit, fs] : kUnits) {
        const double value = static_cast<double>(span.fs) / fs;
        if (value < 1 && fs > 1e6) continue;
        for (const double one : {value, std::nextafter(value, 0), std::nextafter(value, 1e300)}) {
            std::string text = fmt::format("{} {}", one, unit);
            if (parse_span(text) == span) return text;
        }
    }
    return fmt::format("{} ns", static_cast<double>(span.fs) * 1e-6);
}

// "0-3,7", in the order they are in.
std::string ranges_text(const std::vector<std::uint32_t>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
        i = last + 1;
    }
    return text;
}

Json peer_json(const Peer& peer) { return peer.relative ? Json(fmt::format("{:+}", peer.rank)) : Json(peer.rank); }
Json json_of(const Send& send) { return {{"to", peer_json(send.to)}, {"size", to_text(send.size)}}; }
Json json_of(const Receive& receive) { return {{"from", peer_json(receive.from)}, {"size", to_text(receive.size)}}; }

void add(Json& json, const Compute& compute, const Job&) {
    Json inner = Json::object();
    if (compute.duration) inner["duration"] = span_text(*compute.duration);
    if (!compute.duration) inner["flops"] = fmt::format("{} FLOP", compute.flops);
    if (!compute.duration) inner["bytes"] = to_text(compute.bytes);
    if (!compute.dtype.empty()) inner["dtype"] = compute.dtype;
    json["compute"] = inner;
}

void add(Json& json, const Delay& delay, const Job&) { json["delay"] = span_text(delay.span); }

void add_experts(Json& json, const ExpertCall& call) {
    Json inner{{"tokens", call.tokens},        {"hidden", call.hidden}, {"top_k", call.top_k},
               {"experts", call.experts},      {"dtype", call.dtype},   {"dispatcher", call.dispatcher},
               {"routing", name(call.routing)}};
    if (call.routing == TokenRouting::skewed) inner["skew"] = call.skew;
    if (call.routing == TokenRouting::skewed) inner["seed"] = call.seed;
    if (call.limit != 0) inner["limit"] = call.limit;
    if (call.sms != 0) inner["sms"] = call.sms;
    json[std::string(call.kind())] = std::move(inner);
}

void add(Json& json, const CollectiveCall& call, const Job& job) {
    if (call.experts) {
        add_experts(json, *call.experts);
        json["group"] = job.groups[call.group].name;
        return;
    }
    json["collective"] = name(call.collective);
    if (call.collective != Collective::barrier && call.pair_bytes.empty()) json["size"] = to_text(call.size);
    json["group"] = job.groups[call.group].name;
    if (call.collective == Collective::broadcast || call.collective == Collective::reduce) json["root"] = call.root;
    if (!call.algorithm.empty()) json["algorithm"] = call.algorithm;
    if (!call.protocol.empty()) json["protocol"] = call.protocol;
    for (const auto& row : call.pair_bytes) {
        Json sizes = Json::array();
        for (const std::int64_t size : row) sizes.push_back(to_text(Bytes{size}));
        json["pair_sizes"].push_back(std::move(sizes));
    }
}

void add(Json& json, const Transfers& transfers, const Job&) {
    if (transfers.sends.size() == 1 && transfers.receives.empty()) {
        json["send"] = json_of(transfers.sends.front());
    } else if (transfers.receives.size() == 1 && transfers.sends.empty()) {
        json["receive"] = json_of(transfers.receives.front());
    } else {
        for (const Send& send : transfers.sends) json["together"].push_back({{"send", json_of(send)}});
        for (const Receive& receive : transfers.receives) json["together"].push_back({{"receive", json_of(receive)}});
    }
}

Json operations_json(const Program& program, const Job& job) {
    Json list = Json::array();
    for (const Operation& operation : program.operations) {
        Json json{{"name", operation.name}};
        if (!operation.stream.empty()) json["stream"] = operation.stream;
        for (const std::uint32_t before : operation.after) json["after"].push_back(program.operations[before].name);
        if (operation.start != SimTime{}) json["start"] = span_text(operation.start);
        std::visit([&](const auto& action) { add(json, action, job); }, operation.action);
        list.push_back(std::move(json));
    }
    return list;
}

Json family_json(const GroupFamily& family) {
    if (family.members.empty()) return {{"size", family.size}, {"stride", family.stride}};
    if (family.members.size() == 1) return {{"ranks", ranges_text(family.members.front())}};
    Json groups = Json::array();
    for (const auto& group : family.members) groups.push_back(ranges_text(group));
    return {{"ranks", std::move(groups)}};
}

void add(Json& json, const Job& job) {
    if (job.wish) {
        json["placement"]["policy"] = job.wish->placement;
        if (job.wish->gpus != 0) json["placement"]["gpus"] = job.wish->gpus;
        if (job.wish->per_domain != 0) json["placement"]["per_domain"] = job.wish->per_domain;
    }
    for (const GroupFamily& family : job.groups)
        if (!family.members.empty() || family.size != 0) json["groups"][family.name] = family_json(family);
    if (job.programs.size() == 1 && job.programs[0].ranks.empty() && job.programs[0].role.empty()) {
        json["operations"] = operations_json(job.programs[0], job);
        return;
    }
    for (const Program& program : job.programs) {
        Json one = Json::object();
        if (!program.role.empty()) one["role"] = program.role;
        if (!program.ranks.empty()) one["ranks"] = ranges_text(program.ranks);
        one["operations"] = operations_json(program, job);
        json["programs"].push_back(std::move(one));
    }
}

bool is_number(const std::string& key) { return key == "gpus" || key == "per_domain" || key == "most_channels"; }

}  // namespace

std::string to_workload_file(const Workload& workload) {
    Json json{{"name", workload.name}};
    for (const auto& [key, word] : workload.scenario)
        json["scenario"][key] = is_number(key) ? Json(std::stoul(word)) : Json(word);
    for (const auto& [variable, value] : workload.environment) json["environment"][variable] = value;
    const Job& first = workload.jobs.front();
    if (workload.jobs.size() == 1 && first.name == workload.name && first.start == SimTime{}) {
        add(json, first);
        return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    for (const Job& job : workload.jobs) {
        Json one{{"name", job.name}};
        if (job.start != SimTime{}) one["start"] = span_text(job.start);
        add(one, job);
        json["jobs"].push_back(std::move(one));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fmsim
