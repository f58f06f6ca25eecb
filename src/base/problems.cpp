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

// How many bytes the character at the head of `text` has; 0 when it is none that can be shown: a control character
// (U+0080 to U+009f among them, which some terminals obey) or no UTF-8.
std::size_t shown_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
    if (byte(0) < 0xc2 || byte(0) > 0xf4) return 0;
    const std::size_t length = byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
    if (text.size() < length || (byte(0) == 0xc2 && byte(1) < 0xa0)) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    return length;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t whole = shown_bytes(text.substr(at));
        const std::size_t length = std::max<std::size_t>(whole, 1);
        if (at + length > kLongestShown) return shown + "...";
        if (whole > 0)
            shown += text.substr(at, length);
        else
            shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
        at += length;
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
