// The part of a validation that is about tokens to experts: by dispatcher, in all, left out, and who is faster.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

using Cells = std::vector<TableCell>;

Cells quantiles(Cells cells, std::size_t rows, const ErrorQuantiles& errors) {
    cells.insert(cells.end(), {static_cast<std::int64_t>(rows), errors.median, errors.p90, errors.worst, errors.bias});
    return cells;
}

Table errors_table(const ExpertScore& score) {
    Table table;
    table.columns = {{.key = "dispatcher", .head = "dispatcher"},
                     {.key = "operation", .head = "operation"},
                     {.key = "rows", .head = "rows"},
                     {.key = "median_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "p90_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "worst_percent", .head = "worst", .unit = "(%)", .digits = 3},
                     {.key = "bias_percent", .head = "bias", .unit = "(%)", .digits = 3}};
    const auto add = [&](const std::string& a, const std::string& b, std::size_t rows, const ErrorQuantiles& errors) {
        table.rows.push_back(quantiles({a, b}, rows, errors));
    };
    for (const auto& [dispatcher, collective, rows, errors] : score.by_dispatcher)
        add(dispatcher, collective, rows, errors);
    add("all", "rows", score.rows, score.of_rows);
    add("all", "medians of tables", score.tables, score.of_tables);
    add("bytes / bandwidth", "rows", score.rows, score.plain);
    return table;
}

Table left_out_table(const ExpertsLeftOut& left, const char* what, bool each) {
    Table table;
    table.columns = {{.key = "without", .head = fmt::format("without the {}", what)}, {.key = "rows", .head = "rows"}};
    for (const char* seen : {"seen", "unseen"}) {
        table.columns.push_back(
            {.key = fmt::format("{}_median_percent", seen), .head = seen, .unit = "median", .digits = 3});
        table.columns.push_back(
            {.key = fmt::format("{}_p90_percent", seen), .head = seen, .unit = "90th", .digits = 3});
    }
    const auto add = [&](const std::string& name, std::size_t rows, const ErrorQuantiles& a, const ErrorQuantiles& b) {
        table.rows.push_back({name, static_cast<std::int64_t>(rows), a.median, a.p90, b.median, b.p90});
    };
    std::size_t rows = 0;
    for (const LeftOutExperts& one : left.each) {
        rows += one.rows;
        if (each) add(one.what, one.rows, one.seen, one.unseen);
    }
    add(fmt::format("each {} in turn", what), rows, left.seen, left.unseen);
    return table;
}

std::size_t right_pairs(const ExpertScore& score) {
    return static_cast<std::size_t>(
        std::count_if(score.pairs.begin(), score.pairs.end(), [](const OrderedPair& pair) { return pair.right; }));
}

// Pairs that came out the wrong way round.
Table wrong_table(const ExpertScore& score) {
    Table table;
    table.columns = {{.key = "cluster", .head = "cluster"},
                     {.key = "operation", .head = "operation"},
                     {.key = "tokens", .head = "tokens"},
                     {.key = "fast", .head = "faster"},
                     {.key = "slow", .head = "than"},
                     {.key = "measured_ratio", .head = "measured", .digits = 3},
                     {.key = "predicted_ratio", .head = "predicted", .digits = 3}};
    for (const OrderedPair& pair : score.pairs)
        if (!pair.right)
            table.rows.push_back({pair.fast.cluster, pair.fast.collective, std::int64_t{pair.fast.tokens},
                                  pair.fast.algorithm, pair.slow.algorithm,
                                  pair.slow.measured_us / pair.fast.measured_us,
                                  *pair.slow.predicted_us / *pair.fast.predicted_us});
    return table;
}

