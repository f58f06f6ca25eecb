#include "document.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "fmsim/formats.hpp"
#include "outline.hpp"
#include "schema_check.hpp"

namespace fmsim {

// U+0080 to U+009f are among them, which have two bytes in UTF-8.
bool has_control_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7f) return true;
        if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
    }
    return false;
}

bool may_say(std::string_view text, std::string_view letters) {
    return text.find(letters) != std::string_view::npos || text.find("\\u") != std::string_view::npos;
}

Document::Document(std::string_view text, std::string file, const std::string& schema)
    : text_(text), file_(std::move(file)) {
    problems_ = outline_problems(text, file_);
    if (!problems_.empty()) fail();
    value_ = nlohmann::json::parse(text);
    problems_ = schema_problems(value_, schema, file_);
    if (!problems_.empty()) fail();
}

void Document::finish() {
    if (!problems_.empty()) fail();
}

void Document::refuse(std::vector<Problem> problems) {
    problems_ = std::move(problems);
    fail();
}

void Document::fail() {
    const bool more = problems_.size() >= kMostProblems;
    if (more) problems_.resize(kMostProblems);
    add_lines(problems_, text_);
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.line < b.line; });
    if (more) problems_.push_back({file_, 0, "", "there may be more problems than these", ""});
    throw InputError(std::move(problems_));
}

Document::Spot Document::Spot::operator[](const std::string& key) const {
    std::string pointer;
    pointer.reserve(pointer_.size() + 1 + key.size());
    pointer += pointer_;
    if (key.find_first_of("~/") == std::string::npos)
        (pointer += '/') += key;
    else
        pointer += (nlohmann::json::json_pointer() / key).to_string();  // escaped
    return Spot(*document_, value_->at(key), std::move(pointer));
}

Document::Spot Document::Spot::operator[](std::size_t index) const {
    return Spot(*document_, value_->at(index), fmt::format("{}/{}", pointer_, index));
}

std::string Document::Spot::name() const {
    std::string name = text();
    if (has_control_characters(name)) refuse("expected a name without control characters");
    return name;
}

std::uint32_t Document::Spot::count() const {
    const auto number = value_->get<std::int64_t>();
    if (number >= 0 && number <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(number);
    refuse("expected a whole number below 2^32");
    return 0;
}

Bytes Document::Spot::bytes() const {
    std::optional<Bytes> size;
    if (value_->is_string())
        size = parse_bytes(text());
    else if (value_->is_number_unsigned())
        size = Bytes{static_cast<std::int64_t>(
            std::min<std::uint64_t>(value_->get<std::uint64_t>(), std::numeric_limits<std::int64_t>::max()))};
    if (size && *size <= kLargestSize) return *size;
    refuse(size ? fmt::format("expected a size of at most {}", to_text(kLargestSize))
                : "expected a size with a unit, such as \"64 MiB\"");
    return {};
}

BytesPerSecond Document::Spot::rate() const {
    if (const auto rate = parse_rate(text()); rate && rate->value > 0) return *rate;
    refuse("expected a rate above 0 with a unit, such as \"400 Gb/s\"");
    return {1};
}

SimTime Document::Spot::span() const {
    if (const auto span = parse_span(text())) return *span;
    refuse("expected a time with a unit, such as \"18 us\"");
    return {};
}

double Document::Spot::flops() const {
    if (const auto work = parse_flops(text())) return *work;
    refuse("expected work with a unit, such as \"3.2 TFLOP\"");
    return {};
}

std::vector<std::string> Document::Spot::keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : value_->items())
        if (!key.starts_with("x-")) keys.push_back(key);
    return keys;
}

void Document::Spot::refuse(std::string expected) const { refuse(std::move(expected), shown(*value_)); }

void Document::Spot::refuse(std::string expected, std::string found) const {
    document_->problems_.push_back({document_->file_, 0, pointer_, std::move(expected), std::move(found)});
}

std::string shown(const nlohmann::json& value) {
    if (value.is_array()) return fmt::format("a list of {}", value.size());
    if (value.is_object()) return "an object";
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace fmsim
