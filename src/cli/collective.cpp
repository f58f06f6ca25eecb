// fmsim collective: one collective over a range of sizes, as nccl-tests would print it.
#include <map>
#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "ask.hpp"
#include "commands.hpp"
#include "experts.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string collective;
    std::string sizes;
    double factor = 2;
    std::string measured;
    std::int64_t root = -1;  // none said
    bool print_scenario = false;
    ScenarioOptions scenario;
    ExpertOptions experts;
    Output output;
};

constexpr const char* kDefaultSizes = "8..16GiB";

std::vector<Bytes> sizes_of(const Options& options, const std::optional<Measurements>& measurements) {
    if (!options.sizes.empty()) return parse_sizes(options.sizes, options.factor);
    if (!measurements) return parse_sizes(kDefaultSizes, options.factor);
    std::vector<Bytes> sizes;
    for (const MeasuredRow& row : measurements->rows) sizes.push_back(row.size);
    return sizes;
}

std::uint32_t root_of(const Options& options, Collective collective) {
    if (options.root < 0) return 0;
    if (collective == Collective::broadcast || collective == Collective::reduce)
        return static_cast<std::uint32_t>(options.root);
    throw InputError({{.file = "--root",
                       .line = 0,
                       .pointer = "",
                       .expected = "expected broadcast or reduce, which alone have a root",
                       .found = options.collective}});
}

void warn_of_mismatch(const Options& options, Collective collective, const Measurements& measurements) {
    if (measurements.cluster != options.scenario.cluster)
        spdlog::warn("{} was measured on {}, the prediction is for {}", printable(options.measured),
                     printable(measurements.cluster), printable(options.scenario.cluster));
    if (measurements.collective != name(collective))
        spdlog::warn("{} measured {}, the prediction is for {}", printable(options.measured),
                     printable(measurements.collective), name(collective));
}

// The sweep as a workload file; a size that comes again gets a name of its own.
std::string scenario_file(const Options& options, Collective collective, const std::vector<Bytes>& sizes) {
    std::vector<Call> calls;
    std::map<Bytes, int> times;
    for (const Bytes size : sizes) {
        const int time = ++times[size];
        calls.push_back({time == 1 ? to_text(size) : fmt::format("{} #{}", to_text(size), time), collective, size});
    }
    Workload work = in_turn(calls);
    work.name = work.jobs.front().name = name(collective);
    for (Operation& operation : work.jobs.front().programs.front().operations)
        std::get<CollectiveCall>(operation.action).root = root_of(options, collective);
    work.scenario = words_of(options.scenario);
    add_environment(work, options.scenario);
    return to_workload_file(work);
}

int run_collective(const Options& options) {
    if (is_of_experts(options.collective))
        return run_experts(options.collective, options.experts, options.scenario, options.print_scenario,
                           options.output);
    const Collective collective = parse_collective(options.collective);
    std::optional<Measurements> measurements;
    std::string measured_text;
    if (!options.measured.empty()) {
        measured_text = read_file(options.measured);
        measurements = parse_measurements(measured_text, options.measured);
        warn_of_mismatch(options, collective, *measurements);
    }
    const auto sizes = sizes_of(options, measurements);
    if (options.print_scenario) {
        emit(options.output, scenario_file(options, collective, sizes));
        return kGood;
    }
    const SweepQuestion question{collective, sizes, root_of(options, collective), measurements, measured_text};
    const Ask ask = [&](const ScenarioOptions& words) { return ask_sweep(question, words); };
    if (!options.scenario.what_if.empty()) return compare_what_if(ask, options.scenario, options.output);
    ScenarioOptions words = options.scenario;
    words.traced = options.output.format == Format::json;
    emit(options.output, ask(words).text(options.output.format));
    return kGood;
}

std::string collectives() {
    std::vector<std::string_view> names;
    for (const Collective collective : kCollectives) names.push_back(name(collective));
    names.insert(names.end(), {"moe_dispatch", "moe_combine"});
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_collective(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("collective", "Predict one collective over a range of sizes");
    const auto options = std::make_shared<Options>();
    command.add_option("collective", options->collective, collectives())->required()->option_text("COLLECTIVE");
    command
        .add_option("--sizes", options->sizes,
                    fmt::format("FROM..TO, or a list with commas; plain numbers are bytes (default {}, or those of "
                                "--measured)",
                                kDefaultSizes))
        ->option_text("SIZES");
    command.add_option("--factor", options->factor, "from one size of FROM..TO to the next (default 2)")
        ->option_text("X");
    command.add_option("--root", options->root, "the rank that a broadcast comes from or a reduce goes to (default 0)")
        ->check(CLI::Range(0, 1'000'000))
        ->option_text("N");
    command.add_option("--measured", options->measured, "lay a measured table beside the prediction, with the error")
        ->option_text("FILE");
    add_options(command, options->scenario, false);
    command.add_flag("--print-scenario", options->print_scenario, kPrintScenario);
    add_options(command, options->experts);
    add_options(command, options->output);
    when_chosen(command, options, run_collective, action);
}

}  // namespace fmsim::cli
