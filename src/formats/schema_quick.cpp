// A rule for each part of the schema that a value comes to, made once: two thousand operations ask the same rule.
//
// Everything here may only err to one side. What is not understood is not followed, and the full check decides.
#include "schema_quick.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "quick_pattern.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

enum Type : unsigned { kNull = 1, kBoolean = 2, kInteger = 4, kReal = 8, kString = 16, kArray = 32, kObject = 64 };
constexpr unsigned kAnyType = 127;

unsigned type_of(const json& value) {
    switch (value.type()) {
        case json::value_t::null:
            return kNull;
        case json::value_t::boolean:
            return kBoolean;
        case json::value_t::number_integer:
        case json::value_t::number_unsigned:
            return kInteger;
        case json::value_t::number_float:
            return kReal;
        case json::value_t::string:
            return kString;
        case json::value_t::array:
            return kArray;
        case json::value_t::object:
            return kObject;
        default:
            return 0;
    }
}

unsigned type_named(const json& word) {
    static constexpr std::pair<std::string_view, unsigned> kNames[]{
        {"null", kNull},     {"boolean", kBoolean}, {"integer", kInteger}, {"number", kInteger | kReal},
        {"string", kString}, {"array", kArray},     {"object", kObject}};
    for (const auto& [name, type] : kNames)
        if (word == name) return type;
    return 0;
}

struct Rule {
    struct Member {
        std::string_view key;
        const json* schema;
    };
    bool understood = true;
    unsigned types = kAnyType;
    const json* one_of = nullptr;  // enum
    const json* equals = nullptr;  // const
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
    double above = -std::numeric_limits<double>::infinity();
    const json* pattern = nullptr;
    std::uint64_t least_length = 0, most_length = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t least_items = 0, most_items = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t least_members = 0;
    const json* items = nullptr;
    std::vector<Member> members;  // by key
    std::vector<std::string_view> required;
    bool free_keys = false;        // those that begin with "x-"
    bool other_keys = true;        // any
    const json* others = nullptr;  // their schema
};

class Quick {
public:
    explicit Quick(const json& root) : root_(root) {}

    bool follows(const json& value, const json& schema) {
        const Rule& rule = rule_of(schema);
        if (!rule.understood || (rule.types & type_of(value)) == 0) return false;
        if (rule.equals != nullptr && !same(*rule.equals, value)) return false;
        if (rule.one_of != nullptr &&
            std::none_of(rule.one_of->begin(), rule.one_of->end(), [&](const json& one) { return same(one, value); }))
            return false;
        switch (type_of(value)) {
            case kInteger:
            case kReal:
                return number_follows(value.get<double>(), rule);
            case kString:
                return text_follows(value.get_ref<const std::string&>(), rule);
            case kArray:
                return list_follows(value, rule);
            case kObject:
                return object_follows(value, rule);
            default:
                return true;
        }
    }

private:
    static bool same(const json& a, const json& b) { return type_of(a) == type_of(b) && a == b; }

