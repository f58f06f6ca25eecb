#include "machine_names.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "fmsim/base.hpp"

namespace fmsim {
namespace {

constexpr std::string_view kHgx = "hgx-";
constexpr std::string_view kRoce = "-roce";
constexpr std::uint32_t kMostNics = 64;

std::optional<std::uint32_t> whole(std::string_view text) {
    std::uint32_t number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

void refuse_words(std::string_view words, std::string expected) {
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = fmt::format("\"{}\"", words),
                       .expected = std::move(expected),
                       .found = ""}});
}

CountedName split_count(std::string_view words) {
    const auto colon = words.rfind(':');
    if (colon == std::string_view::npos) return {words};
    const auto count = whole(words.substr(colon + 1));
    if (!count || *count == 0)
        refuse_words(words, "expected a cluster such as \"p5en.48xlarge:16\", with a count of 1 or more");
    return {words.substr(0, colon), *count};
}

bool is_hgx_name(std::string_view name) { return name.starts_with(kHgx); }

HgxName hgx_name_of(std::string_view name) {
    std::string_view rest = name.substr(kHgx.size());
    const bool roce = rest.ends_with(kRoce);
    if (roce) rest.remove_suffix(kRoce.size());
    const auto dash = rest.rfind('-');
    const std::string_view last = dash == std::string_view::npos ? std::string_view{} : rest.substr(dash + 1);
    const auto cross = last.find('x');
    const auto nics = whole(last.substr(0, cross));
    const auto gbps = cross == std::string_view::npos ? std::nullopt : whole(last.substr(cross + 1));
    if (!nics || !gbps) {
        if (roce) refuse_words(name, "expected NICs before \"-roce\", such as \"hgx-h100-8x400-roce\"");
        return {.board = std::string(rest), .nics = 0, .gbps = 0, .roce = false};
    }
    if (*nics == 0 || *nics > kMostNics)
        refuse_words(name, fmt::format("expected 1 to {} NICs, such as \"hgx-h100-8x400\"", kMostNics));
    return {.board = std::string(rest.substr(0, dash)), .nics = *nics, .gbps = *gbps, .roce = roce};
}

}  // namespace fmsim
