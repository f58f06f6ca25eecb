// Numbers with units: text to value and back.
//
// A quantity is a decimal number, optional blanks, a unit from a table. Powers of 1024 have an i, powers of 1000 have
// none, and case matters only where it distinguishes: b is a bit, B a byte.
#include "fmsim/base.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace fmsim {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr double kKi = 1024;
constexpr std::array kByteUnits{
    Unit{"B", 1},
    Unit{"kB", 1e3},
    Unit{"KB", 1e3},
    Unit{"MB", 1e6},
    Unit{"GB", 1e9},
    Unit{"TB", 1e12},
    Unit{"KiB", kKi},
    Unit{"MiB", kKi* kKi},
    Unit{"K", kKi},
    Unit{"M", kKi* kKi},
    Unit{"G", kKi* kKi* kKi},
    Unit{"GiB", kKi* kKi* kKi},
    Unit{"TiB", kKi* kKi* kKi* kKi},
};
constexpr std::array kRateUnits{
    Unit{"B/s", 1},         Unit{"kB/s", 1e3},     Unit{"MB/s", 1e6},
    Unit{"GB/s", 1e9},      Unit{"TB/s", 1e12},    Unit{"GiB/s", kKi* kKi* kKi},
    Unit{"b/s", 0.125},     Unit{"Mb/s", 0.125e6}, Unit{"Gb/s", 0.125e9},
    Unit{"Tb/s", 0.125e12}, Unit{"Mbps", 0.125e6}, Unit{"Gbps", 0.125e9},
};
constexpr std::array kSpanUnits{
    Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"µs", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1},
};

constexpr std::array kWorkUnits{
    Unit{"FLOP", 1},     Unit{"MFLOP", 1e6},  Unit{"GFLOP", 1e9},
    Unit{"TFLOP", 1e12}, Unit{"PFLOP", 1e15}, Unit{"EFLOP", 1e18},
};

struct Number {
    double value;
    std::string_view unit;
};

// A finite number that is not negative, and what follows it without blanks.
std::optional<Number> split(std::string_view text) {
    double value{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    return Number{value, unit};
}

template <class Units>
std::optional<double> in_base_unit(std::string_view text, const Units& units) {
    const auto number = split(text);
    if (!number) return std::nullopt;
    for (const Unit& unit : units)
        if (unit.name == number->unit && std::isfinite(number->value * unit.factor)) return number->value * unit.factor;
    return std::nullopt;
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
    std::optional<double> value = in_base_unit(text, kByteUnits);
    if (const auto plain = split(text); plain && plain->unit.empty()) value = plain->value;
    if (!value || *value >= 0x1p63) return std::nullopt;
    // "1.001 kB" is whole, though 1.001 * 1000 in doubles is not quite.
    const double whole = std::round(*value);
    if (std::abs(*value - whole) > whole * 1e-15) return std::nullopt;
    return Bytes{static_cast<std::int64_t>(whole)};
}

std::optional<BytesPerSecond> parse_rate(std::string_view text) {
    const auto value = in_base_unit(text, kRateUnits);
    if (!value) return std::nullopt;
    return BytesPerSecond{*value};
}

std::optional<SimTime> parse_span(std::string_view text) {
    const auto value = in_base_unit(text, kSpanUnits);
    if (!value || *value * 1e15 >= static_cast<double>(SimTime::max().fs)) return std::nullopt;
    return from_seconds(*value);
}

std::optional<double> parse_flops(std::string_view text) { return in_base_unit(text, kWorkUnits); }

std::string_view name(Collective collective) {
    switch (collective) {
        case Collective::all_reduce:
            return "all_reduce";
        case Collective::all_gather:
            return "all_gather";
        case Collective::reduce_scatter:
            return "reduce_scatter";
        case Collective::broadcast:
            return "broadcast";
        case Collective::reduce:
            return "reduce";
        case Collective::all_to_all:
            return "all_to_all";
        case Collective::send_recv:
            return "send_recv";
        case Collective::barrier:
            return "barrier";
    }
    return {};
}

std::string to_text(Bytes size) {
    static constexpr std::array<std::string_view, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
    std::int64_t count = size.count;
    std::size_t power = 0;
    for (; count != 0 && count % 1024 == 0 && power + 1 < kNames.size(); ++power) count /= 1024;
    return fmt::format("{} {}", count, kNames[power]);
}

void refuse_time(double value) {
    throw LimitReached(fmt::format("a time of {:.3g} s is beyond the 2.56 hours that one run can last", value));
}

}  // namespace fmsim
