// Finish times of bare systems, in the schema of the input.
#include "fmsim/report.hpp"
#include "table.hpp"

namespace fmsim {

std::string write(const std::vector<SolvedCase>& cases, Format format) {
    if (format == Format::json) {
        auto list = nlohmann::ordered_json::array();
        for (const SolvedCase& solved : cases) {
            auto expected = nlohmann::ordered_json::array();
            for (const SolvedFlow& flow : solved.flows)
                expected.push_back({{"id", flow.id}, {"finish_s", seconds(flow.finish)}});
            list.push_back({{"id", solved.id}, {"expected", std::move(expected)}});
        }
        const nlohmann::ordered_json json{{"cases", std::move(list)}};
        return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    Table table;
    table.columns = {{.key = "case", .head = "case"},
                     {.key = "flow", .head = "flow"},
                     {.key = "finish_s", .head = "finish", .unit = "(s)", .digits = 12}};
    for (const SolvedCase& solved : cases)
        for (const SolvedFlow& flow : solved.flows) table.rows.push_back({solved.id, flow.id, seconds(flow.finish)});
    return format == Format::csv ? to_csv(table) : to_text(table);
}

}  // namespace fmsim
