// What nccl-tests printed -> a table of measurements.
//
//   #       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw ..
//     1048576        262144     float     sum      -1   120.00    8.74   16.38       0   119.00    8.81   16.52       0
//
// The head names the columns, which differ between versions: without `root` before 2.11, with four more behind each
// half under -I. A row begins where two whole numbers stand before a word, so that launchers' prefixes fall away.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using LineWords = std::vector<std::string_view>;

LineWords words_of(std::string_view line) {
    LineWords words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t from = line.find_first_not_of(" \t\r", at);
        if (from == std::string_view::npos) break;
        at = std::min(line.find_first_of(" \t\r", from), line.size());
        words.push_back(line.substr(from, at - from));
    }
    return words;
}

template <class Number>
std::optional<Number> number_of(std::string_view word) {
    Number number{};
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && rest == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class LogReader {
public:
    explicit LogReader(const std::string& file) : file_(file) {}

    void line(std::string_view text) {
        ++number_;
        find_collective(text);
        const LineWords words = words_of(text);
        if (const auto head = head_of(words)) {
            times_ = *head;
            return;
        }
        if (is_rank(words)) ++table_.gpus;
        row(words);
    }
    Measurements finish() && {
        if (table_.rows.empty()) refuse(0, "expected rows as nccl-tests prints them, below their head", "");
        table_.id = file_;
        table_.source = file_;
        return std::move(table_);
    }

private:
    [[noreturn]] void refuse(std::size_t line, std::string expected, std::string_view found) const {
        throw InputError({{.file = file_,
                           .line = line,
                           .pointer = "",
                           .expected = std::move(expected),
                           .found = std::string(found.substr(0, 80))}});
    }

    // The columns of the times, counted from the size.
    static std::optional<std::vector<std::size_t>> head_of(const LineWords& words) {
        const auto size = std::find(words.begin(), words.end(), "size");
        if (size == words.begin() || size == words.end() || size + 1 == words.end() || size[1] != "count")
            return std::nullopt;
        std::vector<std::size_t> times;
        for (auto at = size; at != words.end(); ++at)
            if (*at == "time") times.push_back(static_cast<std::size_t>(at - size));
        return times.empty() ? std::nullopt : std::optional(times);
    }
    // "#  Rank  0 Group  0 Pid 1234 on node-a device  0 .."
    static bool is_rank(const LineWords& words) {
        const auto rank = std::find(words.begin(), words.end(), "Rank");
        return rank != words.end() && words.end() - rank > 2 && number_of<std::int64_t>(rank[1]);
    }

    void find_collective(std::string_view text) {
        if (!table_.collective.empty()) return;
        static constexpr std::array<std::string_view, 8> kTests{
            "all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv", "broadcast", "reduce", "all_to_all"};
        for (const std::string_view test : kTests)
            if (text.find(fmt::format("{}_perf", test)) != std::string_view::npos) {
                table_.collective = test;
                return;
            }
    }

    void row(const LineWords& words) {
        std::size_t at = 0;
        while (at + 2 < words.size() && !(number_of<std::int64_t>(words[at]) &&
                                          number_of<std::int64_t>(words[at + 1]) && is_letter(words[at + 2].front())))
            ++at;
        if (at + 2 >= words.size() || std::find(words.begin(), words.end(), "#") != words.end()) return;
        if (times_.empty()) return;  // numbers of something else, before any head
        const std::int64_t bytes = *number_of<std::int64_t>(words[at]);
        if (bytes < 0 || bytes > kLargestSize.count) refuse(number_, "expected a size in bytes", words[at]);
        for (const std::size_t column : times_) {
            if (at + column >= words.size()) refuse(number_, "expected as many columns as the head has", words[at]);
            const auto time = number_of<double>(words[at + column]);
            if (!time || !(*time > 0) || *time > 1e12) continue;  // "N/A"
            table_.rows.push_back({.size = {bytes}, .time_us = *time});
            return;
        }
    }

    const std::string& file_;
    std::size_t number_ = 0;
    std::vector<std::size_t> times_;
    Measurements table_;
};

}  // namespace

Measurements parse_nccl_tests(std::string_view text, const std::string& file) {
    LogReader reader(file);
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        reader.line(text.substr(from, to - from));
        from = to + 1;
    }
    return std::move(reader).finish();
}

}  // namespace fmsim
