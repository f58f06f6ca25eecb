// How far predictions of tokens to experts are from tables, by dispatcher, and whether they put dispatchers in order.
//
// Rows count as they are, and tables by their medians, since one table has thirty rows and another one. A pair is two
// rows of different dispatchers on as many GPUs of one machine, of one way and number of tokens, whose times differ by
// more than a tenth.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

constexpr double kApart = 1.1;

bool counts(const ValidatedRow& row) { return row.scored && row.tokens != 0; }

std::vector<double> errors_of(const std::vector<const ValidatedRow*>& rows) {
    std::vector<double> errors;
    for (const ValidatedRow* row : rows) errors.push_back((*row->predicted_us / row->measured_us - 1) * 100);
    return errors;
}

std::vector<OrderedPair> pairs_of(const std::vector<const ValidatedRow*>& rows) {
    std::map<std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>, std::vector<const ValidatedRow*>>
        alike;
    for (const ValidatedRow* row : rows) alike[{row->cluster, row->gpus, row->collective, row->tokens}].push_back(row);
    std::vector<OrderedPair> pairs;
    for (const auto& [where, all] : alike)
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = i + 1; j < all.size(); ++j) {
                const ValidatedRow *fast = all[i], *slow = all[j];
                if (fast->algorithm == slow->algorithm) continue;
                if (fast->measured_us > slow->measured_us) std::swap(fast, slow);
                if (slow->measured_us <= kApart * fast->measured_us) continue;
                pairs.push_back({.fast = *fast, .slow = *slow, .right = *fast->predicted_us < *slow->predicted_us});
            }
    return pairs;
}

}  // namespace

std::optional<ExpertScore> score_experts(const std::vector<ValidatedRow>& rows) {
    std::vector<const ValidatedRow*> all;
    std::map<std::string, std::vector<const ValidatedRow*>> tables;
    std::map<std::pair<std::string, std::string>, std::vector<const ValidatedRow*>> dispatchers;
    std::vector<double> plain;
    for (const ValidatedRow& row : rows) {
        if (!counts(row)) continue;
        all.push_back(&row);
        tables[row.table].push_back(&row);
        dispatchers[{row.algorithm, row.collective}].push_back(&row);
        plain.push_back((row.plain_us / row.measured_us - 1) * 100);
    }
    if (all.empty()) return std::nullopt;
    ExpertScore score{.rows = all.size(),
                      .tables = tables.size(),
                      .of_rows = quantiles_of(errors_of(all)),
                      .of_tables = {},
                      .plain = quantiles_of(plain),
                      .by_dispatcher = {},
                      .pairs = pairs_of(all)};
    std::vector<double> medians;
    for (const auto& [table, of_table] : tables) medians.push_back(quantiles_of(errors_of(of_table)).median);
    score.of_tables = quantiles_of(medians);
    for (const auto& [what, of_it] : dispatchers)
        score.by_dispatcher.push_back({.dispatcher = what.first,
                                       .collective = what.second,
                                       .rows = of_it.size(),
                                       .errors = quantiles_of(errors_of(of_it))});
    return score;
}

}  // namespace fmsim
