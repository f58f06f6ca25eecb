// A folded workload: one rank of each class runs its program, one group of each class its collectives.
//
// The classes are ranks of a smaller job: whoever met whom before meets the class now, so tasks_of finds the same order
// and the same deadlocks. A group's schedule is that of its first instance on the real topology; of a ring or of PAT
// over alike domains two of them are drawn and stand for all.
#include "folded_steps.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fmsim {
namespace {

// Beyond so many operations of classes a folded job costs what the whole does.
constexpr std::size_t kMostOperations = 4'000'000;

enum class Kind : std::uint8_t { alike, turning, ring, tree, own };  // what tells the parts of a group apart

Kind kind_of(const CollectiveCall& call, const Choice& choice, bool several, bool counts) {
    if (!call.pair_bytes.empty() || choice.algorithm == nullptr) return Kind::own;
    if (call.experts && call.experts->routing == TokenRouting::skewed) return Kind::own;
    if (call.collective == Collective::send_recv) return Kind::own;
    if (!several) return Kind::alike;
    const std::string_view algorithm = choice.algorithm->name;
    const bool chain = call.collective == Collective::broadcast || call.collective == Collective::reduce;
    if (algorithm == "Ring" && !chain) return Kind::ring;
    if (counts || chain) return Kind::own;
    if (algorithm == "Tree" || algorithm == "NVLSTree") return Kind::tree;
    return algorithm == "PAT" ? Kind::turning : Kind::alike;  // equal all-to-all: all parts do the same there too
}

std::uint64_t join(std::uint64_t a, std::uint64_t b) { return (a * 0x100000001b3ull) ^ (b + 0x9e3779b97f4a7c15ull); }

class FoldedMaker {
public:
    FoldedMaker(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
                Schedules& schedules, Fidelity fidelity)
        : topology_(topology),
          workload_(workload),
          placements_(placements),
          schedules_(schedules),
          fidelity_(fidelity) {
        for (const Job& job : workload.jobs) calls_.push_back(calls_of(job));
    }

    std::optional<FoldedSteps> make() {
        auto found = fold(topology_, workload_, placements_,
                          [this](const Group& group, std::uint32_t job, std::uint32_t family) {
                              return roles_of(group, job, family);
                          });
        if (!found || !worth_it(*found)) return {};
        if (fidelity_ == Fidelity::chunk && !found->by_symmetry) return {};
        fold_ = &*found;
        FoldedSteps folded;
        for (std::uint32_t job = 0; job < workload_.jobs.size(); ++job)
            if (!add_job(job, folded.made)) return {};
        if (fidelity_ == Fidelity::chunk &&
            !std::all_of(folded.made.steps.begin(), folded.made.steps.end(), repeats_in_chunks))
            return {};
        folded.folding = summary();
        folded.links = std::move(found->links);
        for (const FoldedJob& job : found->jobs) {
            folded.first_rank.emplace_back();
            for (const RankClass& ranks : job.ranks) folded.first_rank.back().push_back(ranks.first);
        }
        return folded;
    }

private:
    // Of each family the calls on it, each kind once.
    static std::vector<std::vector<const CollectiveCall*>> calls_of(const Job& job) {
        std::vector<std::vector<const CollectiveCall*>> calls(job.groups.size());
        std::set<
            std::tuple<std::uint32_t, Collective, std::int64_t, std::uint32_t, std::string, std::string, std::string>>
            seen;
        for (const Program& program : job.programs)
            for (const Operation& operation : program.operations)
                if (const auto* call = std::get_if<CollectiveCall>(&operation.action))
                    if (!call->pair_bytes.empty() ||
                        seen.insert({call->group, call->collective, call->size.count, call->root, call->algorithm,
                                     call->protocol, experts_text(*call)})
                            .second)
                        calls[call->group].push_back(call);
        return calls;
    }

