// Words of the command line, and the files it names.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

using test::refusal;

std::vector<std::int64_t> sizes(const std::string& words, double factor = 2) {
    std::vector<std::int64_t> counts;
    for (const Bytes size : parse_sizes(words, factor)) counts.push_back(size.count);
    return counts;
}
using Counts = std::vector<std::int64_t>;

TEST_CASE("8..16GiB by a factor of 2 is 32 sizes, both ends among them") {
    const Counts counts = sizes("8..16GiB");
    CHECK(counts.size() == 32);  // 2^3 to 2^34
    CHECK(counts.front() == 8);
    CHECK(counts.back() == 16LL << 30);
}

TEST_CASE("a range goes up by its factor and stops at its end") {
    const auto [words, factor, counts] = GENERATE(table<std::string, double, Counts>({
        {"8..8", 2, {8}},
        {"8..33", 2, {8, 16, 32}},
        {"1 KiB .. 16 KiB", 4, {1024, 4096, 16384}},
        {"1..4", 1.0001, {1, 2, 3, 4}},  // at least one byte further each time
        {"10..40", 1.5, {10, 15, 23, 35}},
        {"1..1000", 1e300, {1}},
        {"1..1024TiB", 1e15, {1, 1'000'000'000'000'000}},
    }));
    CAPTURE(words, factor);
    CHECK(sizes(words, factor) == counts);
}

TEST_CASE("a list is taken as it is, blanks round each size left out") {
    const auto [words, counts] = GENERATE(table<std::string, Counts>({
        {"8", {8}},
        {"0", {0}},
        {"1 MiB,4MiB,1000", {1 << 20, 4 << 20, 1000}},
        {"  4K , 8 ,8", {4096, 8, 8}},
        {"1024 TiB", {1LL << 50}},
    }));
    CHECK(sizes(words) == counts);
}

TEST_CASE("what is no size is refused") {
    const auto [words, message] = GENERATE(table<std::string, std::string>({
        {"", R"(--sizes: expected a size such as "64MiB" or 1048576; found "")"},
        {",", R"(--sizes: expected a size such as "64MiB" or 1048576; found "")"},
        {"8,", R"(--sizes: expected a size such as "64MiB" or 1048576; found "")"},
        {"8,,9", R"(--sizes: expected a size such as "64MiB" or 1048576; found "")"},
        {"8,-1", R"(--sizes: expected a size such as "64MiB" or 1048576; found "-1")"},
        {"lots", R"(--sizes: expected a size such as "64MiB" or 1048576; found "lots")"},
        {"64 Gb", R"(--sizes: expected a size such as "64MiB" or 1048576; found "64 Gb")"},
        {"8..", R"(--sizes: expected a size such as "64MiB" or 1048576; found "")"},
        {"..8", R"(--sizes: expected a size such as "64MiB" or 1048576; found "")"},
        {"8...16", R"(--sizes: expected a size such as "64MiB" or 1048576; found ".16")"},
        {"8..16..32", R"(--sizes: expected a size such as "64MiB" or 1048576; found "16..32")"},
        {"1025 TiB", "--sizes: expected a size of at most 1024 TiB; found 1025 TiB"},
        {"8..9e18", "--sizes: expected a size of at most 1024 TiB; found 9e18"},
        {"0..8", "--sizes: expected FROM..TO with 1 <= FROM <= TO; found 0..8"},
        {"16..8", "--sizes: expected FROM..TO with 1 <= FROM <= TO; found 16..8"},
    }));
    CAPTURE(words);
    CHECK(refusal([&] { sizes(words); }) == message);
}

TEST_CASE("a factor that leads nowhere is refused") {
    const double factor = GENERATE(1.0, 0.0, -2.0, 0.5, std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::infinity());
    CHECK_THAT(refusal([&] { sizes("8..16", factor); }),
               Catch::Matchers::StartsWith("--factor: expected a factor above 1; found "));
}

TEST_CASE("a range of more than ten thousand sizes is refused") {
    CHECK(sizes("1..10000", 1.00000001).size() == 10'000);
    CHECK(refusal([] { sizes("1..10001", 1.00000001); }) == "--sizes: expected at most 10000 sizes; found 1..10001");
}

TEST_CASE("protocols and collectives are known in any case of letters") {
    const auto [word, protocol] = GENERATE(table<std::string, Protocol>({
        {"LL", Protocol::ll},
        {"ll", Protocol::ll},
        {"LL128", Protocol::ll128},
        {"lL128", Protocol::ll128},
        {"Simple", Protocol::simple},
        {"SIMPLE", Protocol::simple},
    }));
    CHECK(parse_protocol(word) == protocol);
    CHECK(parse_collective("All_Reduce") == Collective::all_reduce);
}

TEST_CASE("an unknown protocol or collective is refused with those there are") {
    const std::string word = GENERATE("", "LL64", "Simple ", "L");
    CHECK(refusal([&] { parse_protocol(word); }) ==
          "--proto: expected a protocol: LL, LL128, Simple" + (word.empty() ? "" : "; found " + word));
    CHECK(refusal([] { parse_collective("allreduce"); }) ==
          "expected a collective: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_recv, "
          "barrier; found allreduce");
}

TEST_CASE("a file is read to its last byte, whatever is in it") {
    const auto path = std::filesystem::temp_directory_path() / "fmsim_read_file_test";
    std::string content(200'000, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31);
    std::ofstream(path, std::ios::binary) << content;
    CHECK(read_file(path) == content);
    std::ofstream(path, std::ios::binary | std::ios::trunc).close();
    CHECK(read_file(path).empty());
    std::filesystem::remove(path);
}

TEST_CASE("a dash is standard input") {
    std::istringstream typed("{\n}\n");
    std::streambuf* const before = std::cin.rdbuf(typed.rdbuf());
    const std::string text = read_file("-");
    std::cin.rdbuf(before);
    std::cin.clear();
    CHECK(text == "{\n}\n");
}

TEST_CASE("what cannot be read is refused with its name") {
    CHECK(refusal([] { read_file("no/such/file.json"); }) == "no/such/file.json: expected a file that can be read");
    CHECK_THAT(refusal([] { read_file("a\x1b[31m"); }), Catch::Matchers::StartsWith("a\\x1b[31m: "));
    CHECK(refusal([] { read_file(""); }) == "expected the name of a file");
    CHECK(refusal([] { read_file("/"); }) == "/: expected a file; found a folder");
}

}  // namespace
}  // namespace fmsim
