// What nccl-tests wrote with -J FILE.json -> a table of measurements.
//
//   {"version": 3, "args": ["all_reduce_perf", ..], "env": ["NCCL_ALGO=Ring", ..], "nccl_version": 23007,
//    "config": {"devices": [{"rank": 0, ..}, ..], ..},
//    "results": [{"size": 1048576, "out_of_place": {"time": 120.0, ..}, "in_place": {"time": 119.0, ..}, ..}, ..]}
//
// A time that was not taken is null or the text "nan". `env` is the whole environment of the run, which may hold what
// is nobody's business: only NCCL's variables are looked at, and nothing of it is kept but what they pin.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "foreign_file.hpp"

namespace fmsim {
namespace {

using Spot = ForeignFile::Spot;

constexpr std::uint64_t kNewTransfers = 22900;  // NCCL 2.29.0, as nccl-tests writes versions
constexpr std::string_view kSuffix = "_perf";

// "/opt/nccl-tests/build/all_reduce_perf" -> "all_reduce"; empty where it is none.
std::string collective_of(std::string_view program) {
    program.remove_prefix(program.find_last_of('/') + 1);  // npos + 1 is 0
    if (!program.ends_with(kSuffix)) return {};
    return std::string(program.substr(0, program.size() - kSuffix.size()));
}

std::optional<double> time_of(const Spot& half) {
    const Spot time = half["time"];
    if (time.is_null() || time.is_text()) return std::nullopt;  // "nan"
    const auto us = time.number();
    return us && *us > 0 && *us < 1e12 ? us : std::nullopt;
}

void read_row(const Spot& result, Measurements& table) {
    const auto size = result["size"].count();
    if (!size) return;
    if (*size > static_cast<std::uint64_t>(kLargestSize.count))
        return result["size"].refuse("expected a size in bytes");
    auto time = time_of(result["out_of_place"]);
    if (!time) time = time_of(result["in_place"]);
    if (time) table.rows.push_back({.size = {static_cast<std::int64_t>(*size)}, .time_us = *time});
}

void read_environment(const Spot& environment, Pins& pins) {
    for (const Spot& variable : environment.items()) {
        const std::string assignment = variable.text_or_none();
        if (!assignment.starts_with("NCCL_") || !has_nccl_knob(assignment)) continue;
        if (assignment.starts_with("NCCL_TUNER_CONFIG_FILE")) continue;  // a file of the machine that measured
        try {
            set_nccl_variable(assignment, pins);
        } catch (const InputError& error) {
            variable.refuse(error.problems.front().expected, assignment);
        }
    }
}

}  // namespace

bool is_nccl_tests_json(std::string_view text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    return json.is_object() && json.contains("results") && !json.contains("rows");
}

Measurements parse_nccl_tests_json(std::string_view text, const std::string& name) {
    ForeignFile file(text, name);
    const auto pages = file.pages();
    Measurements table{.id = name, .cluster = {}, .collective = {}, .source = name, .rows = {}};
    for (const Spot& page : pages) {
        if (const auto args = page["args"].items(); !args.empty())
            table.collective = collective_of(args.front().text_or_none());
        table.gpus = static_cast<std::uint32_t>(page["config"]["devices"].items().size());
        if (page.has("nccl_version")) {
            const auto version = page["nccl_version"].count();
            table.pins.transfers_before_2_29 = version && *version < kNewTransfers;
        }
        read_environment(page["env"], table.pins);
        for (const Spot& result : page["results"].items()) read_row(result, table);
    }
    file.finish();
    if (table.rows.empty())
        throw InputError({{.file = name,
                           .line = 0,
                           .pointer = "/results",
                           .expected = "expected results with a size and a time, as nccl-tests writes them with -J",
                           .found = ""}});
    return table;
}

}  // namespace fmsim
