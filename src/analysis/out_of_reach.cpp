// Tables that the model cannot reach, with the errors of the run at hand.
#include <algorithm>
#include <set>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

// "b200-*-sendrecv": each star stands for any letters, also none.
bool fits(std::string_view pattern, std::string_view word) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == word;
    if (!word.starts_with(pattern.substr(0, star))) return false;
    for (std::size_t at = star; at <= word.size(); ++at)
        if (fits(pattern.substr(star + 1), word.substr(at))) return true;
    return false;
}

}  // namespace

bool is_said(const OutOfReach& said, const ValidatedRow& row) {
    return (said.collective.empty() || said.collective == row.collective) && row.size >= said.from &&
           (said.below.count == 0 || row.size < said.below) &&
           std::any_of(said.tables.begin(), said.tables.end(),
                       [&](const std::string& pattern) { return fits(pattern, row.table); });
}

std::vector<OutOfReachErrors> out_of_reach(const std::vector<OutOfReach>& said, const std::vector<ValidatedRow>& rows) {
    std::vector<OutOfReachErrors> all;
    for (const OutOfReach& one : said) {
        std::vector<double> percents;
        std::set<std::string_view> tables;
        for (const ValidatedRow& row : rows) {
            if (!row.scored || !is_said(one, row)) continue;
            percents.push_back((*row.predicted_us / row.measured_us - 1) * 100);
            tables.insert(row.table);
        }
        all.push_back({one, tables.size(), percents.size(), quantiles_of(percents)});
    }
    return all;
}

}  // namespace fmsim
