#include "document.hpp"

#include <fmt/format.h>

#include "outline.hpp"
#include "schema_check.hpp"

namespace fmsim {

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

void Document::fail() {
    add_lines(problems_, text_);
    throw InputError(std::move(problems_));
}

Document::Spot Document::Spot::operator[](const std::string& key) const {
    return Spot(*document_, value_->at(key), pointer_ + "/" + key);
}

Document::Spot Document::Spot::operator[](std::size_t index) const {
    return Spot(*document_, value_->at(index), fmt::format("{}/{}", pointer_, index));
}

Bytes Document::Spot::bytes() const {
    if (value_->is_number_unsigned()) {
        const auto count = value_->get<std::uint64_t>();
        if (count <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return {static_cast<std::int64_t>(count)};
    } else if (value_->is_string()) {
        if (const auto size = parse_bytes(text())) return *size;
    }
    refuse("expected a size with a unit, such as \"64 MiB\"");
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

void Document::Spot::refuse(std::string expected) const {
    document_->problems_.push_back({document_->file_, 0, pointer_, std::move(expected), shown(*value_)});
}

std::string shown(const nlohmann::json& value) {
    if (value.is_array()) return fmt::format("a list of {}", value.size());
    if (value.is_object()) return "an object";
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace fmsim
