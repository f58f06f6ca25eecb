// The words of a change. Whoever refuses them says in which column, and the nearest known name.
//
//   change = word "=" value | thing [ "[" number ["," number] "]" ] "." property [ "." part ] [ operator amount ]
//   operator = "*" | "/" | "+" | "-" | "="       amount of * and /: a number; of + and -: a quantity or a percentage
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "properties.hpp"

namespace fmsim {
namespace {

constexpr std::array<std::string_view, 8> kScenarioWords{"placement", "cluster",  "gpus",          "per_domain",
                                                         "algorithm", "protocol", "most_channels", "fidelity"};
constexpr std::array<std::string_view, 2> kClusterWords{"rail_policy", "spreading"};
constexpr std::string_view kNccl = "NCCL_";

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Each once, in the order of the table.
std::vector<std::string> things() {
    std::vector<std::string> names;
    const auto add = [&](std::string_view thing) {
        if (std::find(names.begin(), names.end(), thing) == names.end()) names.emplace_back(thing);
    };
    for (const Property& row : properties()) add(row.thing);
    for (const NamedDevice& row : named_devices()) add(row.thing);
    return names;
}
std::vector<std::string> properties_of(std::string_view thing) {
    std::vector<std::string> names;
    for (const Property& row : properties())
        if (row.thing == thing) names.emplace_back(row.name);
    return names;
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) { change_.text = text; }

    Change parse() {
        const std::size_t start = at_;
        change_.thing = name("a kind of thing, such as efa, nvlink or gpu, or a word such as placement");
        if (is_word(change_.thing)) return word();
        if (!one_of(change_.thing, things())) unknown("kind of thing", change_.thing, all_words(), start);
        if (peek() == '[') index();
        if (peek() != '.') refuse("expected '.' and a property of " + change_.thing);
        ++at_;
        if (change_.index.empty())
            property();
        else
            state();
        return change_;
    }

private:
    static bool one_of(std::string_view word, const std::vector<std::string>& known) {
        return std::find(known.begin(), known.end(), word) != known.end();
    }
    static bool is_word(std::string_view word) {
        const auto in = [&](const auto& words) { return std::find(words.begin(), words.end(), word) != words.end(); };
        return in(kScenarioWords) || in(kClusterWords) || word.starts_with(kNccl);
    }
    static std::vector<std::string> all_words() {
        std::vector<std::string> all = things();
        all.insert(all.end(), kScenarioWords.begin(), kScenarioWords.end());
        all.insert(all.end(), kClusterWords.begin(), kClusterWords.end());
        return all;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    [[noreturn]] void refuse(const std::string& what, std::size_t column) const {
        throw InputError({{.file = "--what-if",
                           .line = 0,
                           .pointer = fmt::format("'{}', column {}", printable(text_), column + 1),
                           .expected = what,
                           .found = ""}});
    }
    [[noreturn]] void refuse(const std::string& what) const { refuse(what, at_); }
    [[noreturn]] void unknown(std::string_view what, const std::string& found, const std::vector<std::string>& known,
                              std::size_t column) const {
        const auto meant = nearest(found, known);
        refuse(meant ? fmt::format("no such {}: {}; did you mean \"{}\"?", what, printable(found), *meant)
                     : fmt::format("no such {}: {}; expected {}", what, printable(found), fmt::join(known, ", ")),
               column);
    }

    std::string name(const std::string& what) {
        const std::size_t from = at_;
        while (is_name(peek())) ++at_;
        if (at_ == from) refuse("expected " + what);
        return std::string(text_.substr(from, at_ - from));
    }

    Change word() {
        if (peek() != '=') refuse(fmt::format("expected '=' after {}", change_.thing));
        ++at_;
        change_.word = text_.substr(at_);
        if (change_.word.empty()) refuse("expected a value");
        const auto one = [&](const std::vector<std::string>& known) {
            if (!one_of(change_.word, known)) unknown(change_.thing, change_.word, known, at_);
        };
        if (change_.thing == "rail_policy") one({"keep", "even", "neighbour"});
        if (change_.thing == "spreading") one({"spray", "hash"});
        return change_;
    }

    std::uint32_t number() {
        std::uint32_t value{};
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc{}) refuse("expected a number of " + change_.thing);
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }
    void index() {
        const auto& named = named_devices();
        if (std::none_of(named.begin(), named.end(), [&](const auto& row) { return row.thing == change_.thing; })) {
            std::vector<std::string> devices;
            for (const NamedDevice& row : named) devices.emplace_back(row.thing);
            refuse(fmt::format("{} has no numbers; those that do are {}", change_.thing, fmt::join(devices, ", ")));
        }
        ++at_;
        change_.index.push_back(number());
        if (peek() == ',') {
            ++at_;
            change_.index.push_back(number());
        }
        if (peek() != ']') refuse(change_.index.size() == 1 ? "expected ',' or ']'" : "expected ']'");
        ++at_;
    }

