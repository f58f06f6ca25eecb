// Any text as a quantity, a range of sizes, a protocol; and as what a message has to show.
#include "fmsim/formats.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    const std::string_view text = test::as_text(bytes, size);
    if (const auto parsed = parse_bytes(text)) {
        test::require(parsed->count >= 0);
        if (*parsed <= kLargestSize) test::require(parse_bytes(to_text(*parsed)) == parsed);
    }
    if (const auto rate = parse_rate(text)) test::require(rate->value >= 0);
    if (const auto span = parse_span(text)) test::require(span->fs >= 0);
    if (const auto work = parse_flops(text)) test::require(*work >= 0);
    test::only_refusals([&] {
        const double factor = text.empty() ? 2 : 1 + static_cast<unsigned char>(text.front()) / 16.0;
        const auto sizes = parse_sizes(text, factor);
        test::require(!sizes.empty());
        for (const Bytes one : sizes) test::require(one.count >= 0 && one <= kLargestSize);
    });
    test::only_refusals([&] { parse_protocol(text); });
    test::only_refusals([&] { parse_collective(text); });
    const std::string shown = printable(text);
    test::require(printable(shown).size() <= 83);
    return 0;
}
