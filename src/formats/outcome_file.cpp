// Results as `run` and `collective` printed them: of a job its operations, of a sweep its sizes, of a training step its
// parts and exchanges.
#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr double kMicro = 1e-6;

std::string word_at(const Spot& spot, const std::string& key) {
    return spot.has(key) && spot[key].json().is_string() ? spot[key].name() : "";
}

OutcomeRow row_at(const Spot& spot, const std::string& name) {
    const bool computes = word_at(spot, "collective") == "compute";
    OutcomeRow row{.name = name,
                   .seconds = spot["time_us"].number() * kMicro,
                   .parts = {{kLaunchPart, spot["launch_us"].number() * kMicro},
                             {kWaitingPart, spot["waiting_us"].number() * kMicro},
                             {computes ? kComputingPart : kBytesPart, spot["working_us"].number() * kMicro}},
                   .limited_by = word_at(spot, "limited_by"),
                   .busiest = word_at(spot, "busiest"),
                   .how = ""};
    const std::string algorithm = word_at(spot, "algorithm");
    if (!algorithm.empty())
        row.how = how_words(algorithm, word_at(spot, "protocol"),
                            spot.has("channels") && spot["channels"].json().is_number() ? spot["channels"].count() : 0);
    return row;
}

void add_step(Outcome& outcome, const Spot& root) {
    for (std::size_t i = 0; root.has("breakdown") && i < root["breakdown"].size(); ++i) {
        const Spot part = root["breakdown"][i];
        outcome.rows.push_back({.name = part["part"].name(),
                                .seconds = part["seconds"].number(),
                                .parts = {},
                                .limited_by = word_at(part, "over"),
                                .busiest = "",
                                .how = ""});
    }
    for (std::size_t i = 0; i < root["exchanges"].size(); ++i) {
        const Spot use = root["exchanges"][i];
        outcome.rows.push_back({.name = exchange_words(use["exchange"].name(), use["megabytes"].number()),
                                .seconds = use["time_us"].number() * kMicro,
                                .parts = {},
                                .limited_by = word_at(use, "over"),
                                .busiest = "",
                                .how = ""});
    }
}

}  // namespace

bool is_outcome(std::string_view text) {
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_object() && value.contains("schema_version") && value.contains("fmsim_version");
}

Outcome parse_outcome(std::string_view text, const std::string& file) {
    Document document(text, file, "run");
    const Spot root = document.root();
    Outcome outcome{.name = root["cluster"].name(), .seconds = {}, .rows = {}};
    if (root.has("time_s")) outcome.seconds = root["time_s"].number();
    if (root.has("operations"))
        for (std::size_t i = 0; i < root["operations"].size(); ++i)
            outcome.rows.push_back(row_at(root["operations"][i], root["operations"][i]["name"].name()));
    else if (root.has("rows"))
        for (std::size_t i = 0; i < root["rows"].size(); ++i)
            outcome.rows.push_back(row_at(root["rows"][i], to_text(root["rows"][i]["bytes"].bytes())));
    else if (root.has("exchanges"))
        add_step(outcome, root);
    else
        root.refuse("expected a result of run or collective, with a key \"operations\", \"rows\" or \"exchanges\"");
    document.finish();
    return outcome;
}

}  // namespace fmsim
