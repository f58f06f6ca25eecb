// Many training plans in one file (schemas/training_plans.json): a base, and of each plan what differs.
//
// A plan is the base with the plan laid over it as a JSON merge patch (RFC 7396), read as a plan of its own.
#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

// A problem of the plan after merging, said where the file has its value: in the plan, or else in the base.
Problem placed(Problem problem, const nlohmann::json& patch, std::size_t index) {
    const bool of_plan = problem.pointer.empty() || patch.contains(nlohmann::json::json_pointer(problem.pointer));
    problem.pointer = (of_plan ? fmt::format("/plans/{}", index) : "/base") + problem.pointer;
    return problem;
}

}  // namespace

bool is_training_plans(std::string_view text) {
    if (!may_say(text, "training_plans")) return false;
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_object() && value.contains("kind") && value["kind"] == "training_plans";
}

std::vector<TrainingFile> parse_training_plans(std::string_view text, const std::string& file) {
    Document document(text, file, "training_plans");
    const nlohmann::json& whole = document.root().json();
    nlohmann::json base = whole["base"];
    base["kind"] = "training";
    std::vector<TrainingFile> plans;
    for (const nlohmann::json& patch : whole["plans"]) {
        nlohmann::json plan = base;
        plan.merge_patch(patch);
        if (!plan.contains("name")) plan["name"] = fmt::format("plan {}", plans.size());
        try {
            plans.push_back(parse_training(plan.dump(), file));
        } catch (const InputError& error) {
            std::vector<Problem> problems;
            for (const Problem& problem : error.problems) problems.push_back(placed(problem, patch, plans.size()));
            document.refuse(std::move(problems));
        }
    }
    return plans;
}

}  // namespace fmsim
