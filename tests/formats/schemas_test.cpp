// The schemas as users get them: whole, and named.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

void check_references(const json& at, const json& root) {
    if (at.is_object() && at.contains("$ref")) {
        const std::string target = at["$ref"];
        REQUIRE(target.starts_with("#/"));
        CHECK(root.contains(json::json_pointer(target.substr(1))));
    }
    if (at.is_structured())
        for (const auto& [key, inner] : at.items()) check_references(inner, root);
}

TEST_CASE("each schema is JSON, is draft 7, and holds all that it refers to") {
    const auto names = schema_names();
    for (const char* known : {"workload", "cluster", "measurements", "system"})
        CHECK(std::count(names.begin(), names.end(), known) == 1);
    for (const std::string& name : names) {
        CAPTURE(name);
        const json schema = json::parse(schema_text(name));
        CHECK(schema["$schema"] == "http://json-schema.org/draft-07/schema#");
        check_references(schema, schema);
    }
}

TEST_CASE("each object of a workload file has free x- keys and refuses unknown ones") {
    std::size_t objects = 0;
    const auto walk = [&](const json& at, const auto& self) -> void {
        if (at.is_object() && at.contains("properties")) {
            ++objects;
            CHECK(at["patternProperties"].contains("^x-"));
            CHECK(at["additionalProperties"] == false);
        }
        if (at.is_structured())
            for (const auto& [key, inner] : at.items()) self(inner, self);
    };
    walk(json::parse(schema_text("workload")), walk);
    CHECK(objects == 12);
}

TEST_CASE("a schema that there is not is refused with the one that was meant") {
    CHECK_THAT(test::refusal([] { schema_text("wokload"); }),
               Catch::EndsWith("did you mean \"workload\"?; found wokload"));
}

}  // namespace
}  // namespace fmsim
