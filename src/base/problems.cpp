// What a refused input says: the place, what belongs there, what was found, and the word that was probably meant.
#include "fmsim/base.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fmsim {
namespace {

constexpr std::size_t kLongestShown = 80;

std::string joined(const std::vector<Problem>& problems) {
    std::string text;
    for (const Problem& problem : problems) {
        if (!text.empty()) text += '\n';
        text += to_text(problem);
    }
    return text;
}

// Levenshtein distance, one row at a time.
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t kept = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, kept});
        }
    }
    return row.back();
}

// How long the control character at the head of `text` is; 0 when another one stands there. U+0080 to U+009f, which
// some terminals obey, have two bytes in UTF-8.
std::size_t control_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
    return byte(0) == 0xc2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    std::string_view rest = text.substr(0, kLongestShown);
    while (!rest.empty()) {
        const std::size_t control = control_bytes(rest);
        for (const char c : rest.substr(0, control)) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        if (control == 0) shown += rest.front();
        rest.remove_prefix(std::max<std::size_t>(control, 1));
    }
    // A cut may fall inside a character of several bytes: drop the broken end.
    if (text.size() > kLongestShown) {
        while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xc0) == 0x80) shown.pop_back();
        if (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80) != 0) shown.pop_back();
        shown += "...";
    }
    return shown;
}

std::string to_text(const Problem& problem) {
    std::string place = printable(problem.file);
    if (problem.line != 0) place += fmt::format(":{}", problem.line);
    if (!problem.pointer.empty()) {
        if (!place.empty()) place += ": ";
        place += printable(problem.pointer);
    }
    std::string text = place;
    if (!text.empty()) text += ": ";
    text += problem.expected;
    if (!problem.found.empty()) text += "; found " + printable(problem.found);
    return text;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    if (word.size() > kLongestShown) return std::nullopt;
    const auto closest = std::min_element(
        known.begin(), known.end(), [&](const auto& a, const auto& b) { return edits(word, a) < edits(word, b); });
    if (closest == known.end() || edits(word, *closest) > std::max<std::size_t>(2, word.size() / 3))
        return std::nullopt;
    return *closest;
}

InputError::InputError(std::vector<Problem> all) : std::runtime_error(joined(all)), problems(std::move(all)) {}

}  // namespace fmsim
