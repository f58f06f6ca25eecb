// NCCL's own words -> pins: its environment variables, and the rules of its example tuner plugin.
//
//   NCCL_ALGO=ring;allreduce:tree,ring     a list for all functions, then lists for some; ^ turns one round
//   allreduce,0,262143,tree,ll,-1,4,32     a line of NCCL_TUNER_CONFIG_FILE
//
// NCCL passes over words it does not know, and its plugin takes an unknown algorithm for a ring: here they are refused.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

// A word of NCCL, and what it stands for; nothing: CollNet, which no communicator here has.
template <class T>
struct Word {
    std::string_view word;
    std::optional<T> means;
};

constexpr std::array kFunctions{Word<Collective>{"broadcast", Collective::broadcast},
                                Word<Collective>{"reduce", Collective::reduce},
                                Word<Collective>{"allgather", Collective::all_gather},
                                Word<Collective>{"reducescatter", Collective::reduce_scatter},
                                Word<Collective>{"allreduce", Collective::all_reduce}};
constexpr std::array kAlgorithms{
    Word<AlgorithmKind>{"tree", AlgorithmKind::tree}, Word<AlgorithmKind>{"ring", AlgorithmKind::ring},
    Word<AlgorithmKind>{"collnetdirect", {}},         Word<AlgorithmKind>{"collnetchain", {}},
    Word<AlgorithmKind>{"nvls", AlgorithmKind::nvls}, Word<AlgorithmKind>{"nvlstree", AlgorithmKind::nvls_tree},
    Word<AlgorithmKind>{"pat", AlgorithmKind::pat}};
// The plugin spells some with an underscore.
constexpr std::array kRuleAlgorithms{
    Word<AlgorithmKind>{"tree", AlgorithmKind::tree}, Word<AlgorithmKind>{"ring", AlgorithmKind::ring},
    Word<AlgorithmKind>{"collnet_direct", {}},        Word<AlgorithmKind>{"collnet_chain", {}},
    Word<AlgorithmKind>{"nvls", AlgorithmKind::nvls}, Word<AlgorithmKind>{"nvls_tree", AlgorithmKind::nvls_tree},
    Word<AlgorithmKind>{"pat", AlgorithmKind::pat}};
constexpr std::array kProtocolWords{Word<Protocol>{"ll", Protocol::ll}, Word<Protocol>{"ll128", Protocol::ll128},
                                    Word<Protocol>{"simple", Protocol::simple}};

[[noreturn]] void refuse(std::string where, std::string expected, std::string_view found, std::size_t line = 0) {
    throw InputError({{.file = std::move(where),
                       .line = line,
                       .pointer = "",
                       .expected = std::move(expected),
                       .found = std::string(found)}});
}

std::string lower_case(std::string_view word) {
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(at, from), text.size());
        parts.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

template <class All>
const auto* find(const All& all, std::string_view word) {
    const std::string lower = lower_case(word);
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.word == lower; });
    return found == all.end() ? nullptr : &*found;
}

template <class All>
std::string words_of(const All& all) {
    std::vector<std::string_view> words;
    for (const auto& one : all) words.push_back(one.word);
    return fmt::format("{}", fmt::join(words, ", "));
}

// Fills the flags of one function: those of the list, or with ^ all others.
template <class All, class Flags>
void fill(std::string_view list, const All& all, const std::string& variable, Flags& flags) {
    const bool negated = list.starts_with('^');
    flags.values.fill(negated);
    for (const std::string_view word : split(negated ? list.substr(1) : list, ',')) {
        const auto* known = find(all, word);
        if (known == nullptr) refuse(variable, fmt::format("expected some of: {}", words_of(all)), word);
        if (known->means) flags[*known->means] = !negated;
    }
}

