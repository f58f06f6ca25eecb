// A JSON or YAML file of another tool: its pages, and a cursor that remembers the way to a value.
//
// Such files hold much that does not concern us, so there is no schema: a reader asks for what it needs, and what is
// missing or of another kind is a problem with its place. JSON pages may follow one another, as people glue the answers
// of a paged request together, or stand in one list; YAML may have several documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "fmsim/base.hpp"

namespace fmsim {

class ForeignFile {
public:
    // Throws InputError when the text is neither JSON nor YAML.
    ForeignFile(std::string_view text, std::string file);

    class Spot {
    public:
        // What is missing is null, and so is what is below it.
        Spot operator[](const std::string& key) const;
        bool has(const std::string& key) const;  // and it is not null
        bool is_null() const { return value_->is_null(); }
        bool is_list() const { return value_->is_array(); }
    bool is_text() const { return value_->is_string(); }
        std::vector<Spot> items() const;  // of a list; none where there is nothing
        std::vector<std::string> keys() const;
        std::string text() const;          // refuses what is no text or empty
        std::string text_or_none() const;  // empty where there is nothing
        std::optional<std::uint64_t> count() const;
        std::optional<double> number() const;
        bool is_true() const;
        void refuse(std::string expected) const;
        void refuse(std::string expected, std::string found) const;

    private:
        friend class ForeignFile;
        Spot(ForeignFile& file, std::size_t page, const nlohmann::json& value, std::string pointer)
            : file_(&file), page_(page), value_(&value), pointer_(std::move(pointer)) {}
        ForeignFile* file_;
        std::size_t page_;
        const nlohmann::json* value_;
        std::string pointer_;
    };

    std::vector<Spot> pages();
    const std::string& name() const { return file_; }
    // Throws InputError when a spot was refused.
    void finish();

private:
    struct Page {
        nlohmann::json value;
        std::string_view text;  // JSON
        std::size_t line = 0;   // before the text
    };
    struct Refused {
        std::size_t page;
        Problem problem;
    };
    void read_json();
    void read_yaml();
    [[noreturn]] void fail();

    std::string_view text_;
    std::string file_;
    bool is_yaml_ = false;
    std::vector<Page> pages_;
    std::vector<Refused> refused_;
};

}  // namespace fmsim
