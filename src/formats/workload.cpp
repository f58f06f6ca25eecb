// Workload files: the jobs, their groups and programs. The operations themselves are read in workload_operations.cpp.
//
// One job may stand at the top level; several stand in `jobs`. A job has `operations` of all its ranks, or `programs`.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"
#include "outline.hpp"
#include "rank_lists.hpp"
#include "workload_operations.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

struct Left {
    Allowance ranks{kMostListedRanks, fmt::format("expected a file that lists at most {} ranks", kMostListedRanks)};
    Allowance operations{kMostOperations,
                         fmt::format("expected a file of at most {} operations, repeated ones and their parts counted",
                                     kMostOperations)};
};

PlacementWish wish_at(const Spot& spot) {
    PlacementWish wish;
    if (spot.has("policy")) {
        static constexpr std::array<std::string_view, 3> kPolicies{"linear", "packed", "spread"};
        wish.placement = spot["policy"].name();
        if (std::find(kPolicies.begin(), kPolicies.end(), wish.placement) == kPolicies.end() &&
            !wish.placement.starts_with("random:") && !wish.placement.starts_with("hosts:"))
            spot["policy"].refuse("expected linear, packed, spread, random:SEED or hosts:FILE");
    }
    if (spot.has("gpus")) wish.gpus = spot["gpus"].count();
    if (spot.has("per_domain")) wish.per_domain = spot["per_domain"].count();
    return wish;
}

// Of the top level, or of one of several.
Job job_at(const Spot& spot, Left& left) {
    Job job{.groups = {all_ranks()}};
    if (spot.has("placement")) job.wish = wish_at(spot["placement"]);
    if (spot.has("groups")) job.groups = families_at(spot["groups"], left.ranks);
    if (spot.has("operations") && !spot.has("programs")) {
        job.programs.push_back(
            {.operations = operations_at(spot["operations"], job.groups, left.operations), .place = spot.pointer()});
        return job;
    }
    for (std::size_t i = 0; i < spot["programs"].size(); ++i) {
        const Spot program = spot["programs"][i];
        job.programs.push_back(
            {.role = program.has("role") ? program["role"].name() : "",
             .ranks = program.has("ranks") ? ranks_at(program["ranks"], left.ranks) : std::vector<std::uint32_t>{},
             .operations = operations_at(program["operations"], job.groups, left.operations),
             .place = program.pointer()});
    }
    return job;
}

std::vector<Job> jobs_at(const Spot& list, Left& left) {
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Spot spot = list[i];
        if (spot.has("operations") == spot.has("programs")) {
            spot.refuse("expected either operations or programs", spot.has("programs") ? "both" : "neither");
            continue;
        }
        jobs.push_back(job_at(spot, left));
        jobs.back().name = spot.has("name") ? spot["name"].name() : fmt::format("job {}", i);
        if (spot.has("start")) jobs.back().start = spot["start"].span();
    }
    return jobs;
}

std::vector<std::pair<std::string, std::string>> environment_at(const Spot& spot) {
    static constexpr std::string_view kPrefix = "NCCL_";
    const auto sound = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::vector<std::pair<std::string, std::string>> variables;
    for (const std::string& key : spot.keys()) {
        if (!key.starts_with(kPrefix) || key == kPrefix || !std::all_of(key.begin(), key.end(), sound))
            spot[key].refuse("expected a variable of NCCL, such as NCCL_ALGO", key);
        variables.emplace_back(key, spot[key].name());
    }
    return variables;
}

std::vector<std::pair<std::string, std::string>> scenario_at(const Spot& spot) {
    std::vector<std::pair<std::string, std::string>> words;
    for (const char* key :
         {"cluster", "fidelity", "placement", "gpus", "per_domain", "algorithm", "protocol", "most_channels"})
        if (spot.has(key))
            words.emplace_back(key,
                               spot[key].json().is_string() ? spot[key].name() : fmt::format("{}", spot[key].count()));
    return words;
}

void read_jobs(Workload& work, const Spot& root) {
    Left left;
    const int forms = root.has("operations") + root.has("programs") + root.has("jobs");
    if (forms != 1) {
        root.refuse("expected one of operations, programs and jobs", forms == 0 ? "none" : "several");
    } else if (root.has("jobs")) {
        for (const char* key : {"groups", "placement"})
            if (root.has(key)) root[key].refuse(fmt::format("expected {} in each of the jobs", key));
        work.jobs = jobs_at(root["jobs"], left);
    } else {
        work.jobs.push_back(job_at(root, left));
        work.jobs.back().name = work.name;
    }
}

}  // namespace

Workload parse_workload(std::string_view text, const std::string& file) {
    Document document(text, file, "workload");
    const Spot root = document.root();
    Workload work{.name = root.has("name") ? root["name"].name() : file};
    if (root.has("environment")) work.environment = environment_at(root["environment"]);
    if (root.has("scenario")) work.scenario = scenario_at(root["scenario"]);
    read_jobs(work, root);
    document.finish();
    try {
        check(work);
    } catch (const InputError& error) {
        std::vector<Problem> problems = error.problems;
        for (Problem& problem : problems) problem.file = file;
        document.refuse(std::move(problems));
    }
    return work;
}

InputError in_file(const InputError& error, std::string_view text, const std::string& file) {
    std::vector<Problem> problems = error.problems;
    for (Problem& problem : problems)
        if (problem.file.empty() && !problem.pointer.empty()) problem.file = file;
    std::vector<Problem> placed;
    for (const Problem& problem : problems)
        if (problem.file == file) placed.push_back(problem);
    add_lines(placed, text);
    for (std::size_t i = 0, next = 0; i < problems.size(); ++i)
        if (problems[i].file == file) problems[i] = placed[next++];
    return InputError(std::move(problems));
}

}  // namespace fmsim
