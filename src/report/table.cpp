#include "table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fmsim/base.hpp"

namespace fmsim {
namespace {

// Significant digits, without an exponent where people would not write one.
std::string real_text(double value, int digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    return text.find('e') == std::string::npos ? text : fmt::format("{:.0f}", value);
}

std::string cell_text(const TableCell& cell, const TableColumn& column) {
    if (const auto* word = std::get_if<std::string>(&cell)) return printable(*word);
    if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *count);
    if (const auto* value = std::get_if<double>(&cell)) {
        const bool tiny = *value != 0 && std::abs(*value) < 1e-4;
        return tiny ? fmt::format("{:.1e}", *value) : real_text(*value, column.digits);
    }
    return "-";
}

std::string csv_text(const TableCell& cell) {
    if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *count);
    if (const auto* value = std::get_if<double>(&cell)) return fmt::format("{}", *value);
    const auto* word = std::get_if<std::string>(&cell);
    if (word == nullptr) return "";
    if (word->find_first_of(",\"\r\n") == std::string::npos) return *word;
    std::string quoted = "\"";
    for (const char c : *word) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

nlohmann::ordered_json json_value(const TableCell& cell) {
    if (const auto* word = std::get_if<std::string>(&cell)) return *word;
    if (const auto* count = std::get_if<std::int64_t>(&cell)) return *count;
    if (const auto* value = std::get_if<double>(&cell)) return *value;
    return nullptr;
}

// Characters, not bytes: the continuation bytes of UTF-8 take no place.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void add_padded(std::string& line, const std::string& text, std::size_t width, bool left) {
    const std::size_t fill = width - std::min(width, width_of(text));
    if (!left) line.append(fill, ' ');
    line += text;
    if (left) line.append(fill, ' ');
}

bool is_words(const Table& table, std::size_t column) {
    return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
        return std::holds_alternative<std::string>(row[column]) || std::holds_alternative<std::monostate>(row[column]);
    });
}

}  // namespace

std::string to_text(const Table& table) {
    std::vector<std::string> lines(table.rows.size() + 2, "  ");  // heads, units, rows
    lines[0] = lines[1] = "# ";
    bool first = true;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const TableColumn& column = table.columns[c];
        if (!column.in_text) continue;
        std::vector<std::string> texts{column.head, column.unit};
        for (const auto& row : table.rows) texts.push_back(cell_text(row[c], column));
        std::size_t width = 0;
        for (const std::string& text : texts) width = std::max(width, width_of(text));
        const bool left = is_words(table, c);
        for (std::size_t line = 0; line < lines.size(); ++line) {
            if (!first) lines[line] += "  ";
            add_padded(lines[line], texts[line], width, left);
        }
        first = false;
    }
    std::string text;
    for (const std::string& line : lines) {
        text.append(line, 0, line.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::string to_csv(const Table& table) {
    std::string csv;
    const auto add_line = [&](auto&& cell_of) {
        std::string separator;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            if (!table.columns[c].in_data) continue;
            csv += separator + cell_of(c);
            separator = ",";
        }
        csv += "\n";
    };
    add_line([&](std::size_t c) { return table.columns[c].key; });
    for (const auto& row : table.rows) add_line([&](std::size_t c) { return csv_text(row[c]); });
    return csv;
}

nlohmann::ordered_json to_json(const Table& table) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
        auto object = nlohmann::ordered_json::object();
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            if (table.columns[c].in_data) object[table.columns[c].key] = json_value(row[c]);
        list.push_back(std::move(object));
    }
    return list;
}

std::string markdown_of(const Table& table) {
    const auto cell_of = [](const TableCell& cell) -> std::string {
        if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
        if (const auto* const whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
        if (const auto* const real = std::get_if<double>(&cell)) return fmt::format("{:.3g}", *real);
        return "";
    };
    std::string text = "|", rule = "|";
    for (const TableColumn& column : table.columns) {
        text += fmt::format(" {} |", column.unit.empty() ? column.head : column.head + " " + column.unit);
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const auto& row : table.rows) {
        text += "|";
        for (const TableCell& cell : row) text += fmt::format(" {} |", cell_of(cell));
        text += "\n";
    }
    return text;
}

}  // namespace fmsim