template <class All, class FlagsOf>
void read_lists(std::string_view text, const All& all, const std::string& variable, Allowed& allowed, FlagsOf flags) {
    const auto sections = split(text, ';');
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const auto colon = sections[i].find(':');
        if (colon == std::string_view::npos) {
            if (i > 0) refuse(variable, "expected FUNCTION:LIST after the first list", sections[i]);
            for (const Collective collective : kCollectives)
                fill(sections[i], all, variable, flags(allowed[collective]));
            continue;
        }
        const auto* function = find(kFunctions, sections[i].substr(0, colon));
        if (function == nullptr)
            refuse(variable, fmt::format("expected a function: {}", words_of(kFunctions)),
                   sections[i].substr(0, colon));
        fill(sections[i].substr(colon + 1), all, variable, flags(allowed[*function->means]));
    }
}

std::optional<std::int64_t> whole(std::string_view word) {
    std::int64_t number{};
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && rest == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

std::int64_t number_in(std::string_view word, std::int64_t least, std::int64_t most, const std::string& variable) {
    const auto number = whole(word);
    if (!number || *number < least || *number > most)
        refuse(variable, fmt::format("expected a whole number from {} to {}", least, most), word);
    return *number;
}

constexpr std::int64_t kMostChannels = 64;
constexpr std::int64_t kMostBuffer = std::int64_t{1} << 30;

using Setter = std::function<void(std::string_view, const std::string&, Pins&)>;
struct Variable {
    std::string_view name;
    Setter set;
};

std::uint32_t channels_in(std::string_view word, const std::string& variable) {
    return static_cast<std::uint32_t>(number_in(word, 1, kMostChannels, variable));
}

const std::vector<Variable>& variables() {
    using Text = std::string_view;
    using Name = const std::string&;
    static const std::vector<Variable> kAll{
        {"NCCL_ALGO",
         [](Text text, Name name, Pins& pins) {
             read_lists(
                 text, kAlgorithms, name, pins.allowed, [](auto& row) -> auto& { return row.algorithms; });
         }},
        {"NCCL_PROTO",
         [](Text text, Name name, Pins& pins) {
             read_lists(
                 text, kProtocolWords, name, pins.allowed, [](auto& row) -> auto& { return row.protocols; });
         }},
        {"NCCL_MIN_NCHANNELS", [](Text text, Name name, Pins& pins) { pins.least_channels = channels_in(text, name); }},
        {"NCCL_MAX_NCHANNELS", [](Text text, Name name, Pins& pins) { pins.most_channels = channels_in(text, name); }},
        {"NCCL_MIN_CTAS", [](Text text, Name name, Pins& pins) { pins.least_channels = channels_in(text, name); }},
        {"NCCL_MAX_CTAS", [](Text text, Name name, Pins& pins) { pins.most_channels = channels_in(text, name); }},
        {"NCCL_NVLS_ENABLE", [](Text text, Name name, Pins& pins) { pins.nvls = number_in(text, 0, 2, name) != 0; }},
        {"NCCL_PXN_DISABLE", [](Text text, Name name, Pins& pins) { pins.pxn = number_in(text, 0, 1, name) == 0; }},
        {"NCCL_PAT_ENABLE",
         [](Text text, Name name, Pins& pins) {
             const std::int64_t mode = number_in(text, 0, 2, name);
             pins.pat = mode == 2 ? std::nullopt : std::optional(mode == 1);
         }},
        {"NCCL_BUFFSIZE", [](Text text, Name name,
                             Pins& pins) { pins.simple_buffer = Bytes{number_in(text, 4096, kMostBuffer, name)}; }},
        {"NCCL_P2P_NET_CHUNKSIZE",
         [](Text text, Name name, Pins& pins) {
             pins.p2p_net_chunk = Bytes{number_in(text, 4096, kMostBuffer, name)};
         }},
        {"NCCL_NCHANNELS_PER_NET_PEER",
         [](Text text, Name name, Pins& pins) { pins.channels_per_net_peer = channels_in(text, name); }},
        {"NCCL_TUNER_CONFIG_FILE",
         [](Text text, Name, Pins& pins) {
             const std::string file(text);
             pins.tuner_rules = parse_tuner_rules(read_file(file), file);
         }},
    };
    return kAll;
}

// A line of rules on its way to values.
struct RuleLine {
    const std::vector<std::string_view>& fields;
    const std::string& file;
    std::size_t line;

    [[noreturn]] void refuse_field(std::size_t column, const std::string& expected) const {
        refuse(file, fmt::format("column {}: {}", column + 1, expected), fields[column], line);
    }
    template <class All>
    auto word(std::size_t column, const All& all, const char* what) const {
        const auto* known = find(all, fields[column]);
        if (known == nullptr || fields[column] != known->word)
            refuse_field(column, fmt::format("expected {}: {}", what, words_of(all)));
        return known->means;
    }
    Bytes bytes(std::size_t column) const {
        const auto number = whole(fields[column]);
        if (!number || *number < 0 || *number > kLargestSize.count)
            refuse_field(column, "expected a whole number of bytes");
        return {*number};
    }
    std::optional<std::uint32_t> count(std::size_t column) const {
        if (column >= fields.size()) return std::nullopt;
        const auto number = whole(fields[column]);
        if (!number || *number < -1 || *number > 1'000'000)
            refuse_field(column, "expected a whole number, or -1 for any");
        return *number == -1 ? std::nullopt : std::optional(static_cast<std::uint32_t>(*number));
    }
};

std::string_view trimmed(std::string_view word) {
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t' || word.back() == '\r')) word.remove_suffix(1);
    return word;
}

}  // namespace

