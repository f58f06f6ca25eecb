#include "hostlist.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace fmsim {
namespace {

constexpr std::size_t kLongestNumber = 18;

struct Numbered {
    std::string head;
    std::string digits;
    std::uint64_t number{};
};

// Nothing where a name does not end in a number that fits.
std::optional<Numbered> numbered(const std::string& name) {
    const std::size_t head = name.find_last_not_of("0123456789") + 1;
    const std::string digits = name.substr(head);
    if (head == 0 || digits.empty() || digits.size() > kLongestNumber) return std::nullopt;
    Numbered read{name.substr(0, head), digits, 0};
    std::from_chars(digits.data(), digits.data() + digits.size(), read.number);
    return read;
}

// The names of one head, as ranges. Leading zeros of the first hold for the range.
class RangeWriter {
public:
    void add(const Numbered& name) {
        const std::size_t width = first_.starts_with('0') ? first_.size() : 0;
        if (!first_.empty() && name.number == number_ + 1 && name.digits == fmt::format("{:0{}}", name.number, width)) {
            last_ = name.digits;
        } else {
            close();
            first_ = last_ = name.digits;
        }
        number_ = name.number;
        ++count_;
    }
    std::string text(const std::string& head) {
        close();
        return count_ == 1 ? head + ranges_ : fmt::format("{}[{}]", head, ranges_);
    }

private:
    void close() {
        if (first_.empty()) return;
        if (!ranges_.empty()) ranges_ += ',';
        ranges_ += first_ == last_ ? first_ : first_ + "-" + last_;
        first_.clear();
    }

    std::string ranges_, first_, last_;
    std::uint64_t number_{};
    std::size_t count_{};
};

}  // namespace

std::vector<std::string> folded_hosts(std::span<const std::string> names) {
    std::vector<std::string> expressions;
    for (std::size_t at = 0; at < names.size();) {
        auto name = numbered(names[at]);
        if (!name) {
            expressions.push_back(names[at++]);
            continue;
        }
        const std::string head = name->head;
        RangeWriter ranges;
        for (; name && name->head == head; name = ++at < names.size() ? numbered(names[at]) : std::nullopt)
            ranges.add(*name);
        expressions.push_back(ranges.text(head));
    }
    return expressions;
}

std::string hostlist(std::span<const std::string> names) {
    return fmt::format("{}", fmt::join(folded_hosts(names), ","));
}

}  // namespace fmsim
