#include "schema_check.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "document.hpp"
#include "embedded.hpp"
#include "fmsim/formats.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

// A schema's own definitions go before those that all share.
template <class Json>
Json load(const std::string& name) {
    Json schema = Json::parse(embedded_files().at("schemas/" + name + ".json"));
    const Json shared = Json::parse(embedded_files().at("schemas/definitions.json")).at("definitions");
    for (const auto& [key, definition] : shared.items())
        if (!schema["definitions"].contains(key)) schema["definitions"][key] = definition;
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
        else if (at->contains("additionalProperties") && at->at("additionalProperties").is_object())
            at = &resolved(at->at("additionalProperties"), root);
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

// The definitions that a part of a schema names, and those that they name.
void add_references(const nlohmann::ordered_json& part, const nlohmann::ordered_json& root,
                    std::set<std::string>& names) {
    if (part.is_object() && part.contains("$ref")) {
        const std::string name = part.at("$ref").get<std::string>().substr(std::string_view("#/definitions/").size());
        if (names.insert(name).second) add_references(root.at("definitions").at(name), root, names);
        return;
    }
    if (part.is_structured())
        for (const auto& [key, inner] : part.items())
            if (key != "definitions" || &part != &root) add_references(inner, root, names);
}

}  // namespace

std::vector<std::string> schema_names() {
    static constexpr std::string_view kFolder = "schemas/", kEnding = ".json";
    std::vector<std::string> names;
    for (const auto& [path, text] : embedded_files()) {
        if (!path.starts_with(kFolder)) continue;
        std::string name = path.substr(kFolder.size(), path.size() - kFolder.size() - kEnding.size());
        if (name != "definitions") names.push_back(std::move(name));
    }
    return names;
}

std::string schema_text(std::string_view name) {
    const std::vector<std::string> names = schema_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        const auto meant = nearest(name, names);
        std::string expected = fmt::format("expected a schema: {}", fmt::join(names, ", "));
        if (meant) expected += fmt::format("; did you mean \"{}\"?", *meant);
        throw InputError({{.expected = std::move(expected), .found = std::string(name)}});
    }
    auto schema = load<nlohmann::ordered_json>(std::string(name));
    std::set<std::string> used;
    add_references(schema, schema, used);
    const auto all = schema["definitions"];
    schema.erase("definitions");
    for (const std::string& one : used) schema["definitions"][one] = all.at(one);
    return schema.dump(2) + "\n";
}

std::vector<Problem> schema_problems(const json& value, const std::string& name, const std::string& file) {
    const json root = load<json>(name);
    std::vector<Problem> all = Check(root).problems(value);
    for (Problem& problem : all) problem.file = file;
    return all;
}

}  // namespace fmsim
