// Each piece takes as much as it can, then less, until the rest fits too.
#include "quick_pattern.hpp"

#include <charconv>
#include <functional>
#include <limits>
#include <optional>

namespace fmsim {
namespace {

using Rest = std::function<bool(std::string_view text)>;

// One piece of a pattern: a character, the inside of a class or of a group, and how often it comes.
struct Piece {
    enum class Kind { character, one_of, group } kind{};
    std::string_view what;
    std::uint32_t least = 1, most = 1;
    std::string_view after;  // of the pattern
};

// "{4}", "{0,2}", "?", ... at the beginning of `pattern`, which is left without it.
bool take_counts(std::string_view& pattern, Piece& piece) {
    if (pattern.empty()) return true;
    const char sign = pattern.front();
    if (sign == '?' || sign == '*' || sign == '+') {
        piece.least = sign == '+' ? 1 : 0;
        piece.most = sign == '?' ? 1 : std::numeric_limits<std::uint32_t>::max();
        pattern.remove_prefix(1);
    } else if (sign == '{') {
        const auto end = pattern.find('}');
        if (end == std::string_view::npos) return false;
        const char* const last = pattern.data() + end;
        auto read = std::from_chars(pattern.data() + 1, last, piece.least);
        if (read.ec != std::errc{}) return false;
        piece.most = piece.least;
        if (read.ptr != last) {
            if (*read.ptr != ',') return false;
            read = std::from_chars(read.ptr + 1, last, piece.most);
        }
        if (read.ec != std::errc{} || read.ptr != last) return false;
        pattern.remove_prefix(end + 1);
    }
    return true;
}

std::optional<Piece> first_piece(std::string_view pattern) {
    Piece piece;
    const char first = pattern.front();
    if (first == '[' || first == '(') {
        const auto end = pattern.find(first == '[' ? ']' : ')');
        if (end == std::string_view::npos) return std::nullopt;
        piece.kind = first == '[' ? Piece::Kind::one_of : Piece::Kind::group;
        piece.what = pattern.substr(1, end - 1);
        // No groups in groups, no classes of all but some, no names of classes.
        if (piece.what.empty() || piece.what.front() == (first == '[' ? '^' : '?')) return std::nullopt;
        if (piece.what.find_first_of(first == '[' ? "[\\" : "(") != std::string_view::npos) return std::nullopt;
        pattern.remove_prefix(end + 1);
    } else {
        if (std::string_view("|\\.^$?*+{})]").find(first) != std::string_view::npos) return std::nullopt;
        piece.what = pattern.substr(0, 1);
        pattern.remove_prefix(1);
    }
    if (!take_counts(pattern, piece)) return std::nullopt;
    piece.after = pattern;
    return piece;
}

bool is_in_class(char c, std::string_view inside) {
    for (std::size_t i = 0; i < inside.size(); ++i) {
        if (i + 2 < inside.size() && inside[i + 1] == '-') {
            if (inside[i] <= c && c <= inside[i + 2]) return true;
            i += 2;
        } else if (inside[i] == c) {
            return true;
        }
    }
    return false;
}

bool matches(std::string_view text, std::string_view pattern, const Rest& rest);

// The piece once more, or what comes after it.
bool repeats(std::string_view text, const Piece& piece, std::uint32_t made, const Rest& rest) {
    const auto again = [&](std::string_view left) {
        return left.size() < text.size() && repeats(left, piece, made + 1, rest);
    };
    if (made < piece.most) {
        if (piece.kind == Piece::Kind::group) {
            if (matches(text, piece.what, again)) return true;
        } else if (!text.empty() && (piece.kind == Piece::Kind::character ? text.front() == piece.what.front()
                                                                          : is_in_class(text.front(), piece.what))) {
            if (again(text.substr(1))) return true;
        }
    }
    return made >= piece.least && matches(text, piece.after, rest);
}

bool matches(std::string_view text, std::string_view pattern, const Rest& rest) {
    if (pattern.empty()) return rest(text);
    const auto piece = first_piece(pattern);
    return piece && repeats(text, *piece, 0, rest);
}

}  // namespace

bool surely_matches(std::string_view text, std::string_view pattern) {
    constexpr std::size_t kLongest = 64;  // each character may be a step deeper
    if (text.size() > kLongest || !pattern.starts_with('^') || !pattern.ends_with('$')) return false;
    pattern.remove_prefix(1);
    pattern.remove_suffix(1);
    return matches(text, pattern, [](std::string_view left) { return left.empty(); });
}

}  // namespace fmsim