    static bool number_follows(double value, const Rule& rule) {
        constexpr double kExact = 9007199254740992;  // 2^53
        return value > -kExact && value < kExact && value >= rule.least && value <= rule.most && value > rule.above;
    }
    // Characters, not bytes: the continuation bytes of UTF-8 count as none.
    static bool text_follows(const std::string& text, const Rule& rule) {
        if (rule.pattern != nullptr && !surely_matches(text, rule.pattern->get_ref<const std::string&>())) return false;
        const auto characters = static_cast<std::uint64_t>(std::count_if(
            text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
        return characters >= rule.least_length && characters <= rule.most_length;
    }
    bool list_follows(const json& list, const Rule& rule) {
        if (list.size() < rule.least_items || list.size() > rule.most_items) return false;
        return rule.items == nullptr ||
               std::all_of(list.begin(), list.end(), [&](const json& one) { return follows(one, *rule.items); });
    }
    bool object_follows(const json& object, const Rule& rule) {
        if (object.size() < rule.least_members) return false;
        for (const std::string_view key : rule.required)
            if (!object.contains(key)) return false;
        for (const auto& [key, member] : object.get_ref<const json::object_t&>()) {
            const auto at = std::lower_bound(rule.members.begin(), rule.members.end(), key,
                                             [](const Rule::Member& one, const std::string& k) { return one.key < k; });
            if (at != rule.members.end() && at->key == key) {
                if (!follows(member, *at->schema)) return false;
            } else if (!(rule.free_keys && key.starts_with("x-"))) {
                if (!rule.other_keys || (rule.others != nullptr && !follows(member, *rule.others))) return false;
            }
        }
        return true;
    }

    const Rule& rule_of(const json& schema) {
        std::unique_ptr<Rule>& rule = rules_[&schema];
        if (!rule) rule = std::make_unique<Rule>(made(schema));
        return *rule;
    }

    Rule made(const json& schema) const {
        Rule rule;
        if (!schema.is_object()) {
            rule.understood = schema == true;
            return rule;
        }
        if (const auto reference = schema.find("$ref"); reference != schema.end()) {
            const std::string pointer = reference->get<std::string>();
            if (!pointer.starts_with("#/")) {
                rule.understood = false;
                return rule;
            }
            return made(root_.at(json::json_pointer(pointer.substr(1))));
        }
        for (const auto& [keyword, says] : schema.get_ref<const json::object_t&>())
            rule.understood = rule.understood && take(rule, keyword, says);
        return rule;
    }

    // Whether the keyword is understood.
    static bool take(Rule& rule, const std::string& keyword, const json& says) {
        static constexpr std::string_view kWords[]{"$schema", "title", "description", "definitions", "default"};
        if (std::find(std::begin(kWords), std::end(kWords), keyword) != std::end(kWords)) return true;
        if (keyword == "type") {
            rule.types = 0;
            if (says.is_string())
                rule.types = type_named(says);
            else
                for (const json& one : says) rule.types |= type_named(one);
        } else if (keyword == "enum") {
            rule.one_of = &says;
        } else if (keyword == "const") {
            rule.equals = &says;
        } else if (keyword == "minimum") {
            rule.least = says.get<double>();
        } else if (keyword == "maximum") {
            rule.most = says.get<double>();
        } else if (keyword == "exclusiveMinimum") {
            rule.above = says.get<double>();
        } else if (keyword == "pattern") {
            rule.pattern = &says;
        } else if (keyword == "minLength") {
            rule.least_length = says.get<std::uint64_t>();
        } else if (keyword == "maxLength") {
            rule.most_length = says.get<std::uint64_t>();
        } else if (keyword == "minItems") {
            rule.least_items = says.get<std::uint64_t>();
        } else if (keyword == "maxItems") {
            rule.most_items = says.get<std::uint64_t>();
        } else if (keyword == "minProperties") {
            rule.least_members = says.get<std::uint64_t>();
        } else if (keyword == "items" && says.is_object()) {
            rule.items = &says;
        } else if (keyword == "required") {
            for (const json& key : says) rule.required.push_back(key.get_ref<const std::string&>());
        } else if (keyword == "properties") {
            for (const auto& [key, member] : says.get_ref<const json::object_t&>())
                rule.members.push_back({key, &member});
        } else if (keyword == "patternProperties" && says.size() == 1 && says.contains("^x-")) {
            rule.free_keys = true;
        } else if (keyword == "additionalProperties") {
            rule.other_keys = says != false;
            if (says.is_object()) rule.others = &says;
        } else {
            return false;
        }
        return true;
    }

    const json& root_;
    std::unordered_map<const json*, std::unique_ptr<Rule>> rules_;  // only looked up
};

}  // namespace

bool surely_follows(const json& value, const json& root) { return Quick(root).follows(value, root); }

}  // namespace fmsim
