// A table of values with named columns, and its three writers.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "fmsim/report.hpp"

namespace fmsim {

// Text, a whole number, a real number, or nothing ("-" in text, null in JSON, empty in CSV).
using TableCell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct TableColumn {
    std::string key;   // JSON, CSV: "time_us"
    std::string head;  // text: "time"
    std::string unit;  // text, under the head: "(us)"
    int digits = 5;    // significant, of a real number in text
    bool in_text = true;
    bool in_data = true;
};

struct Table {
    std::vector<TableColumn> columns;
    std::vector<std::vector<TableCell>> rows;
};

// Aligned, heads behind '#' as nccl-tests prints them. Words stand left, numbers right.
std::string to_text(const Table& table);
std::string to_csv(const Table& table);
std::string markdown_of(const Table& table);  // real numbers with three digits
nlohmann::ordered_json to_json(const Table& table);

// A report in the format asked for, of which only that one is written.
template <class Report, class Text, class Json, class Csv>
std::string in_format(Format format, const Report& report, Text text, Json json, Csv csv) {
    switch (format) {
        case Format::text:
            return text(report);
        case Format::json:
            return json(report);
        case Format::csv:
            return csv(report);
    }
    return {};
}

}  // namespace fmsim
