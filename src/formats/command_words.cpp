// Words of the command line -> values: files, size ranges, collectives, protocols.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20;
constexpr std::size_t kMostSizes = 10'000;

[[noreturn]] void refuse(std::string where, std::string expected, std::string_view found) {
    throw InputError({{.file = std::move(where),
                       .line = 0,
                       .pointer = "",
                       .expected = std::move(expected),
                       .found = std::string(found)}});
}

Bytes size_word(std::string_view word) {
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    const auto size = parse_bytes(word);
    if (!size) refuse("--sizes", "expected a size such as \"64MiB\" or 1048576", fmt::format("\"{}\"", word));
    if (*size > kLargestSize)
        refuse("--sizes", fmt::format("expected a size of at most {}", to_text(kLargestSize)), word);
    return *size;
}

std::vector<Bytes> size_range(Bytes first, Bytes last, double factor, std::string_view words) {
    if (first.count < 1 || last < first) refuse("--sizes", "expected FROM..TO with 1 <= FROM <= TO", words);
    if (!(factor > 1) || !std::isfinite(factor))
        refuse("--factor", "expected a factor above 1", fmt::format("{}", factor));
    std::vector<Bytes> sizes;
    for (Bytes size = first; size <= last;) {
        if (sizes.size() == kMostSizes) refuse("--sizes", fmt::format("expected at most {} sizes", kMostSizes), words);
        sizes.push_back(size);
        const double next =
            std::max(std::round(static_cast<double>(size.count) * factor), static_cast<double>(size.count) + 1);
        if (next > static_cast<double>(last.count)) break;
        size.count = static_cast<std::int64_t>(next);
    }
    return sizes;
}

std::string lower_case(std::string_view word) {
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

// The one of `all` with this name, in any case of letters.
template <class All>
auto named(const All& all, std::string_view word, const char* where, const char* what) {
    std::vector<std::string> names;
    for (const auto& one : all) {
        if (lower_case(name(one)) == lower_case(word)) return one;
        names.emplace_back(name(one));
    }
    refuse(where, fmt::format("expected {}: {}", what, fmt::join(names, ", ")), word);
}

}  // namespace

std::string read_file(const std::string& path) {
    if (path.empty()) refuse("", "expected the name of a file", "");
    std::ifstream file;
    if (path != "-") {
        std::error_code unknown;
        if (std::filesystem::is_directory(path, unknown)) refuse(path, "expected a file", "a folder");
        file.open(path, std::ios::binary);
        if (!file) refuse(path, "expected a file that can be read", "");
    }
    std::istream& in = path == "-" ? std::cin : file;
    std::string text;
    std::array<char, 1 << 16> block{};
    while (in.read(block.data(), block.size()) || in.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kLargestFile) refuse(path, "expected a file of at most 256 MiB", "");
    }
    if (in.bad()) refuse(path, "expected a file that can be read", "a read error");
    return text;
}

std::vector<Bytes> parse_sizes(std::string_view words, double factor) {
    if (const auto dots = words.find(".."); dots != std::string_view::npos)
        return size_range(size_word(words.substr(0, dots)), size_word(words.substr(dots + 2)), factor, words);
    std::vector<Bytes> sizes;
    for (std::size_t from = 0; from <= words.size();) {
        const std::size_t comma = std::min(words.find(',', from), words.size());
        sizes.push_back(size_word(words.substr(from, comma - from)));
        from = comma + 1;
    }
    return sizes;
}

Collective parse_collective(std::string_view word) { return named(kCollectives, word, "", "a collective"); }

AlgorithmKind parse_algorithm(std::string_view word) { return named(kAlgorithmKinds, word, "--algo", "an algorithm"); }

Protocol parse_protocol(std::string_view word) { return named(kProtocols, word, "--proto", "a protocol"); }

}  // namespace fmsim