// Two dispatchers of which now one is the faster, now the other: at how many tokens which.
Table turns_table(const ExpertScore& score) {
    struct Turn {
        std::map<std::uint32_t, std::string> faster;  // by tokens
        bool right = true;
    };
    std::map<std::array<std::string, 4>, Turn> turns;
    for (const OrderedPair& pair : score.pairs) {
        const auto [first, second] = std::minmax(pair.fast.algorithm, pair.slow.algorithm);
        Turn& turn = turns[{pair.fast.cluster, pair.fast.collective, first, second}];
        turn.faster[pair.fast.tokens] = pair.fast.algorithm;
        turn.right = turn.right && pair.right;
    }
    Table table;
    table.columns = {{.key = "cluster", .head = "cluster"},
                     {.key = "operation", .head = "operation"},
                     {.key = "faster", .head = "measured the faster, by tokens"},
                     {.key = "predicted", .head = "predicted"}};
    for (const auto& [what, turn] : turns) {
        std::string text, last;
        std::size_t changes = 0;
        for (const auto& [tokens, faster] : turn.faster) {
            changes += !last.empty() && faster != last;
            if (faster != last) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", tokens, faster);
            last = faster;
        }
        if (changes > 0)
            table.rows.push_back({what[0], what[1], text, std::string(turn.right ? "all right" : "not all")});
    }
    return table;
}

std::string pairs_line(const ExpertScore& score) {
    return fmt::format("{} of {} pairs of dispatchers that differ by over a tenth are in the order measured",
                       right_pairs(score), score.pairs.size());
}

}  // namespace

std::string experts_text(const ValidationReport& report) {
    if (!report.experts) return "";
    std::string text = "# tokens to experts and back (docs/models/moe.md)\n" + to_text(errors_table(*report.experts));
    text += "# " + pairs_line(*report.experts) + "\n";
    if (const Table wrong = wrong_table(*report.experts); !wrong.rows.empty()) text += to_text(wrong);
    if (report.experts_without_source) text += to_text(left_out_table(*report.experts_without_source, "source", true));
    if (report.experts_without_table) text += to_text(left_out_table(*report.experts_without_table, "table", false));
    return text;
}

std::string experts_json(const ValidationReport& report) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (!report.experts) return json.dump();
    json["experts"] = to_json(errors_table(*report.experts));
    json["experts_pairs"] = {{"pairs", report.experts->pairs.size()},
                             {"right", right_pairs(*report.experts)},
                             {"wrong", to_json(wrong_table(*report.experts))}};
    if (report.experts_without_source)
        json["experts_without_source"] = to_json(left_out_table(*report.experts_without_source, "source", true));
    if (report.experts_without_table)
        json["experts_without_table"] = to_json(left_out_table(*report.experts_without_table, "table", true));
    return json.dump();
}

std::string experts_markdown(const ValidationReport& report) {
    if (!report.experts) return "";
    std::string text =
        "\n## Tokens to experts and back\n\nBy dispatcher (docs/models/moe.md); beside them the table's bytes over the "
        "links' rate.\n\n" +
        markdown_of(errors_table(*report.experts)) + "\n" + pairs_line(*report.experts) + ".\n";
    if (const Table wrong = wrong_table(*report.experts); !wrong.rows.empty()) text += "\n" + markdown_of(wrong);
    if (const Table turns = turns_table(*report.experts); !turns.rows.empty())
        text +=
            "\nWhere the order turns with the number of tokens. Few tokens: who starts sooner wins, whose kernels wait "
            "for no "
            "notice of sizes and whose proxies fence fewer peers. Many tokens: who sends fewer copies wins, if its "
            "links "
            "are the limit; one more domain makes a copy a domain dearer and a copy an expert hardly "
            "(docs/models/moe.md has the points).\n\n" +
            markdown_of(turns);
    for (const auto& [left, what] :
         {std::pair(&report.experts_without_source, "source"), std::pair(&report.experts_without_table, "table")})
        if (*left)
            text += fmt::format("\nConstants fitted without each {}, from values that all dispatchers share:\n\n{}",
                                what, markdown_of(left_out_table(**left, what, std::string_view(what) == "source")));
    return text;
}

}  // namespace fmsim
