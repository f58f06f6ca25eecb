#include "foreign_file.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "document.hpp"
#include "outline.hpp"
#include "yaml_json.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

const json kNothing = nullptr;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Where the value that begins at `at` ends: behind the bracket that closes its first one, or at the end of the text.
std::size_t end_of_page(std::string_view text, std::size_t at) {
    std::size_t depth = 0;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') ++at;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return text.size();
}

std::string escaped(const std::string& key) {  // RFC 6901
    std::string out;
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return out;
}

}  // namespace

ForeignFile::ForeignFile(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    const auto first = std::find_if_not(text_.begin(), text_.end(), is_blank);
    is_yaml_ = first == text_.end() || (*first != '{' && *first != '[');
    if (is_yaml_)
        read_yaml();
    else
        read_json();
}

void ForeignFile::read_json() {
    std::size_t at = 0, line = 0;
    while (true) {
        while (at < text_.size() && is_blank(text_[at])) line += text_[at++] == '\n' ? 1 : 0;
        if (at == text_.size()) return;
        const bool begins = text_[at] == '{' || text_[at] == '[';
        const std::size_t end = begins ? end_of_page(text_, at) : text_.size();
        const std::string_view page = text_.substr(at, end - at);
        auto problems = outline_problems(page, file_);
        for (Problem& problem : problems) problem.line += problem.line == 0 ? 0 : line;
        if (!problems.empty()) throw InputError(std::move(problems));
        pages_.push_back({.value = json::parse(page), .text = page, .line = line});
        line += static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n'));
        at = end;
    }
}

void ForeignFile::read_yaml() {
    for (json& document : yaml_documents(text_, file_)) pages_.push_back({.value = std::move(document), .text = {}});
}

std::vector<ForeignFile::Spot> ForeignFile::pages() {
    std::vector<Spot> spots;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
        const Spot page(*this, i, pages_[i].value, "");
        if (page.is_list())
            for (const Spot& item : page.items()) spots.push_back(item);
        else if (!page.is_null())
            spots.push_back(page);
    }
    return spots;
}

void ForeignFile::finish() {
    if (!refused_.empty()) fail();
}

// Lines are looked up once a page: each look reads it anew.
void ForeignFile::fail() {
    std::stable_sort(refused_.begin(), refused_.end(), [](auto& a, auto& b) { return a.page < b.page; });
    std::vector<Problem> problems;
    std::vector<std::size_t> pages;
    for (std::size_t begin = 0, end = 0; begin < refused_.size(); begin = end) {
        const std::size_t page = refused_[begin].page;
        std::vector<Problem> here;
        for (; end < refused_.size() && refused_[end].page == page; ++end) here.push_back(refused_[end].problem);
        if (!is_yaml_) {
            add_lines(here, pages_[page].text);
            for (Problem& problem : here) problem.line += problem.line == 0 ? 0 : pages_[page].line;
        }
        problems.insert(problems.end(), here.begin(), here.end());
        pages.insert(pages.end(), here.size(), page);
    }
    if (is_yaml_) add_yaml_lines(problems, pages, text_);
    throw InputError(std::move(problems));
}

ForeignFile::Spot ForeignFile::Spot::operator[](const std::string& key) const {
    const auto found = value_->is_object() ? value_->find(key) : value_->end();
    return {*file_, page_, found == value_->end() ? kNothing : *found, pointer_ + "/" + escaped(key)};
}

bool ForeignFile::Spot::has(const std::string& key) const {
    const auto found = value_->is_object() ? value_->find(key) : value_->end();
    return found != value_->end() && !found->is_null();
}

std::vector<ForeignFile::Spot> ForeignFile::Spot::items() const {
    std::vector<Spot> spots;
    if (value_->is_null()) return spots;
    if (!value_->is_array()) {
        refuse("expected a list");
        return spots;
    }
    for (std::size_t i = 0; i < value_->size(); ++i)
        spots.push_back({*file_, page_, (*value_)[i], fmt::format("{}/{}", pointer_, i)});
    return spots;
}

std::vector<std::string> ForeignFile::Spot::keys() const {
    std::vector<std::string> keys;
    if (value_->is_object())
        for (const auto& [key, member] : value_->items()) keys.push_back(key);
    return keys;
}

std::string ForeignFile::Spot::text() const {
    if (value_->is_string() && !value_->get_ref<const std::string&>().empty()) return value_->get<std::string>();
    refuse("expected a text");
    return "";
}

std::string ForeignFile::Spot::text_or_none() const {
    if (value_->is_null()) return "";
    if (value_->is_string()) return value_->get<std::string>();
    refuse("expected a text");
    return "";
}

std::optional<std::uint64_t> ForeignFile::Spot::count() const {
    if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
    if (value_->is_string()) {  // YAML, and Kubernetes, which writes quantities as texts
        const auto& text = value_->get_ref<const std::string&>();
        std::uint64_t number = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && rest == text.data() + text.size()) return number;
    }
    refuse("expected a whole number");
    return std::nullopt;
}

std::optional<double> ForeignFile::Spot::number() const {
    if (value_->is_number()) return value_->get<double>();
    refuse("expected a number");
    return std::nullopt;
}

bool ForeignFile::Spot::is_true() const {
    if (value_->is_boolean()) return value_->get<bool>();
    if (value_->is_null() || *value_ == "false" || *value_ == "False" || *value_ == "no") return false;
    if (*value_ == "true" || *value_ == "True" || *value_ == "yes") return true;
    refuse("expected true or false");
    return false;
}

void ForeignFile::Spot::refuse(std::string expected) const {
    refuse(std::move(expected), value_->is_null() ? "none" : shown(*value_));
}

void ForeignFile::Spot::refuse(std::string expected, std::string found) const {
    file_->refused_.push_back({page_,
                               {.file = file_->file_,
                                .line = 0,
                                .pointer = pointer_,
                                .expected = std::move(expected),
                                .found = std::move(found)}});
    if (file_->refused_.size() >= kMostProblems) file_->fail();
}

}  // namespace fmsim