    // Of one device: "down", or at what part of its rate it works.
    void state() {
        const std::size_t from = at_;
        change_.property = name(fmt::format("a state of one {}: down, or speed=0.8", change_.thing));
        const std::vector<std::string> known{"down", "speed", "bandwidth"};
        if (!one_of(change_.property, known)) unknown("state of a " + change_.thing, change_.property, known, from);
        if (change_.property == "down") {
            change_.property = "speed";
            if (at_ != text_.size()) refuse("expected nothing after \"down\"");
            return;  // set to 0
        }
        change_.property = "speed";
        amount(Unit::number);
        if (!(change_.number >= 0 && change_.number <= 1) || change_.op == ChangeOperator::add)
            refuse("expected = or * and a part of its rate, 0 to 1");
    }

    void property() {
        const std::size_t from = at_;
        const std::vector<std::string> known = properties_of(change_.thing);
        if (known.empty()) refuse(fmt::format("{} needs a number, such as {}[0,1]", change_.thing, change_.thing));
        change_.property = name("a property of " + change_.thing);
        if (!one_of(change_.property, known)) {
            if (change_.property == "down" || change_.property == "speed")
                refuse(fmt::format("{} needs a number, such as {}[0,1].{}", change_.thing, change_.thing,
                                   change_.property),
                       from);
            unknown("property of " + change_.thing, change_.property, known, from);
        }
        if (peek() == '.') {
            ++at_;
            change_.part = name("a part of " + change_.property);
        }
        const auto row = std::find_if(properties().begin(), properties().end(), [&](const Property& p) {
            return p.thing == change_.thing && p.name == change_.property;
        });
        amount(row->unit);
    }

    void amount(Unit unit) {
        const char op = peek();
        if (op == '\0' || std::string_view("*/+-=").find(op) == std::string_view::npos)
            refuse("expected one of * / + - = and an amount");
        ++at_;
        std::string_view rest = text_.substr(at_);
        if ((op == '+' || op == '-') && rest.ends_with('%')) {
            const double part = quantity(Unit::number, rest.substr(0, rest.size() - 1), "a percentage, such as 10%");
            change_.op = ChangeOperator::scale;
            constexpr double kPercent = 100;
            change_.number = 1 + (op == '-' ? -part : part) / kPercent;
        } else if (op == '*' || op == '/') {
            change_.op = ChangeOperator::scale;
            change_.number = quantity(Unit::number, rest, "a number");
            if (op == '/') change_.number = 1 / change_.number;
        } else {
            change_.op = op == '=' ? ChangeOperator::set : ChangeOperator::add;
            change_.number = quantity(unit, rest, std::string(example_of(unit)));
            if (op == '-') change_.number = -change_.number;
        }
        if (!std::isfinite(change_.number) || (change_.op == ChangeOperator::scale && change_.number < 0))
            refuse("expected an amount that leaves something");
    }
    double quantity(Unit unit, std::string_view text, const std::string& example) const {
        while (text.starts_with(' ')) text.remove_prefix(1);
        const auto value = parse_quantity(unit, text);
        if (!value) refuse(fmt::format("expected {}", example));
        return *value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Change change_;
};

}  // namespace

Change parse_change(std::string_view text) { return Parser(text).parse(); }

bool is_scenario_word(const Change& change) {
    return change.property.empty() &&
           std::find(kClusterWords.begin(), kClusterWords.end(), change.thing) == kClusterWords.end();
}

std::vector<std::string> change_help() {
    std::vector<std::string> lines;
    for (const Property& row : properties()) lines.push_back(fmt::format("{}.{}: {}", row.thing, row.name, row.says));
    return lines;
}

}  // namespace fmsim
