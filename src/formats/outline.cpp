#include "outline.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fmsim {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;

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

class Outline : public json::json_sax_t {
public:
    Outline(std::size_t& line, std::string file, std::map<std::string, std::size_t>* lines)
        : line_(line), file_(std::move(file)), lines_(lines) {}

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
        level.token = escaped(name);
        if (!level.keys.insert(name).second)
            problems.push_back({file_, line_, pointer(), "expected each key once", name});
        note();
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        // "[json.exception...] parse error at line 3, column 7: syntax error while parsing value - unexpected ...".
        const std::string_view what = error.what();
        const auto dash = what.find(" - ");
        const auto colon = what.find(": ");
        const auto from = dash != std::string_view::npos ? dash + 3 : colon != std::string_view::npos ? colon + 2 : 0;
        problems.push_back({file_, line_, pointer(), "expected JSON", std::string(what.substr(from))});
        return false;
    }

private:
    struct Level {
        bool array;
        std::size_t next = 0;
        std::string token;
        std::set<std::string> keys;
    };

    bool value() {
        place();
        return true;
    }
    bool open(bool array) {
        place();
        if (levels_.size() == kDeepest) {
            problems.push_back({file_, line_, "", fmt::format("expected at most {} levels of nesting", kDeepest), ""});
            return false;
        }
        levels_.push_back({.array = array});
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
        if (lines_ == nullptr) return;
        const auto wanted = lines_->find(pointer());
        if (wanted != lines_->end() && wanted->second == 0) wanted->second = line_;
    }
    std::string pointer() const {
        std::string text;
        for (const Level& level : levels_)
            if (!level.token.empty() || level.keys.contains("")) text += "/" + level.token;
        return text;
    }

    std::size_t& line_;
    std::string file_;
    std::map<std::string, std::size_t>* lines_;
    std::vector<Level> levels_;
};

void look_over(std::string_view text, std::size_t& line, Outline& outline) {
    json::sax_parse(CountingIterator(text.data(), &line), CountingIterator(text.data() + text.size(), &line), &outline);
}

}  // namespace

std::vector<Problem> outline_problems(std::string_view text, const std::string& file) {
    std::size_t line = 1;
    Outline outline(line, file, nullptr);
    look_over(text, line, outline);
    return std::move(outline.problems);
}

void add_lines(std::vector<Problem>& problems, std::string_view text) {
    // Each pointer and all that lead to it, for a value that is missing has the line of the one around it.
    std::map<std::string, std::size_t> lines;
    for (const Problem& problem : problems)
        for (std::string at = problem.pointer; !at.empty(); at.resize(at.rfind('/'))) lines[at] = 0;
    std::size_t line = 1;
    Outline outline(line, "", &lines);
    look_over(text, line, outline);
    for (Problem& problem : problems) {
        if (problem.line != 0) continue;
        for (std::string at = problem.pointer; problem.line == 0 && !at.empty(); at.resize(at.rfind('/')))
            problem.line = lines[at];
        if (problem.line == 0) problem.line = 1;
    }
}

}  // namespace fmsim
