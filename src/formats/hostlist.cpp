// A list is terms between commas; a term is text and brackets in turn; a bracket is numbers and ranges between commas.
//
//   r[1-2]n[01-02],login  ->  r1n01 r1n02 r2n01 r2n02 login
//
// A term is read whole before anything of it is written out, so that its number of names is known first.
#include "hostlist.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace fmsim {
namespace {

struct NumberRange {
    std::uint64_t first{};
    std::uint64_t last{};
    std::size_t width{};  // 0: as short as the number is
};

struct Part {
    std::string text;
    std::vector<NumberRange> ranges;  // of the bracket behind the text; none: it ends the term
};

constexpr std::size_t kLongestNumber = 18;  // digits that fit in 64 bits
constexpr std::size_t kMostBrackets = 8;
constexpr std::size_t kLongestName = 253;  // of a host, as DNS has it

class HostlistReader {
public:
    HostlistReader(std::string_view text, const Problem& place, std::size_t most)
        : text_(text), place_(place), most_(most) {}

    std::vector<std::string> read() {
        while (true) {
            add(term());
            if (at_ == text_.size()) return std::move(names_);
            ++at_;  // the comma
        }
    }

private:
    [[noreturn]] void refuse(std::string expected) const {
        Problem problem = place_;
        problem.expected = fmt::format("{}, at character {} of the hostlist", expected, at_ + 1);
        problem.found = std::string(text_);
        throw InputError({problem});
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    std::vector<Part> term() {
        std::vector<Part> parts;
        while (true) {
            const std::size_t end = std::min(text_.find_first_of(",[]", at_), text_.size());
            Part part{.text = std::string(text_.substr(at_, end - at_)), .ranges = {}};
            const auto odd = std::find_if(part.text.begin(), part.text.end(), [](char c) {
                return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\x7f' || c == '=';
            });
            at_ += static_cast<std::size_t>(odd - part.text.begin());
            if (odd != part.text.end()) refuse("expected a host name without blanks, quotes or control characters");
            if (peek() == ']') refuse("expected a \"[\" before a \"]\"");
            const bool bracket = peek() == '[';
            if (bracket) part.ranges = ranges();
            if (part.text.size() > kLongestName)
                refuse(fmt::format("expected a name of at most {} characters", kLongestName));
            if (!bracket && part.text.empty() && parts.empty()) refuse("expected a host name");
            parts.push_back(std::move(part));
            if (!bracket) return parts;
            if (parts.size() > kMostBrackets)
                refuse(fmt::format("expected at most {} brackets in a name", kMostBrackets));
        }
    }

    std::vector<NumberRange> ranges() {
        std::vector<NumberRange> ranges;
        do {
            ++at_;  // "[" or ","
            ranges.push_back(range());
        } while (peek() == ',');
        if (peek() != ']') refuse("expected a \"]\"");
        ++at_;
        return ranges;
    }

    NumberRange range() {
        const std::string_view first = digits();
        if (peek() != '-') return made_of(first, first);
        ++at_;
        return made_of(first, digits());
    }

    std::string_view digits() {
        std::size_t end = at_;
        while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
        const std::string_view found = text_.substr(at_, end - at_);
        if (found.empty() || found.size() > kLongestNumber)
            refuse(fmt::format("expected a number of 1 to {} digits", kLongestNumber));
        at_ = end;
        return found;
    }

    NumberRange made_of(std::string_view first, std::string_view last) {
        const auto value = [](std::string_view text) {
            std::uint64_t number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            return number;
        };
        const auto padded = [](std::string_view text) { return text.size() > 1 && text.front() == '0'; };
        const NumberRange range{value(first), value(last), padded(first) ? first.size() : 0};
        if (range.last < range.first) refuse("expected a range that rises");
        if (last.size() < first.size() || (padded(last) && last.size() != first.size()))
            refuse("expected the same leading zeros at both ends of a range");
        return range;
    }

    // How many names a term has, at most one more than there may be.
    std::size_t count(const std::vector<Part>& parts) const {
        std::size_t product = 1;
        for (const Part& part : parts) {
            std::size_t sum = part.ranges.empty() ? 1 : 0;
            for (const NumberRange& range : part.ranges)
                sum = std::min(most_ + 1, sum + static_cast<std::size_t>(range.last - range.first) + 1);
            product = std::min(most_ + 1, product * sum);
        }
        return product;
    }

    void add(const std::vector<Part>& parts) {
        if (count(parts) > most_ - names_.size()) refuse(fmt::format("expected at most {} hosts", most_));
        std::vector<std::string> heads{""};
        for (const Part& part : parts) {
            std::vector<std::string> longer;
            for (const std::string& head : heads) {
                if (part.ranges.empty()) longer.push_back(head + part.text);
                for (const NumberRange& range : part.ranges)
                    for (std::uint64_t n = range.first; n <= range.last; ++n)
                        longer.push_back(fmt::format("{}{}{:0{}}", head, part.text, n, range.width));
            }
            heads = std::move(longer);
        }
        names_.insert(names_.end(), heads.begin(), heads.end());
    }

    std::string_view text_;
    const Problem& place_;
    std::size_t most_;
    std::size_t at_ = 0;
    std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> expand_hosts(std::string_view text, const Problem& place, std::size_t most) {
    return HostlistReader(text, place, most).read();
}

}  // namespace fmsim
