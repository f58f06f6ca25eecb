// What a run said, in short -> the difference of two, and the part that made it.
//
//   const Comparison moved = compare(before, after);
//   moved.rows[0].reason();                             // "bytes +11.1 %, EFA"
//
// An outcome comes from a run just made (report) or from the JSON of an earlier one (formats); both give the same. Not
// here: how a run is made, and whether a difference is too large (gate).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fmsim {

struct OutcomePart {
    std::string name;  // "launch", "latency and filling", "bytes"
    double seconds{};
    bool operator==(const OutcomePart&) const = default;
};

// An operation, a size of a sweep, a part or an exchange of a training step.
struct OutcomeRow {
    std::string name;
    double seconds{};
    std::vector<OutcomePart> parts;  // add up to it; empty: it has none
    std::string limited_by;          // "EFA"; of an exchange of a step what it crosses
    std::string busiest;             // the link that held it
    std::string how;                 // "Ring Simple x 16"
    bool operator==(const OutcomeRow&) const = default;
};

struct Outcome {
    std::string name;               // what ran where
    std::optional<double> seconds;  // of the whole; none: each row is a run of its own
    std::vector<OutcomeRow> rows;
    bool operator==(const Outcome&) const = default;
};

// Times that differ by less than this part of them are one.
inline constexpr double kSameTime = 1e-9;
bool same_time(double a, double b);

struct RowDifference {
    std::string name;
    std::optional<OutcomeRow> before, after;  // one is missing where only the other run has it
    std::string moved;                        // the part that moved most; empty: none did
    double moved_seconds{};
    bool same() const { return before && after && moved.empty() && same_time(before->seconds, after->seconds); }
    double seconds() const { return (after ? after->seconds : 0) - (before ? before->seconds : 0); }
    std::optional<double> percent() const;  // none where there was nothing before
    // "bytes +11.1 %, EFA", "latency -> EFA, Tree LL x 8 -> Ring Simple x 8", "only before"; empty where nothing moved.
    std::string reason() const;
};

struct Comparison {
    Outcome before, after;
    std::vector<RowDifference> rows;  // as `before` has them, then what only `after` has
    std::optional<double> percent() const;
    bool same() const;
    // Of the row that moved most, with its name; empty where none did.
    std::string reason() const;
};
// Rows meet by name, the k-th of a name the k-th.
Comparison compare(const Outcome& before, const Outcome& after);

// Words that all makers of outcomes use, so that a run just made and a saved one say the same.
inline constexpr const char* kLaunchPart = "launch";
inline constexpr const char* kWaitingPart = "latency and filling";
inline constexpr const char* kBytesPart = "bytes";
inline constexpr const char* kComputingPart = "computing";
std::string how_words(std::string_view algorithm, std::string_view protocol, std::int64_t channels);
std::string exchange_words(std::string_view exchange, double megabytes);  // "data all_gather of 1322 MB"

// "+11.1 %", "-4.94 %", "no change"
std::string percent_text(double percent);

}  // namespace fmsim
