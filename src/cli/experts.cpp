#include "experts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "fmsim/moe.hpp"

namespace fmsim::cli {
namespace {

constexpr std::int64_t kMostTokens = 10'000'000;

[[noreturn]] void refuse(const char* option, std::string expected, std::string found) {
    throw InputError(
        {{.file = option, .line = 0, .pointer = "", .expected = std::move(expected), .found = std::move(found)}});
}

std::vector<std::uint32_t> tokens_of(const ExpertOptions& options) {
    std::vector<std::uint32_t> tokens;
    std::vector<Bytes> counts;
    try {
        counts = parse_sizes(options.tokens.empty() ? "128" : options.tokens, 2);
    } catch (const InputError&) {
        refuse("--tokens", "expected numbers of tokens, such as 128,4096 or 16..4096", options.tokens);
    }
    for (const Bytes count : counts) {
        if (count.count > kMostTokens)
            refuse("--tokens", fmt::format("expected at most {} tokens", kMostTokens), fmt::format("{}", count.count));
        tokens.push_back(static_cast<std::uint32_t>(count.count));
    }
    return tokens;
}

std::vector<std::string> dispatchers_of(const ExpertOptions& options, const std::vector<Dispatcher>& known) {
    std::vector<std::string> names;
    if (options.dispatchers == "all") {
        for (const Dispatcher& dispatcher : known) names.push_back(dispatcher.name);
        return names;
    }
    for (std::size_t at = 0; at <= options.dispatchers.size();) {
        const std::size_t end = std::min(options.dispatchers.find(',', at), options.dispatchers.size());
        names.push_back(options.dispatchers.substr(at, end - at));
        at = end + 1;
    }
    return names;
}

ExpertCall call_of(const std::string& collective, const ExpertOptions& options) {
    ExpertCall call{.combine = collective == "moe_combine",
                    .hidden = options.hidden,
                    .top_k = options.top_k,
                    .experts = options.experts,
                    .limit = options.limit,
                    .dtype = options.dtype,
                    .seed = options.seed,
                    .sms = options.sms};
    if (call.dtype.empty()) call.dtype = call.combine ? "bf16" : "fp8";
    for (const TokenRouting routing : kTokenRoutings)
        if (name(routing) == options.routing) call.routing = routing;
    if (call.routing == TokenRouting::skewed) call.skew = options.skew;
    return call;
}

Workload workload_of(const std::vector<ExpertCall>& calls) {
    Workload work = in_turn({});
    for (const ExpertCall& call : calls)
        work.jobs.front().programs.front().operations.push_back(
            {.name = fmt::format("{} tokens by {}", call.tokens, call.dispatcher), .action = fmsim::call_of(call, 0)});
    return work;
}

// Problems with the key that a file would have, as those of the option.
template <class Do>
auto by_option(Do run) {
    try {
        return run();
    } catch (InputError& error) {
        for (Problem& problem : error.problems) {
            const std::string key = problem.pointer.substr(problem.pointer.rfind('/') + 1);
            if (!problem.file.empty()) continue;
            problem.file = key == "top_k" ? "--top-k" : "--" + key;
            problem.pointer.clear();
        }
        throw InputError(std::move(error.problems));
    }
}

ReportedExperts predicted(const Scenario& scenario, const Group& group, const ExpertCall& call, bool may_refuse) {
    ReportedExperts row{.call = call};
    try {
        const Prediction prediction =
            predict(scenario.topology, group, workload_of({call}), scenario.nccl, scenario.predict);
        row.finding = explain(scenario.topology, prediction).calls.front();
        row.predicted = prediction.calls.front();
        const Dispatcher& dispatcher = find(*scenario.predict.dispatchers, call.dispatcher);
        const TokenTraffic traffic = traffic_of(group, call, dispatcher.copies);
        row.network_bytes = busiest_bytes(traffic.network, group);
        row.nvlink_bytes = busiest_bytes(traffic.nvlink, group);
    } catch (const Infeasible& error) {
        if (!may_refuse) throw;
        row.refused = error.what();
    }
    return row;
}

}  // namespace

void add_options(CLI::App& command, ExpertOptions& options) {
    constexpr const char* kGroup = "Tokens to experts (moe_dispatch, moe_combine)";
    command.add_option("--tokens", options.tokens, "of each rank: FROM..TO, or a list with commas (default 128)")
        ->group(kGroup)
        ->option_text("TOKENS");
    const auto count = [&](const char* option, std::uint32_t& value, const char* what, std::uint32_t most) {
        command.add_option(option, value, what)->check(CLI::Range(1u, most))->group(kGroup)->option_text("N");
    };
    count("--hidden", options.hidden, "elements of a token (default 7168)", 1'000'000);
    count("--top-k", options.top_k, "experts of a token (default 8)", 100'000);
    count("--experts", options.experts, "of all ranks together (default 256)", 100'000);
    count("--limit", options.limit, "a token's experts are on at most N domains (node-limited routing)", 100'000);
    std::vector<std::string> types, routings;
    for (const TokenType& type : kTokenTypes) types.emplace_back(type.name);
    for (const TokenRouting routing : kTokenRoutings) routings.emplace_back(name(routing));
    command.add_option("--dtype", options.dtype, "of the elements on their way (default: fp8 out, bf16 back)")
        ->check(CLI::IsMember(types))
        ->group(kGroup)
        ->option_text("TYPE");
    command
        .add_option("--dispatcher", options.dispatchers,
                    "all (default), or names with commas, such as deepep-normal,pplx (topologies/moe/)")
        ->group(kGroup)
        ->option_text("NAMES");
    command.add_option("--routing", options.routing, "random (default), balanced or skewed")
        ->check(CLI::IsMember(routings))
        ->group(kGroup)
        ->option_text("ROUTING");
    command
        .add_option("--skew", options.skew,
                    "of skewed routing: the i-th expert is as popular as 1 / (1 + X i) (default 1)")
        ->check(CLI::Range(0.0, 1e9))
        ->group(kGroup)
        ->option_text("X");
    command.add_option("--seed", options.seed, "of skewed routing (default 0)")->group(kGroup)->option_text("N");
    count("--sms", options.sms, "that the kernels take (default: as many as the dispatcher does)", 100'000);
}

bool is_of_experts(const std::string& collective) {
    return collective == "moe_dispatch" || collective == "moe_combine";
}

int run_experts(const std::string& collective, const ExpertOptions& options, const ScenarioOptions& where,
                bool print_scenario, const Output& output) {
    const Catalogue catalogue = Catalogue::shipped();
    std::vector<ExpertCall> calls;
    const std::vector<Dispatcher> known = catalogue.dispatchers();
    for (const std::uint32_t tokens : tokens_of(options))
        for (const std::string& dispatcher : dispatchers_of(options, known)) {
            by_option([&] { return find(known, dispatcher).name; });
            calls.push_back(call_of(collective, options));
            calls.back().tokens = tokens;
            calls.back().dispatcher = dispatcher;
        }
    if (print_scenario) {
        Workload work = workload_of(calls);
        work.name = work.jobs.front().name = collective;
        work.scenario = words_of(where);
        add_environment(work, where);
        emit(output, to_workload_file(work));
        return kGood;
    }
    Scenario scenario = make_scenario(where);
    add_dispatchers(scenario, *where.catalogue);
    const Group group = group_of(placement_of(scenario.topology, where));
    ExpertReport report{.cluster = scenario.topology.cluster.name,
                        .ranks = static_cast<std::uint32_t>(group.places.size()),
                        .domains = static_cast<std::uint32_t>(group.parts.size())};
    std::string asked;
    std::vector<ReportedCall> reported;
    for (const ExpertCall& call : calls) {
        asked += fmt::format("{} {}\n", call.kind(), to_text(call));
        report.rows.push_back(by_option([&] { return predicted(scenario, group, call, calls.size() > 1); }));
        if (report.rows.back().predicted)
            reported.push_back(report_call(*report.rows.back().predicted, report.rows.back().finding));
    }
    report.provenance = provenance(scenario, asked, reported);
    report.provenance.warnings = warnings_of(scenario.topology, group.places);
    emit(output, write(report, output.format));
    return kGood;
}

}  // namespace fmsim::cli