    std::vector<std::uint64_t> roles_of(const Group& group, std::uint32_t job, std::uint32_t family);
    std::uint64_t ring_role(const Group& group, std::uint32_t part, bool crossing) const;
    std::uint64_t own_role(const Group& group, std::uint32_t part) const;
    static std::uint64_t tree_role(std::uint32_t parts, std::uint32_t part);
    std::uint64_t layers_between(const Group& group, std::uint32_t a, std::uint32_t b) const;
    bool crosses(const Group& group) const;
    // A group of a domain, or a ring or PAT of which two domains stand for all.
    static bool repeats_in_chunks(const Step& step) {
        return step.schedule == nullptr || step.group->parts.size() == 1 || step.part_repeats > 1;
    }
    bool worth_it(const Fold& folded) const;
    Folding summary() const;

    // A collective, but for when it runs.
    struct Made {
        Step step;
        const Group* whole{};
    };

    std::optional<Job> quotient(std::uint32_t job) const;
    std::optional<Transfers> between_classes(const Transfers& written, std::uint32_t job, std::uint32_t rank) const;
    std::optional<std::int64_t> peer_class(const Peer& peer, std::uint32_t job, std::uint32_t rank) const;
    bool add_job(std::uint32_t job, MadeSteps& made);
    Step step_of(std::uint32_t job, const Task& task, StepOrigin& origin);
    Made collective_step(std::uint32_t job, const GroupClass& its_class, const CollectiveCall& call,
                         const Operation& operation);
    Step message_step(std::uint32_t job, const Task& task, StepOrigin& origin);
    const Group& drawn(const Group& whole, const GroupClass& its_class, const CollectiveCall& call);

