#include "outline.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fmsim {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = 2'000'000;  // some 0.5 GB once they are values, checked against a schema

// Counts the lines before the last character read. A reader looks one character ahead after a number; were that
// character's own line counted too, a number at a line's end would seem to stand on the next.
class CountingIterator {
public:
    using difference_type = std::ptrdiff_t;
    using value_type = char;
    using pointer = const char*;
    using reference = const char&;
    using iterator_category = std::input_iterator_tag;

    CountingIterator(const char* at, std::size_t* line) : at_(at), line_(line) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        if (after_newline_) ++*line_;
        after_newline_ = *at_++ == '\n';
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

private:
    const char* at_;
    std::size_t* line_;
    bool after_newline_ = false;
};

std::string escaped(std::string_view key) {  // RFC 6901
    std::string out;
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return out;
}

// The places whose lines are wanted, as a tree: a step down costs one key, however long the way from the root is.
struct Wanted {
    std::map<std::string, std::unique_ptr<Wanted>, std::less<>> under;
    std::size_t line = 0;

    Wanted* find(const std::string& token) const {
        const auto found = under.find(token);
        return found == under.end() ? nullptr : found->second.get();
    }
    Wanted& add(const std::string& token) {
        auto& child = under[token];
        if (!child) child = std::make_unique<Wanted>();
        return *child;
    }
};

class Outline : public json::json_sax_t {
public:
    Outline(std::size_t& line, std::string file, Wanted* wanted)
        : line_(line), file_(std::move(file)), wanted_(wanted) {}

    std::vector<Problem> problems;

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool start_object(std::size_t) override { return open(false); }
    bool start_array(std::size_t) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        Level& level = levels_.back();
        level.token = name;
        note();
        if (level.keys.insert(name).second) return true;
        problems.push_back({file_, line_, pointer(), "expected each key once", name});
        return problems.size() < kMostProblems;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        // "[json.exception...] parse error at line 3, column 7: syntax error while parsing value - unexpected ...".
        // or "[json.exception...] number overflow parsing '1e400'".
        const std::string_view what = error.what();
        const auto dash = what.find(" - ");
        const auto bracket = what.find("] ");
        const auto from = dash != std::string_view::npos      ? dash + 3
                          : bracket != std::string_view::npos ? bracket + 2
                                                              : 0;
        problems.push_back({file_, line_, pointer(), "expected JSON", std::string(what.substr(from))});
        return false;
    }

private:
    struct Level {
        bool array;
        std::size_t next = 0;
        std::string token;           // of the member at hand
        std::set<std::string> keys;  // so far, of an object
        Wanted* wanted = nullptr;    // what is wanted inside, if anything
        Wanted* member = nullptr;    // what is wanted of the member at hand
    };

    bool value() {
        place();
        if (++values_ <= kMostValues) return true;
        problems.push_back({file_, line_, "", fmt::format("expected at most {} values", kMostValues), ""});
        return false;
    }
    bool open(bool array) {
        if (!value()) return false;
        if (levels_.size() == kDeepest) {
            problems.push_back({file_, line_, "", fmt::format("expected at most {} levels of nesting", kDeepest), ""});
            return false;
        }
        Wanted* const inside = levels_.empty() ? wanted_ : levels_.back().member;
        levels_.push_back({.array = array, .wanted = inside});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }
    // A value begins: in an array it takes the next position.
    void place() {
        if (levels_.empty() || !levels_.back().array) return;
        levels_.back().token = fmt::format("{}", levels_.back().next++);
        note();
    }
    void note() {
        Level& level = levels_.back();
        level.member = level.wanted == nullptr ? nullptr : level.wanted->find(level.token);
        if (level.member != nullptr && level.member->line == 0) level.member->line = line_;
    }
    std::string pointer() const {
        std::string text;
        for (const Level& level : levels_)
            if (!level.token.empty() || level.keys.contains("")) text += "/" + escaped(level.token);
        return text;
    }

    std::size_t& line_;
    std::string file_;
    Wanted* wanted_;
    std::size_t values_ = 0;
    std::vector<Level> levels_;
};

void look_over(std::string_view text, std::size_t& line, Outline& outline) {
    json::sax_parse(CountingIterator(text.data(), &line), CountingIterator(text.data() + text.size(), &line), &outline);
}

std::vector<std::string> tokens_of(const std::string& pointer) {
    std::vector<std::string> tokens;
    for (json::json_pointer at(pointer); !at.empty(); at.pop_back()) tokens.push_back(at.back());
    std::reverse(tokens.begin(), tokens.end());
    return tokens;
}

// The line of the value, or of the closest one around it that the text has.
std::size_t line_at(const Wanted& root, const std::string& pointer) {
    std::size_t line = 1;
    const Wanted* at = &root;
    for (const std::string& token : tokens_of(pointer)) {
        at = at->find(token);
        if (at->line != 0) line = at->line;
    }
    return line;
}

}  // namespace

std::vector<Problem> outline_problems(std::string_view text, const std::string& file) {
    std::size_t line = 1;
    Outline outline(line, file, nullptr);
    look_over(text, line, outline);
    return std::move(outline.problems);
}

void add_lines(std::vector<Problem>& problems, std::string_view text) {
    Wanted root;
    for (const Problem& problem : problems) {
        Wanted* at = &root;
        for (const std::string& token : tokens_of(problem.pointer)) at = &at->add(token);
    }
    std::size_t line = 1;
    Outline outline(line, "", &root);
    look_over(text, line, outline);
    for (Problem& problem : problems)
        if (problem.line == 0) problem.line = line_at(root, problem.pointer);
}

}  // namespace fmsim
