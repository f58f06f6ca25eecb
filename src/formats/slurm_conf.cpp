// Slurm's topology.conf, as topology.conf(5) has it: lines of key=value pairs. Keys have no case, a # begins a comment,
// a backslash at its end continues a line, quotes keep blanks in a value. What `scontrol show topology` prints is read
// too: there each switch has its level, and all nodes below it.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "outline.hpp"
#include "slurm_tree.hpp"

namespace fmsim {
namespace {

struct Pair {
    std::string key;  // in lower case
    std::string value;
};
struct ConfLine {
    std::size_t line{};
    std::vector<Pair> pairs;

    const std::string* find(std::string_view key) const {
        const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.key == key; });
        return found == pairs.end() ? nullptr : &found->value;
    }
};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_key(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// One line, with those it goes on in, without its comment.
class LineReader {
public:
    explicit LineReader(std::string_view text) : text_(text) {}

    // Nothing at the end of the text. `line` is the number of its first line.
    std::optional<std::string> next(std::size_t& line) {
        if (at_ >= text_.size()) return std::nullopt;
        line = line_ + 1;
        std::string whole;
        while (at_ < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', at_), text_.size());
            std::string_view piece = text_.substr(at_, end - at_);
            at_ = end + 1;
            ++line_;
            piece = piece.substr(0, comment(piece));
            while (!piece.empty() && is_blank(piece.back())) piece.remove_suffix(1);
            const bool goes_on = piece.ends_with('\\');
            if (goes_on) piece.remove_suffix(1);
            whole += piece;
            if (!goes_on) break;
        }
        return whole;
    }

private:
    static std::size_t comment(std::string_view piece) {
        for (std::size_t i = 0; i < piece.size(); ++i)
            if (piece[i] == '#' && (i == 0 || piece[i - 1] != '\\')) return i;
        return piece.size();
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_ = 0;
};

class ConfReader {
public:
    explicit ConfReader(const std::string& file) { out_.file = file; }

    SlurmTopology read(std::string_view text) {
        LineReader lines(text);
        std::size_t number = 0;
        while (const auto line = lines.next(number)) {
            if (out_.problems.size() >= kMostProblems) break;
            add(pairs_of(*line, number));
        }
        if (speeds_ > 0)
            note(0, fmt::format("LinkSpeed of {} switch{} is not used: Slurm does not say in which unit it is", speeds_,
                                speeds_ == 1 ? "" : "es"));
        return std::move(out_);
    }

private:
    void refuse(std::size_t line, std::string where, std::string expected, std::string found) {
        out_.problems.push_back({out_.file, line, std::move(where), std::move(expected), std::move(found)});
    }
    void note(std::size_t line, std::string what) { out_.notes.push_back({out_.file, line, "", std::move(what), ""}); }

    ConfLine pairs_of(const std::string& text, std::size_t number) {
        ConfLine line{.line = number, .pairs = {}};
        std::size_t at = 0;
        const auto skip = [&](auto&& what) {
            while (at < text.size() && what(text[at])) ++at;
        };
        for (skip(is_blank); at < text.size(); skip(is_blank)) {
            const std::size_t key = at;
            skip(is_key);
            const std::string name = text.substr(key, at - key);
            skip(is_blank);
            if (name.empty() || at == text.size() || text[at] != '=') {
                refuse(number, "", "expected key=value", text.substr(key));
                return {.line = number, .pairs = {}};
            }
            ++at;
            skip(is_blank);
            const bool quoted = at < text.size() && text[at] == '"';
            const std::size_t value = quoted ? ++at : at;
            skip([&](char c) { return quoted ? c != '"' : !is_blank(c); });
            if (line.find(lower(name)) != nullptr) refuse(number, name, "expected each key once in a line", "it twice");
            line.pairs.push_back({lower(name), text.substr(value, at - value)});
            if (quoted) ++at;
        }
        return line;
    }

    // The first key says what the line is.
    void add(const ConfLine& line) {
        if (line.pairs.empty()) return;
        static constexpr std::array<std::string_view, 5> kSwitch{"switchname", "switches", "nodes", "linkspeed",
                                                                 "level"};
        static constexpr std::array<std::string_view, 2> kBlock{"blockname", "nodes"};
        static constexpr std::array<std::string_view, 1> kSizes{"blocksizes"};
        if (const std::string* name = line.find("switchname")) {
            if (knows(line, kSwitch)) add_switch(line, *name);
        } else if (const std::string* block = line.find("blockname")) {
            if (knows(line, kBlock)) add_block(line, *block);
        } else if (const std::string* sizes = line.find("blocksizes")) {
            if (knows(line, kSizes)) add_sizes(line, *sizes);
        } else if (line.pairs.front().key == "include") {
            refuse(line.line, "Include", "expected the lines themselves: other files are not read",
                   line.pairs.front().value);
        } else {
            knows(line, std::array<std::string_view, 3>{"switchname", "blockname", "blocksizes"});
        }
    }

    template <std::size_t N>
    bool knows(const ConfLine& line, const std::array<std::string_view, N>& keys) {
        bool all = true;
        for (const Pair& pair : line.pairs) {
            if (std::find(keys.begin(), keys.end(), pair.key) != keys.end()) continue;
            const auto meant = nearest(pair.key, std::vector<std::string>(keys.begin(), keys.end()));
            refuse(line.line, pair.key,
                   meant ? fmt::format("no such key; did you mean \"{}\"?", *meant)
                         : fmt::format("expected {}", fmt::join(keys, ", ")),
                   "");
            all = false;
        }
        return all;
    }

    std::string value(const ConfLine& line, std::string_view key) {
        const std::string* const found = line.find(key);
        if (found == nullptr) return "";
        if (found->empty()) refuse(line.line, std::string(key), "expected a value", "none");
        if (lower(*found) == "all") {
            refuse(line.line, std::string(key), "expected names: which nodes there are is not in this file", *found);
            return "";
        }
        return *found;
    }

    void add_switch(const ConfLine& line, const std::string& name) {
        if (name.empty()) refuse(line.line, "SwitchName", "expected a name", "none");
        if (line.find("linkspeed") != nullptr) ++speeds_;
        const bool printed = line.find("level") != nullptr && line.find("switches") != nullptr;
        out_.switches.push_back({name, printed ? "" : value(line, "nodes"), value(line, "switches"), line.line});
    }

    void add_block(const ConfLine& line, const std::string& name) {
        if (name.empty()) refuse(line.line, "BlockName", "expected a name", "none");
        if (line.find("nodes") == nullptr) {
            note(line.line, fmt::format("block {} has no nodes and is left out", printable(name)));
            return;
        }
        out_.blocks.push_back({name, value(line, "nodes"), line.line});
    }

    void add_sizes(const ConfLine& line, std::string_view list) {
        out_.sizes_line = line.line;
        while (true) {
            std::size_t size = 0;
            const char* const end = list.data() + list.size();
            const auto [rest, error] = std::from_chars(list.data(), end, size);
            if (error != std::errc{} || size == 0 || (rest != end && *rest != ',')) {
                refuse(line.line, "BlockSizes", "expected numbers of nodes above 0 between commas", std::string(list));
                return;
            }
            out_.block_sizes.push_back(size);
            if (rest == end) return;
            list.remove_prefix(static_cast<std::size_t>(rest - list.data()) + 1);
        }
    }

    SlurmTopology out_;
    std::size_t speeds_ = 0;
};

}  // namespace

NetworkTree parse_slurm_conf(std::string_view text, const std::string& file) {
    return tree_of(ConfReader(file).read(text));
}

Imported import_slurm_conf(std::string_view text, const std::string& file, const Catalogue& catalogue,
                           const ImportOptions& options) {
    return to_cluster(parse_slurm_conf(text, file), catalogue, options.type);
}

}  // namespace fmsim