bool has_nccl_knob(std::string_view assignment) {
    const std::string_view name = assignment.substr(0, assignment.find('='));
    return std::any_of(variables().begin(), variables().end(), [&](const Variable& v) { return v.name == name; });
}

void set_nccl_variable(std::string_view assignment, Pins& pins) {
    const auto equals = assignment.find('=');
    const std::string_view name = assignment.substr(0, equals);
    std::vector<std::string> known;
    for (const Variable& variable : variables()) {
        known.emplace_back(variable.name);
        if (variable.name != name || equals == std::string_view::npos) continue;
        variable.set(assignment.substr(equals + 1), "--env " + known.back(), pins);
        return;
    }
    refuse("--env", fmt::format("expected NAME=VALUE with one of {}", fmt::join(known, ", ")), assignment);
}

std::vector<TunerRule> parse_tuner_rules(std::string_view text, const std::string& file) {
    static constexpr std::size_t kLeastFields = 8, kMostFields = 10;
    std::vector<TunerRule> rules;
    std::size_t number = 0;
    for (const std::string_view whole_line : split(text, '\n')) {
        ++number;
        const std::string_view line = trimmed(whole_line);
        if (line.empty() || line.front() == '#') continue;
        std::vector<std::string_view> fields = split(line, ',');
        for (std::string_view& field : fields) field = trimmed(field);
        if (fields.size() < kLeastFields || fields.size() > kMostFields)
            refuse(file, fmt::format("expected {} to {} columns", kLeastFields, kMostFields),
                   fmt::format("{}", fields.size()), number);
        const RuleLine row{fields, file, number};
        TunerRule rule{.collective = *row.word(0, kFunctions, "a collective"),
                       .least = row.bytes(1),
                       .most = row.bytes(2),
                       .protocol = *row.word(4, kProtocolWords, "a protocol"),
                       .channels = row.count(5),
                       .domains = row.count(6),
                       .ranks = row.count(7),
                       .operations = row.count(8),
                       .registered = row.count(9)};
        const auto algorithm = row.word(3, kRuleAlgorithms, "an algorithm");
        if (!algorithm) continue;  // NCCL has no CollNet here, and its plugin passes over such a rule
        rule.algorithm = *algorithm;
        rules.push_back(rule);
    }
    return rules;
}

}  // namespace fmsim