    const Topology& topology_;
    const Workload& workload_;
    const std::vector<Placement>& placements_;
    Schedules& schedules_;
    const Fidelity fidelity_;
    std::vector<std::vector<std::vector<const CollectiveCall*>>> calls_;  // of a job, of a family
    const Fold* fold_ = nullptr;
    // Of each call as often as it comes. Only looked up.
    std::map<std::pair<const GroupClass*, Schedules::Call>, Made> made_;
};

bool FoldedMaker::crosses(const Group& group) const {
    return std::any_of(group.parts.begin(), group.parts.end(),
                       [&](const Group::Part& part) { return topology_.type_of(part.domain).several.crosses_nics; });
}

// How far up the network two parts have to climb to each other: to the layers' switch, or beyond the last layer.
std::uint64_t FoldedMaker::layers_between(const Group& group, std::uint32_t a, std::uint32_t b) const {
    std::uint32_t left = topology_.first_instance[group.parts[a].domain].value;
    std::uint32_t right = topology_.first_instance[group.parts[b].domain].value;
    std::uint64_t layer = 0;
    for (; layer < topology_.cluster.network.layers.size() && left != right; ++layer) {
        left = topology_.above(static_cast<std::uint32_t>(layer), left);
        right = topology_.above(static_cast<std::uint32_t>(layer), right);
    }
    return left == right ? layer : layer + 1;
}

std::uint64_t FoldedMaker::ring_role(const Group& group, std::uint32_t part, bool crossing) const {
    const auto parts = static_cast<std::uint32_t>(group.parts.size());
    std::uint64_t role = 1;
    if (crossing) {
        role = join(role, part % 2);
        if (parts % 2 == 1) role = join(role, part == 0 ? 1 : part + 1 == parts ? 2 : 3);
    }
    if (!network_counts(topology_)) return role;
    const std::uint32_t before = (part + parts - 1) % parts, next = (part + 1) % parts;
    return join(join(role, layers_between(group, before, part)), layers_between(group, part, next));
}

// Its number, and where the network's switches count the first part under the same one, layer by layer.
std::uint64_t FoldedMaker::own_role(const Group& group, std::uint32_t part) const {
    std::uint64_t role = join(3, part);
    if (!network_counts(topology_)) return role;
    for (std::uint32_t before = 0; before < part; ++before)
        if (const std::uint64_t layer = layers_between(group, before, part);
            layer <= topology_.cluster.network.layers.size())
            role = join(join(role, before), layer);
    return role;
}

std::uint64_t FoldedMaker::tree_role(std::uint32_t parts, std::uint32_t part) {
    std::uint64_t role = 2;
    for (const std::uint32_t tree : {0u, 1u}) {
        const TreeNode node = tree_node(tree, parts, part);
        std::uint64_t place = 0;
        if (node.parent >= 0)
            place = tree_node(tree, parts, static_cast<std::uint32_t>(node.parent)).children[0] == part ? 1 : 2;
        const auto has = [&](std::size_t child) { return node.children[child] >= 0 ? 1u : 0u; };
        role = join(role, place * 4 + has(0) * 2 + has(1));
    }
    return role;
}

std::vector<std::uint64_t> FoldedMaker::roles_of(const Group& group, std::uint32_t job, std::uint32_t family) {
    const auto parts = static_cast<std::uint32_t>(group.parts.size());
    std::vector<std::uint64_t> roles(parts, 0);
    if (group.places.size() < 2) return roles;
    const GroupShape shape = shape_of(topology_, group);
    const bool crossing = crosses(group);
    for (const CollectiveCall* call : calls_[job][family]) {
        const Kind kind = kind_of(*call, schedules_.choice(group, shape, *call), parts > 1, network_counts(topology_));
        for (std::uint32_t p = 0; p < parts; ++p) {
            if (kind == Kind::ring) roles[p] = join(roles[p], ring_role(group, p, crossing));
            if (kind == Kind::tree) roles[p] = join(roles[p], tree_role(parts, p));
            if (kind == Kind::own) roles[p] = join(roles[p], own_role(group, p));
        }
    }
    return roles;
}

bool FoldedMaker::worth_it(const Fold& folded) const {
    std::size_t operations = 0;
    for (std::size_t j = 0; j < folded.jobs.size(); ++j)
        for (const RankClass& ranks : folded.jobs[j].ranks)
            operations += workload_.jobs[j].programs[ranks.program].operations.size();
    return operations <= kMostOperations;
}

Folding FoldedMaker::summary() const {
    Folding sum;
    sum.class_of = fold_->links.of_domain;
    for (std::size_t c = 0; c < fold_->links.first.size(); ++c)
        sum.domains.push_back({fold_->links.first[c], fold_->links.count[c], fold_->apart[c]});
    for (const FoldedJob& job : fold_->jobs) {
        for (const RankClass& ranks : job.ranks) sum.ranks += ranks.count;
        sum.rank_classes += static_cast<std::uint32_t>(job.ranks.size());
        for (const FoldedFamily& family : job.families) {
            sum.groups += family.groups;
            sum.group_classes += static_cast<std::uint32_t>(family.classes.size());
        }
    }
    return sum;
}

// The class of a peer, where as many send as receive.
std::optional<std::int64_t> FoldedMaker::peer_class(const Peer& peer, std::uint32_t job, std::uint32_t rank) const {
    const FoldedJob& folded = fold_->jobs[job];
    const auto ranks = static_cast<std::int64_t>(placements_[job].size());
    const std::int64_t there = peer.relative ? ((rank + peer.rank) % ranks + ranks) % ranks : peer.rank;
    if (there < 0 || there >= ranks) return {};
    const std::uint32_t mine = folded.class_of_rank(rank),
                        its = folded.class_of_rank(static_cast<std::uint32_t>(there));
    if (its == kNoClass || its == mine || folded.ranks[its].count != folded.ranks[mine].count) return {};
    return its;
}

std::optional<Transfers> FoldedMaker::between_classes(const Transfers& written, std::uint32_t job,
                                                      std::uint32_t rank) const {
    Transfers folded = written;
    for (Send& send : folded.sends) {
        const auto its = peer_class(send.to, job, rank);
        if (!its) return {};
        send.to = {false, *its};
    }
    for (Receive& receive : folded.receives) {
        const auto its = peer_class(receive.from, job, rank);
        if (!its) return {};
        receive.from = {false, *its};
    }
    return folded;
}

// The job of the classes, each with its program: one for all that have it, but for messages, whose peers differ.
std::optional<Job> FoldedMaker::quotient(std::uint32_t j) const {
    const Job& job = workload_.jobs[j];
    const FoldedJob& folded = fold_->jobs[j];
    Job small{.name = job.name, .wish = {}, .start = job.start, .groups = {}, .programs = {}};
    for (std::size_t f = 0; f < job.groups.size(); ++f) {
        GroupFamily family{.name = job.groups[f].name};
        for (const GroupClass& its_class : folded.families[f].classes) {
            std::set<std::uint32_t> members;
            for (const std::uint32_t rank : its_class.members)
                if (folded.class_of_rank(rank) != kNoClass)
                    members.insert(folded.class_of_rank(rank));
                else
                    return {};  // a member without a program never arrives: tasks_of says so of the whole job
            family.members.emplace_back(members.begin(), members.end());
        }
        small.groups.push_back(std::move(family));
    }
    std::map<std::uint32_t, std::size_t> alike;  // of programs without messages: which of the small ones
    for (std::uint32_t c = 0; c < folded.ranks.size(); ++c) {
        if (const auto known = alike.find(folded.ranks[c].program); known != alike.end()) {
            small.programs[known->second].ranks.push_back(c);
            continue;
        }
        Program program = job.programs[folded.ranks[c].program];
        program.ranks = {c};
        bool messages = false;
        for (Operation& operation : program.operations) {
            if (auto* call = std::get_if<CollectiveCall>(&operation.action)) {
                call->root = 0;  // counts positions of the whole group
                call->pair_bytes.clear();
            }
            auto* const transfers = std::get_if<Transfers>(&operation.action);
            if (transfers == nullptr) continue;
            messages = true;
            auto between = between_classes(*transfers, j, folded.ranks[c].first);
            if (!between) return {};
            *transfers = std::move(*between);
        }
        if (!messages) alike.emplace(folded.ranks[c].program, small.programs.size());
        small.programs.push_back(std::move(program));
    }
    return small;
}

// Of a ring or PAT over domains that are all alike two stand for all: their hops cost the same and load the same.
const Group& FoldedMaker::drawn(const Group& whole, const GroupClass& its_class, const CollectiveCall& call) {
    constexpr std::size_t kDrawn = 2;
    const auto parts = whole.parts.size();
    if (!its_class.alike_parts || parts <= kDrawn || network_counts(topology_)) return whole;
    const Choice& choice = schedules_.choice(whole, shape_of(topology_, whole), call);
    const Kind kind = kind_of(call, choice, true, false);
    if (kind == Kind::ring && parts % kDrawn != 0 && crosses(whole)) return whole;
    if (kind != Kind::ring && kind != Kind::turning) return whole;
    Placement places;
    for (std::size_t p = 0; p < kDrawn; ++p)
        for (const std::uint32_t position : whole.parts[p].positions) places.push_back(whole.places[position]);
    return schedules_.group(places);
}

Step FoldedMaker::message_step(std::uint32_t j, const Task& task, StepOrigin& origin) {
    const FoldedJob& folded = fold_->jobs[j];
    const std::uint32_t sender = folded.ranks[task.ranks[0]].first;
    const Program& program = workload_.jobs[j].programs[folded.ranks[task.ranks[0]].program];
    const auto& transfers = std::get<Transfers>(program.operations[task.operation].action);
    const auto ranks = static_cast<std::int64_t>(placements_[j].size());
    for (const Send& send : transfers.sends) {
        const std::int64_t to = send.to.relative ? ((sender + send.to.rank) % ranks + ranks) % ranks : send.to.rank;
        if (folded.class_of_rank(static_cast<std::uint32_t>(to)) != task.ranks[1]) continue;
        const Group& ends = schedules_.group({placements_[j][sender], placements_[j][static_cast<std::size_t>(to)]});
        origin.group = &ends;
        origin.ranks = 2;
        origin.times = folded.ranks[task.ranks[0]].count;
        return {.after = {},
                .not_before = {},
                .takes = {},
                .schedule = &schedules_.message(ends, task.size),
                .group = &ends,
                .copies = static_cast<double>(origin.times)};
    }
    return {};
}

Step FoldedMaker::step_of(std::uint32_t j, const Task& task, StepOrigin& origin) {
    const FoldedJob& folded = fold_->jobs[j];
    const RankClass& ranks = folded.ranks[task.ranks.front()];
    const Operation& operation = workload_.jobs[j].programs[ranks.program].operations[task.operation];
    origin = {j, ranks.program, task.operation, 1, ranks.count, nullptr};
    Step step;
    if (const auto* delay = std::get_if<Delay>(&operation.action)) {
        step.takes = delay->span;
        return step;
    }
    if (const auto* compute = std::get_if<Compute>(&operation.action)) {
        return computing(topology_, *compute, operation, placements_[j][ranks.first]);
    }
    const auto* const call = std::get_if<CollectiveCall>(&operation.action);
    if (call == nullptr) return message_step(j, task, origin);
    const FoldedFamily& family = folded.families[call->group];
    const GroupClass& its_class = family.classes[family.of_ranks[task.ranks.front()]];
    const auto& members = its_class.members;
    origin.ranks = static_cast<std::uint32_t>(members.size());
    origin.times = its_class.count;
    if (members.size() < 2) return step;
    Made made;
    if (!call->pair_bytes.empty()) {
        made = collective_step(j, its_class, *call, operation);
    } else {
        const auto [known, fresh] = made_.try_emplace({&its_class, Schedules::key_of(*call)});
        if (fresh) known->second = collective_step(j, its_class, *call, operation);
        made = known->second;
    }
    origin.group = made.whole;
    return made.step;
}

FoldedMaker::Made FoldedMaker::collective_step(std::uint32_t j, const GroupClass& its_class, const CollectiveCall& call,
                                               const Operation& operation) {
    Placement places;
    for (const std::uint32_t rank : its_class.members) places.push_back(placements_[j][rank]);
    const Group& whole = schedules_.group(places);
    const Group& some = drawn(whole, its_class, call);
    Step step;
    step.schedule = &collective_of(schedules_, whole, some, call, operation);
    step.group = &some;
    step.copies = its_class.count;
    step.part_repeats = static_cast<double>(whole.parts.size()) / static_cast<double>(some.parts.size());
    return {step, &whole};
}

bool FoldedMaker::add_job(std::uint32_t j, MadeSteps& made) {
    const std::optional<Job> small = quotient(j);
    if (!small) return false;
    std::vector<Task> tasks;
    try {
        tasks = tasks_of(*small, static_cast<std::uint32_t>(fold_->jobs[j].ranks.size()));
    } catch (const InputError&) {
        return false;  // the whole job says it with its ranks
    }
    const auto first = static_cast<std::uint32_t>(made.steps.size());
    for (Task& task : tasks) {
        StepOrigin origin;
        Step step = step_of(j, task, origin);
        step.not_before = small->start + task.start;
        step.after = std::move(task.after);
        for (std::uint32_t& before : step.after) before += first;
        made.steps.push_back(std::move(step));
        made.origins.push_back(origin);
        made.ranks.push_back(std::move(task.ranks));
    }
    return true;
}

}  // namespace

std::optional<FoldedSteps> folded_steps(const Topology& topology, const Workload& workload,
                                        const std::vector<Placement>& placements, Schedules& schedules,
                                        Fidelity fidelity) {
    return FoldedMaker(topology, workload, placements, schedules, fidelity).make();
}

}  // namespace fmsim
