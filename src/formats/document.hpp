// A JSON file on its way to values: read, checked against its schema, then asked value by value.
//
// Whoever finds a value that does not do adds a problem and goes on; `finish` refuses the file when there is any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "fmsim/base.hpp"

namespace fmsim {

class Document {
public:
    // Throws InputError when the text is no JSON or does not follow the schema of that name.
    Document(std::string_view text, std::string file, const std::string& schema);

    // A place in it. Keys are known to be there once the schema has passed; optional ones are asked for with has().
    class Spot {
    public:
        Spot operator[](const std::string& key) const;
        Spot operator[](std::size_t index) const;
        bool has(const std::string& key) const { return value_->contains(key); }
        std::size_t size() const { return value_->size(); }
        const nlohmann::json& json() const { return *value_; }

        std::string text() const { return value_->get<std::string>(); }
        std::string name() const;  // a text that can be shown as it is
        double number() const { return value_->get<double>(); }
        std::uint32_t count() const;
        Bytes bytes() const;  // a string with a unit, or a whole number
        BytesPerSecond rate() const;
        SimTime span() const;
        double flops() const;                   // work, with a unit
        std::vector<std::string> keys() const;  // of an object, but for those that are free
        const std::string& pointer() const { return pointer_; }
        void refuse(std::string expected) const;
        void refuse(std::string expected, std::string found) const;

    private:
        friend class Document;
        Spot(Document& document, const nlohmann::json& value, std::string pointer)
            : document_(&document), value_(&value), pointer_(std::move(pointer)) {}
        Document* document_;
        const nlohmann::json* value_;
        std::string pointer_;
    };

    Spot root() { return Spot(*this, value_, ""); }
    // Throws InputError when a spot was refused.
    void finish();
    // For problems found later, in the values: throws InputError with the lines.
    [[noreturn]] void refuse(std::vector<Problem> problems);

private:
    [[noreturn]] void fail();

    std::string_view text_;
    std::string file_;
    nlohmann::json value_;
    std::vector<Problem> problems_;
};

// Whether a terminal would obey it.
bool has_control_characters(std::string_view text);

// Whether a JSON text can have a string of these letters (of words: no slash): as they are, or escaped. Without a parse.
bool may_say(std::string_view text, std::string_view letters);

// A value as a message shows it.
std::string shown(const nlohmann::json& value);

}  // namespace fmsim
