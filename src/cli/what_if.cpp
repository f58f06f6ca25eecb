// --what-if: the same question with changes, beside the one without; and why a change cannot matter.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ask.hpp"
#include "commands.hpp"

namespace fmsim::cli {
namespace {

constexpr std::array kPolicies{RailPolicy::keep, RailPolicy::even, RailPolicy::neighbour};

bool has_nic_fault(const Cluster& cluster) {
    return std::any_of(cluster.faults.begin(), cluster.faults.end(),
                       [](const Fault& fault) { return fault.kind == DeviceKind::nic; });
}

std::string policy_note(const Cluster& cluster) {
    switch (cluster.rail_policy) {
        case RailPolicy::keep:
            return "rail policy keep: the traffic of a NIC with a fault stays there and waits, as NCCL has it";
        case RailPolicy::even:
            return "rail policy even: traffic of a NIC with a fault moves until all NICs of its instance are equally "
                   "busy";
        case RailPolicy::neighbour:
            break;
    }
    return "rail policy neighbour: the next NIC of the instance takes the traffic of one with a fault";
}

// Of each row, and of the whole where there is one.
std::vector<PolicyTimes> times_by_policy(const Ask& ask, const ScenarioOptions& options,
                                         const std::vector<Change>& changes, const Outcome& shown) {
    std::vector<std::optional<Outcome>> outcomes;
    for (const RailPolicy policy : kPolicies) {
        std::vector<Change> with = changes;
        with.push_back(parse_change(fmt::format("rail_policy={}", name(policy))));
        try {
            outcomes.push_back(ask(with_changes(options, with)).outcome);
        } catch (const Infeasible&) {
            outcomes.emplace_back();
        }
    }
    std::vector<PolicyTimes> times;
    const auto add = [&](const std::string& called, auto seconds_of) {
        times.push_back({called, {}});
        for (const auto& outcome : outcomes)
            times.back().seconds.push_back(outcome ? seconds_of(*outcome) : std::nullopt);
    };
    if (shown.seconds) {
        add("all", [](const Outcome& outcome) { return outcome.seconds; });
        return times;
    }
    for (std::size_t i = 0; i < shown.rows.size(); ++i)
        add(shown.rows[i].name, [&](const Outcome& outcome) { return std::optional(outcome.rows[i].seconds); });
    return times;
}

std::vector<std::string> notes_of(const std::vector<Change>& changes, const Answer& before, const Answer& after,
                                  const Comparison& both) {
    std::vector<std::string> notes;
    for (const Change& change : changes) {
        // Another placement or cluster may bring the bytes.
        const auto why = before.no_effect(change);
        if (why && (changes.size() == 1 || after.no_effect(change)))
            notes.push_back(fmt::format("{}: no effect: {}", printable(change.text), *why));
        else if (changes.size() == 1 && both.same())
            notes.push_back(fmt::format("{}: no effect: nothing waits for it", printable(change.text)));
    }
    if (changes.size() > 1 && notes.empty() && both.same()) notes.push_back("no effect: nothing waits for any of them");
    return notes;
}

}  // namespace

std::vector<Change> parse_changes(const std::vector<std::string>& words) {
    std::vector<Change> changes;
    std::vector<Problem> problems;
    for (const std::string& word : words) try {
            changes.push_back(parse_change(word));
        } catch (const InputError& error) {
            problems.insert(problems.end(), error.problems.begin(), error.problems.end());
        }
    if (!problems.empty()) throw InputError(std::move(problems));
    return changes;
}

std::string Answer::text(Format format) const {
    if (sweep) return write(*sweep, format);
    if (run) return write(*run, format);
    return write(*training, format);
}

int compare_what_if(const Ask& ask, const ScenarioOptions& options, const Output& output) {
    const std::vector<Change> changes = parse_changes(options.what_if);
    const ScenarioOptions with = with_changes(options, changes);
    const Answer before = ask(options), after = ask(with);
    ComparisonReport report{.what = fmt::format("what if {}", fmt::join(options.what_if, ", ")),
                            .comparison = compare(before.outcome, after.outcome),
                            .notes = {},
                            .policies = {},
                            .policy_times = {},
                            .provenance = after.provenance};
    report.notes = notes_of(changes, before, after, report.comparison);
    if (has_nic_fault(after.cluster)) {
        report.notes.push_back(policy_note(after.cluster));
        for (const RailPolicy policy : kPolicies) report.policies.emplace_back(name(policy));
        report.policy_times = times_by_policy(ask, options, changes, after.outcome);
    }
    emit(output, write(report, output.format));
    return kGood;
}

}  // namespace fmsim::cli
