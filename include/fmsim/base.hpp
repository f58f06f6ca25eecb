// Words that all rooms use: ids, quantities with their units, and problems of input.
//
//   const auto size = parse_bytes("64 MiB");   // Bytes{67108864}
//   const SimTime end = SimTime{} + *size / 50_GBps;
//
// Not here: anything that knows a GPU, a link or a file format.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fmsim {

// A dense position in an array of one kind of thing. Ids give the one order in which things are visited.
template <class Tag>
struct Index {
    std::uint32_t value{};
    auto operator<=>(const Index&) const = default;
};

// An array that can only be asked with its own kind of index.
template <class Id, class T>
struct Column {
    std::vector<T> rows;
    decltype(auto) operator[](Id id) { return rows[id.value]; }
    decltype(auto) operator[](Id id) const { return rows[id.value]; }
    std::size_t size() const { return rows.size(); }
};

// Compressed rows: row i is rows[first[i]] up to, not including, rows[first[i + 1]].
template <class T>
struct Rows {
    std::vector<std::uint32_t> first{0};
    std::vector<T> rows;

    std::size_t count() const { return first.size() - 1; }
    std::span<const T> of(std::size_t i) const { return std::span(rows).subspan(first[i], first[i + 1] - first[i]); }
    void append(std::span<const T> row) {
        rows.insert(rows.end(), row.begin(), row.end());
        first.push_back(static_cast<std::uint32_t>(rows.size()));
    }
};

// What tells things apart in a refinement: of equal colours, alike so far. mix() is of two in their order (splitmix64's
// finisher); those of a multiset are added up.
using Colour = std::uint64_t;
constexpr Colour mix(Colour a, Colour b) {
    Colour x = a * 0x9e3779b97f4a7c15ull + b + 0x2545f4914f6cdd1dull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
constexpr Colour colour_of(double value) { return std::bit_cast<Colour>(value); }
std::size_t distinct(std::vector<Colour> colours);

// How often 1 doubles on the way to `n`, straight between powers of two (log2, 0.09 too little at most), 0 below 1: with
// nothing but sums and quotients, so the same on every processor.
double doublings(double n);

using DomainId = Index<struct DomainTag>;  // what one NVLink fabric joins: an instance, an UltraServer, a rack

struct Bytes {
    std::int64_t count{};
    auto operator<=>(const Bytes&) const = default;
};

// One direction. 1 GB/s is 1e9 bytes a second.
struct BytesPerSecond {
    double value{};
    auto operator<=>(const BytesPerSecond&) const = default;
};

// An instant since the start of a run, or a span between two. 2^63 fs is 2.56 hours.
struct SimTime {
    std::int64_t fs{};
    auto operator<=>(const SimTime&) const = default;
    static constexpr SimTime max() { return {std::numeric_limits<std::int64_t>::max()}; }
};

constexpr SimTime operator+(SimTime a, SimTime b) { return {a.fs + b.fs}; }
constexpr SimTime operator-(SimTime a, SimTime b) { return {a.fs - b.fs}; }
constexpr double seconds(SimTime t) { return static_cast<double>(t.fs) * 1e-15; }
constexpr double microseconds(SimTime t) { return static_cast<double>(t.fs) * 1e-9; }

[[noreturn]] void refuse_time(double seconds);  // throws LimitReached

// The nearest femtosecond, half of one away from 0. Throws LimitReached when the time does not fit.
inline SimTime from_seconds(double value) {
    const double fs = value * 1e15;
    constexpr auto kMost = static_cast<double>(SimTime::max().fs);
    if (!(fs < kMost && -fs < kMost)) [[unlikely]]  // written so that NaN is refused too
        refuse_time(value);
    const auto whole = static_cast<std::int64_t>(fs);
    const double rest = fs - static_cast<double>(whole);
    return {whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0)};
}

// `earlier` + `span` where the sum may not fit: throws LimitReached then, instead of wrapping.
inline SimTime later(SimTime earlier, SimTime span) {
    if (span.fs > SimTime::max().fs - earlier.fs) [[unlikely]]
        refuse_time(seconds(earlier) + seconds(span));
    return earlier + span;
}

inline SimTime operator/(Bytes size, BytesPerSecond rate) {
    return from_seconds(static_cast<double>(size.count) / rate.value);
}

constexpr BytesPerSecond operator""_GBps(unsigned long long n) { return {static_cast<double>(n) * 1e9}; }
constexpr BytesPerSecond operator""_Gbps(unsigned long long n) { return {static_cast<double>(n) * 1e9 / 8}; }
constexpr SimTime operator""_us(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000'000}; }

// Quantities as people write them; nothing when the text is no such quantity, or has no unit where one is needed.
//   bytes: "512 B", "64 MiB", "1.5 GB", and a plain whole number, which is bytes
//   rate:  "400 Gb/s", "400 Gbps", "450 GB/s", "20 GiB/s"
//   span:  "18 us", "1.5 ms", "250 ns", "2 s"
std::optional<Bytes> parse_bytes(std::string_view text);
std::optional<BytesPerSecond> parse_rate(std::string_view text);
std::optional<SimTime> parse_span(std::string_view text);
//   work:  "3.2 TFLOP", in FLOPs
std::optional<double> parse_flops(std::string_view text);

// The shortest exact binary form: "64 MiB", "1000 B".
std::string to_text(Bytes size);

// A value of the catalogue and where it comes from.
struct SourcedValue {
    std::string file;     // of the catalogue
    std::string pointer;  // RFC 6901
    std::string value;
    std::string confidence;
    std::string date;
    std::string source;
    std::string note;
};

// What is wrong with an input, where. `line` counts from 1; 0 is unknown. `pointer` is RFC 6901; empty for the whole.
struct Problem {
    std::string file;  // as the user named it
    std::size_t line{};
    std::string pointer;
    std::string expected;
    std::string found;
    bool operator==(const Problem&) const = default;
};

// "p5.json:12: /nics/3/rate: expected a rate with a unit, such as "400 Gb/s"; found 400". Control characters of the
// input come out escaped, so that no file can write to a terminal.
std::string to_text(const Problem& problem);

// `text` cut to a length a line can hold; control characters and what is no UTF-8 escaped.
std::string printable(std::string_view text);

// The word of `known` closest to `word`, when one is close enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// What a group of ranks can do together. A size means, as in nccl-tests: all_reduce, broadcast, reduce: the buffer;
// all_gather: the gathered total; reduce_scatter: one rank's input; all_to_all: one rank's send buffer; send_recv (each
// rank to the next, the last to the first): the message; barrier: nothing.
enum class Collective : std::uint8_t {
    all_reduce,
    all_gather,
    reduce_scatter,
    broadcast,
    reduce,
    all_to_all,
    send_recv,
    barrier
};
inline constexpr std::array kCollectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                         Collective::broadcast,  Collective::reduce,     Collective::all_to_all,
                                         Collective::send_recv,  Collective::barrier};
std::string_view name(Collective collective);  // "all_reduce"

// An input that cannot be used, with all its problems. Thrown by the read_ functions and by checks of user values.
struct InputError : std::runtime_error {
    explicit InputError(std::vector<Problem> all);
    std::vector<Problem> problems;
};

// A sound question whose answer is that it cannot be done, such as a transfer over a link that is down.
struct Infeasible : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A run that needs more than the program can represent, such as a time beyond 2.56 hours.
struct LimitReached : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace fmsim
