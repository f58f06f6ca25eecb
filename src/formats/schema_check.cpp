#include "schema_check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "document.hpp"
#include "embedded.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

json load(const std::string& name) {
    json schema = json::parse(embedded_files().at("schemas/" + name + ".json"));
    schema["definitions"] = json::parse(embedded_files().at("schemas/definitions.json")).at("definitions");
    return schema;
}

// A schema with a reference replaced by what it names. Our schemas use no other indirection.
const json& resolved(const json& schema, const json& root) {
    if (!schema.contains("$ref")) return schema;
    return root.at(Pointer(schema.at("$ref").get<std::string>().substr(1)));
}

// The schema of the value at `pointer`, as far as the schema knows it.
const json& schema_at(const std::vector<std::string>& tokens, const json& root) {
    const json* at = &root;
    for (const std::string& token : tokens) {
        if (at->contains("properties") && at->at("properties").contains(token))
            at = &resolved(at->at("properties").at(token), root);
        else if (at->contains("items"))
            at = &resolved(at->at("items"), root);
    }
    return *at;
}

// valijson's way to a value: "<root>", "[key]", "[3]".
std::vector<std::string> tokens_of(const std::vector<std::string>& context) {
    std::vector<std::string> tokens;
    for (const std::string& part : context)
        if (part.size() >= 2 && part.front() == '[') tokens.push_back(part.substr(1, part.size() - 2));
    return tokens;
}

Pointer pointer_of(const std::vector<std::string>& tokens) {
    Pointer pointer;
    for (const std::string& token : tokens) pointer.push_back(token);
    return pointer;
}

std::string describe(const json& schema) { return "expected " + schema.value("description", "something else"); }

// What stands between the first pair of quotes of a message after `after`.
std::string quoted(const std::string& message, std::string_view after) {
    const auto start = message.find('\'', message.find(after) + after.size()) + 1;
    return message.substr(start, message.rfind('\'') - start);
}

constexpr std::string_view kUnknownKey = "'additionalProperties' constraints: ";
constexpr std::string_view kMissingKey = "Missing required property ";

// valijson names one unknown key of an object; these are all.
std::vector<Problem> unknown_keys(const json& schema, const Pointer& at, const json& object) {
    const json properties = schema.value("properties", json::object());
    std::vector<std::string> known;
    for (const auto& [name, property] : properties.items()) known.push_back(name);
    std::vector<Problem> problems;
    for (const auto& [key, member] : object.items()) {
        if (key.starts_with("x-") || std::find(known.begin(), known.end(), key) != known.end()) continue;
        std::string expected = "no such key";
        if (const auto meant = nearest(key, known)) expected += fmt::format("; did you mean \"{}\"?", *meant);
        problems.push_back({.pointer = (at / key).to_string(), .expected = std::move(expected)});
        if (problems.size() == kMostProblems) break;
    }
    return problems;
}

Problem missing_key(const json& schema, const json& root, const Pointer& object, const std::string& key) {
    const json& property = resolved(schema.at("properties").at(key), root);
    return {.pointer = object.to_string(),
            .expected = fmt::format("expected a key \"{}\": {}", key, property.value("description", "a value")),
            .found = "none"};
}

class Check {
public:
    explicit Check(const json& root) : root_(root) {
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(valijson::adapters::NlohmannJsonAdapter(root_), schema_);
    }

    std::vector<Problem> problems(const json& value) {
        valijson::ValidationResults results;
        valijson::Validator(valijson::Validator::kStrongTypes)
            .validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), &results);
        std::vector<Problem> problems;
        for (const auto& error : results) {
            for (Problem& problem : problems_of(error, value))
                if (std::find(problems.begin(), problems.end(), problem) == problems.end())
                    problems.push_back(std::move(problem));
            if (problems.size() >= kMostProblems) break;
        }
        return problems;
    }

private:
    std::vector<Problem> problems_of(const valijson::ValidationResults::Error& error, const json& value) const {
        // What contains a bad value is bad too: only the innermost is worth saying.
        if (error.description.starts_with("Failed to validate")) return {};
        const auto tokens = tokens_of(error.context);
        const Pointer at = pointer_of(tokens);
        const json& schema = schema_at(tokens, root_);
        if (error.description.find(kUnknownKey) != std::string::npos) return unknown_keys(schema, at, value.at(at));
        if (error.description.starts_with(kMissingKey))
            return {missing_key(schema, root_, at, quoted(error.description, kMissingKey))};
        return {{.pointer = at.to_string(), .expected = describe(schema), .found = shown(value.at(at))}};
    }

    const json& root_;
    valijson::Schema schema_;
};

}  // namespace

std::vector<Problem> schema_problems(const json& value, const std::string& name, const std::string& file) {
    const json root = load(name);
    std::vector<Problem> all = Check(root).problems(value);
    for (Problem& problem : all) problem.file = file;
    return all;
}

}  // namespace fmsim
