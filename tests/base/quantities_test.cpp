// Text to quantities and back, and what time can hold.
#include <cmath>

#include <catch2/catch.hpp>

#include "fmsim/base.hpp"

namespace fmsim {
namespace {

TEST_CASE("bytes are written with a unit, or as a plain whole number") {
    const auto [text, bytes] = GENERATE(table<std::string, std::int64_t>({
        {"0", 0},
        {"4096", 4096},
        {"1e3", 1000},
        {"512 B", 512},
        {"512B", 512},
        {"1  kB", 1000},
        {"1 KB", 1000},
        {"1 KiB", 1024},
        {"64K", 65'536},
        {"0.5 MiB", 524'288},
        {"128M", 134'217'728},
        {"2 MB", 2'000'000},
        {"1.5 GB", 1'500'000'000},
        {"1 GiB", 1'073'741'824},
        {"8G", 8'589'934'592},
        {"1 TB", 1'000'000'000'000},
        {"1 TiB", 1'099'511'627'776},
        {"1.001 kB", 1001},  // whole, though 1.001 * 1000 in doubles is below 1001
        {"4.35 kB", 4350},
        {"8388607 TiB", 8'388'607LL << 40},
    }));
    CAPTURE(text);
    REQUIRE(parse_bytes(text));
    CHECK(parse_bytes(text)->count == bytes);
}

TEST_CASE("what is no whole number of bytes is refused") {
    const std::string text = GENERATE("", " ", "B", "MiB", "64 mib", "64 Mi", "64 MiB ", " 64 MiB", "64 MiB/s", "64 Gb",
                                      "-1", "-0", "+1", "0.5", "0.5 B", "1.0001 kB", "1,5 GB", "0x10", "nan", "inf",
                                      "1e400", "1e19", "9e6 TiB", "8388608 TiB", "64 MiB MiB", "64\tMiB");
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text));
}

TEST_CASE("a rate needs a unit; b is a bit, B a byte") {
    const auto [text, bytes_per_second] = GENERATE(table<std::string, double>({
        {"400 Gb/s", 50e9},
        {"400 Gbps", 50e9},
        {"400Gbps", 50e9},
        {"450 GB/s", 450e9},
        {"20 GiB/s", 20.0 * 1'073'741'824},
        {"3.35 TB/s", 3.35e12},
        {"1.6 Tb/s", 0.2e12},
        {"800 Mb/s", 100e6},
        {"100 Mbps", 12.5e6},
        {"8 b/s", 1},
        {"1 B/s", 1},
        {"1 kB/s", 1000},
        {"1 MB/s", 1e6},
        {"0 GB/s", 0},
    }));
    CAPTURE(text);
    REQUIRE(parse_rate(text));
    CHECK(parse_rate(text)->value == Approx(bytes_per_second).epsilon(1e-15));
}

TEST_CASE("what is no rate is refused") {
    const std::string text =
        GENERATE("", "400", "400 G", "400 GB", "400 gb/s", "-400 Gb/s", "GB/s", "nan GB/s", "inf GB/s", "1e308 TB/s");
    CAPTURE(text);
    CHECK_FALSE(parse_rate(text));
}

TEST_CASE("a span needs a unit and is kept to the femtosecond") {
    const auto [text, fs] = GENERATE(table<std::string, std::int64_t>({
        {"0 s", 0},
        {"250 ns", 250'000'000},
        {"18 us", 18'000'000'000},
        {"18us", 18'000'000'000},
        {"18 µs", 18'000'000'000},
        {"1.5 ms", 1'500'000'000'000},
        {"2 s", 2'000'000'000'000'000},
        {"0.000001 ns", 1},
        {"0.0000004 ns", 0},
        {"9223 s", 9'223'000'000'000'000'000},
    }));
    CAPTURE(text);
    REQUIRE(parse_span(text));
    CHECK(parse_span(text)->fs == fs);
}

TEST_CASE("what is no span that a run can hold is refused") {
    const std::string text = GENERATE("", "18", "18 usec", "18 US", "-1 us", "us", "nan s", "9224 s", "1e300 s");
    CAPTURE(text);
    CHECK_FALSE(parse_span(text));
}

TEST_CASE("a size is shown in the largest binary unit that is exact, and read back as it was") {
    const auto [bytes, text] = GENERATE(table<std::int64_t, std::string>({
        {0, "0 B"},
        {1, "1 B"},
        {1000, "1000 B"},
        {1024, "1 KiB"},
        {1536, "1536 B"},
        {67'108'864, "64 MiB"},
        {67'108'865, "67108865 B"},
        {1LL << 30, "1 GiB"},
        {1LL << 40, "1 TiB"},
        {1LL << 50, "1024 TiB"},
    }));
    CHECK(to_text(Bytes{bytes}) == text);
    CHECK(parse_bytes(text) == Bytes{bytes});
}

TEST_CASE("a number of seconds becomes the nearest femtosecond") {
    CHECK(from_seconds(0) == SimTime{0});
    CHECK(from_seconds(1e-15) == SimTime{1});
    CHECK(from_seconds(1.4e-15) == SimTime{1});
    CHECK(from_seconds(1.6e-15) == SimTime{2});
    CHECK(from_seconds(-1) == SimTime{-1'000'000'000'000'000});
    CHECK(from_seconds(9223).fs == 9'223'000'000'000'000'000);
}

TEST_CASE("a number of seconds that 63 bits of femtoseconds cannot hold is refused") {
    const double value = GENERATE(9223.4, 1e300, HUGE_VAL, -9223.4, -1e300, -HUGE_VAL, std::nan(""));
    CAPTURE(value);
    CHECK_THROWS_AS(from_seconds(value), LimitReached);
}

TEST_CASE("work is FLOPs with a unit, and no rate") {
    CHECK(parse_flops("3.2 TFLOP") == 3.2e12);
    CHECK(parse_flops("1 PFLOP") == 1e15);
    CHECK(parse_flops("7FLOP") == 7);
    CHECK(parse_flops("0 FLOP") == 0);
    for (const char* text :
         {"", "1e12", "3 TFLOP/s", "3 TFLOPs", "3 tflop", "-1 FLOP", "inf FLOP", "nan FLOP", "1e308 TFLOP"})
        CHECK_FALSE(parse_flops(text));
}

TEST_CASE("a sum of times stops at the limit instead of wrapping") {
    const SimTime last = SimTime::max();
    CHECK(later({1}, {2}) == SimTime{3});
    CHECK(later(last, {0}) == last);
    CHECK(later({last.fs - 1}, {1}) == last);
    CHECK_THROWS_AS(later(last, {1}), LimitReached);
    CHECK_THROWS_AS(later({1}, last), LimitReached);
    CHECK_THROWS_AS(later(last, last), LimitReached);
}

TEST_CASE("bytes over a rate are a time") {
    CHECK(Bytes{1000} / 1_GBps == 1_us);
    CHECK(Bytes{0} / 1_GBps == SimTime{});
    CHECK(Bytes{50'000} / 400_Gbps == 1_us);
    CHECK_THROWS_AS(Bytes{1} / 0_GBps, LimitReached);
    CHECK_THROWS_AS(Bytes{0} / 0_GBps, LimitReached);
}

TEST_CASE("times are shown in seconds and microseconds") {
    CHECK(seconds(SimTime{1'500'000'000'000'000}) == Approx(1.5).epsilon(1e-15));
    CHECK(microseconds(18_us) == Approx(18).epsilon(1e-15));
}

}  // namespace
TEST_CASE("doublings are log2 at powers of two, straight between, and none below 1") {
    for (const double none : {-3.0, 0.0, 0.5, 1.0}) CHECK(doublings(none) == 0);
    CHECK(doublings(2) == 1);
    CHECK(doublings(1024) == 10);
    CHECK(doublings(3) == 1.5);
    CHECK(doublings(7) == 2.75);
}

}  // namespace fmsim
