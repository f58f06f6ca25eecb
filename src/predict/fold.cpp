// Colour refinement: what is told apart by nothing behaves alike.
//
// The vertices are domains (with all their GPUs, NICs and links, in a fixed order), groups and the network's switches.
//
//   domain   begins with its type and what is broken in it; then takes in, GPU by GPU, which rank sits there, its
//            program, the colours of its groups and its domain's role in them, the colours of the ranks it sends to
//   group    which GPUs of each of its domains take part, and the multiset of (colour of the domain, role)
//   switch   what is broken at it, and the multiset of the colours below; only where its links can saturate
//
// Rounds go on until no colour splits. All links of a domain have their place in its order, so two domains of one
// colour have the same loads link by link. Groups need no order of their parts: a stream ends for all at once.
//
//   4 domains, ring over all: one colour.   One slow NIC in domain 2: its colour differs; the others stay together,
//   since the group has one colour and nobody's distance to domain 2 counts.
//
// Source: design.md's folding, after Grohe, Kersting, Mladenov and Selman (ESA 2014). Cost: O(rounds x ranks x
// families).
#include "fold.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace fmsim {
namespace {

// A part of a group: where it is, and all that tells it from other parts but its domain's colour.
struct PartVertex {
    std::uint32_t domain{};
    Colour shape{};  // its GPUs and its role
};
struct GroupVertex {
    std::uint32_t first_part{}, end_part{};
    Colour fixed{};  // the sequence of machine types
    Colour colour{};
};

class Refinement {
public:
    Refinement(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
               const PartRoles& roles_of)
        : topology_(topology), workload_(workload), placements_(placements), counts_(network_counts(topology)) {
        begin_domains();
        begin_switches();
        for (std::uint32_t job = 0; job < workload.jobs.size(); ++job) begin_job(job, roles_of);
        sort_ranks();
    }

    void run() {
        first_domains_ = domains_;
        for (std::size_t classes = 0;;) {
            colour_groups();
            colour_domains();
            colour_switches();
            const std::size_t now = distinct(domains_);
            if (now == classes) return;
            classes = now;
        }
    }
    Fold result();

private:
    struct Seat {  // a rank on a GPU
        std::uint32_t domain, gpu, job, rank;
        auto operator<=>(const Seat&) const = default;
    };
    struct JobVertices {
        std::vector<std::vector<std::vector<std::uint32_t>>> members;   // of a family, of a group
        std::vector<std::vector<std::uint32_t>> first_group;            // of a family: number among groups_
        std::vector<std::vector<std::uint32_t>> part_of;                // of a family, of a rank; kNoClass: none
        std::vector<std::uint32_t> program;                             // of a rank
        std::vector<std::vector<std::pair<bool, std::int64_t>>> peers;  // of a program: distinct ones
    };

    void begin_domains();
    void begin_switches();
    void begin_job(std::uint32_t job, const PartRoles& roles_of);
    void begin_family(std::uint32_t job, std::uint32_t family, const PartRoles& roles_of);
    void sort_ranks();
    void colour_groups();
    void colour_domains();
    void colour_switches();
    Colour seat_colour(const Seat& seat) const;
    FoldedJob folded_job(std::uint32_t job, const LinkClasses& links) const;
    LinkClasses link_classes() const;
    std::vector<std::string> reasons(const LinkClasses& links) const;
    std::string reason(std::uint32_t domain, std::uint32_t other) const;

    const Topology& topology_;
    const Workload& workload_;
    const std::vector<Placement>& placements_;
    const bool counts_;
    std::vector<Colour> domains_, first_domains_;  // now, and before the first round
    std::vector<std::vector<Colour>> switches_;    // of a layer
    std::vector<JobVertices> jobs_;
    std::vector<GroupVertex> groups_;
    std::vector<PartVertex> parts_;
    std::vector<std::uint32_t> group_of_part_;
    std::vector<Seat> seats_;                // by domain
    std::vector<std::uint32_t> first_seat_;  // of a domain
};

void Refinement::begin_domains() {
    std::vector<bool> broken(topology_.domains());
    for (const Fault& fault : topology_.cluster.faults)
        if (fault.kind != DeviceKind::network_switch && fault.kind != DeviceKind::fabric)
            broken[topology_.instances[InstanceId{fault.instance}].domain.value] = true;
    for (std::uint32_t d = 0; d < topology_.domains(); ++d) {
        const InstanceId first = topology_.first_instance[DomainId{d}];
        Colour colour = mix(1, topology_.instances[first].block);
        if (broken[d]) {
            const std::uint32_t instances = topology_.type_of(DomainId{d}).instances;
            const std::uint32_t from = topology_.instances[first].link;
            const std::uint32_t after = first.value + instances;
            const std::uint32_t end = after < topology_.instances.size()
                                          ? topology_.instances[InstanceId{after}].link
                                          : static_cast<std::uint32_t>(topology_.links.size());
            for (std::uint32_t link = from; link < end; ++link)
                colour = mix(colour, colour_of(topology_.links[LinkId{link}].rate.value));
            if (after >= topology_.instances.size()) colour = mix(colour, d);  // with what follows its links
        }
        domains_.push_back(colour);
    }
}

void Refinement::begin_switches() {
    if (!counts_) return;
    for (std::uint32_t l = 0; l < topology_.cluster.network.layers.size(); ++l) {
        switches_.emplace_back();
        for (std::uint32_t s = 0; s < topology_.switches(l); ++s) {
            Colour colour = l;
            for (std::uint32_t i = 0; i < 2 * topology_.cluster.network.layers[l].uplinks; ++i)
                colour = mix(colour, colour_of(topology_.links[{topology_.first_uplink(l, s).value + i}].rate.value));
            switches_.back().push_back(colour);
        }
    }
}

void Refinement::begin_job(std::uint32_t job, const PartRoles& roles_of) {
    const Job& written = workload_.jobs[job];
    const auto ranks = static_cast<std::uint32_t>(placements_[job].size());
    JobVertices& made = jobs_.emplace_back();
    made.program.assign(ranks, kNoClass);
    for (std::uint32_t p = 0; p < written.programs.size(); ++p) {
        const Program& program = written.programs[p];
        for (const std::uint32_t rank : program.ranks) made.program[rank] = p;
        if (program.ranks.empty()) std::fill(made.program.begin(), made.program.end(), p);
        auto& peers = made.peers.emplace_back();
        for (const Operation& operation : program.operations)
            if (const auto* transfers = std::get_if<Transfers>(&operation.action)) {
                for (const Send& send : transfers->sends) peers.emplace_back(send.to.relative, send.to.rank);
                for (const Receive& receive : transfers->receives)
                    peers.emplace_back(receive.from.relative, receive.from.rank);
            }
        std::sort(peers.begin(), peers.end());
        peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        seats_.push_back({placements_[job][rank].domain.value, placements_[job][rank].gpu, job, rank});
    for (std::uint32_t family = 0; family < written.groups.size(); ++family) begin_family(job, family, roles_of);
}

void Refinement::begin_family(std::uint32_t job, std::uint32_t family, const PartRoles& roles_of) {
    JobVertices& made = jobs_[job];
    const auto ranks = static_cast<std::uint32_t>(placements_[job].size());
    made.members.push_back(groups_of(workload_.jobs[job].groups[family], ranks));
    made.first_group.emplace_back();
    made.part_of.emplace_back(ranks, kNoClass);
    for (const auto& members : made.members.back()) {
        Placement places;
        for (const std::uint32_t rank : members) places.push_back(placements_[job][rank]);
        const Group group = group_of(places);
        const std::vector<std::uint64_t> roles = roles_of(group, job, family);
        GroupVertex vertex{.first_part = static_cast<std::uint32_t>(parts_.size()),
                           .end_part = static_cast<std::uint32_t>(parts_.size() + group.parts.size()),
                           .fixed = mix(job, family)};
        for (std::uint32_t p = 0; p < group.parts.size(); ++p) {
            const Group::Part& part = group.parts[p];
            Colour shape = roles[p];
            for (const std::uint32_t position : part.positions) {
                shape = mix(shape, places[position].gpu);
                made.part_of.back()[members[position]] = static_cast<std::uint32_t>(parts_.size());
            }
            vertex.fixed = mix(vertex.fixed, topology_.instances[topology_.first_instance[part.domain]].block);
            parts_.push_back({part.domain.value, shape});
            group_of_part_.push_back(static_cast<std::uint32_t>(groups_.size()));
        }
        made.first_group.back().push_back(static_cast<std::uint32_t>(groups_.size()));
        groups_.push_back(vertex);
    }
}

void Refinement::sort_ranks() {
    std::sort(seats_.begin(), seats_.end());
    first_seat_.assign(topology_.domains() + 1, 0);
    for (const Seat& seat : seats_) ++first_seat_[seat.domain + 1];
    for (std::uint32_t d = 0; d < topology_.domains(); ++d) first_seat_[d + 1] += first_seat_[d];
}

void Refinement::colour_groups() {
    for (GroupVertex& group : groups_) {
        Colour sum = 0;  // of a multiset
        for (std::uint32_t p = group.first_part; p < group.end_part; ++p)
            sum += mix(domains_[parts_[p].domain], parts_[p].shape);
        group.colour = mix(group.fixed, sum);
    }
}

Colour Refinement::seat_colour(const Seat& seat) const {
    const JobVertices& job = jobs_[seat.job];
    Colour colour = mix(mix(seat.gpu, seat.job), job.program[seat.rank]);
    for (const auto& part_of : job.part_of) {
        const std::uint32_t part = part_of[seat.rank];
        colour = mix(colour, part == kNoClass ? 0 : mix(groups_[group_of_part_[part]].colour, parts_[part].shape));
    }
    if (job.program[seat.rank] == kNoClass) return colour;
    const auto ranks = static_cast<std::int64_t>(placements_[seat.job].size());
    for (const auto& [relative, rank] : job.peers[job.program[seat.rank]]) {
        const std::int64_t peer = relative ? ((seat.rank + rank) % ranks + ranks) % ranks : rank;
        if (peer >= ranks) continue;  // tasks_of refuses it
        const GpuPlace there = placements_[seat.job][static_cast<std::size_t>(peer)];
        colour = mix(colour, mix(domains_[there.domain.value], there.gpu));
    }
    return colour;
}

void Refinement::colour_domains() {
    std::vector<Colour> now(domains_.size());
    for (std::uint32_t d = 0; d < domains_.size(); ++d) {
        Colour colour = domains_[d];
        for (std::uint32_t s = first_seat_[d]; s < first_seat_[d + 1]; ++s)
            colour = mix(colour, seat_colour(seats_[s]));
        const InstanceId first = topology_.first_instance[DomainId{d}];
        for (std::uint32_t i = 0; counts_ && i < topology_.type_of(DomainId{d}).instances; ++i) {
            std::uint32_t above = first.value + i;
            for (std::uint32_t l = 0; l < switches_.size(); ++l) {
                above = topology_.above(l, above);
                colour = mix(colour, switches_[l][above]);
            }
        }
        now[d] = colour;
    }
    domains_ = std::move(now);
}

void Refinement::colour_switches() {
    if (!counts_) return;
    std::vector<Colour> below;
    for (std::uint32_t i = 0; i < topology_.instances.size(); ++i) {
        const InstanceBlock& block = topology_.instances[InstanceId{i}];
        below.push_back(mix(domains_[block.domain.value], block.in_domain));
    }
    for (std::uint32_t l = 0; l < switches_.size(); ++l) {
        std::vector<Colour> sums(switches_[l].size());
        for (std::uint32_t child = 0; child < below.size(); ++child)
            sums[topology_.above(l, child)] += mix(3, below[child]);
        for (std::uint32_t s = 0; s < sums.size(); ++s) switches_[l][s] = mix(switches_[l][s], sums[s]);
        below = switches_[l];
    }
}

// Numbers for colours, in the order in which they first come.
class Numbering {
public:
    std::uint32_t of(Colour colour) {
        return known_.try_emplace(colour, static_cast<std::uint32_t>(known_.size())).first->second;
    }
    std::uint32_t count() const { return static_cast<std::uint32_t>(known_.size()); }

private:
    std::map<Colour, std::uint32_t> known_;
};

LinkClasses Refinement::link_classes() const {
    LinkClasses links;
    links.network_counts = counts_;
    Numbering domain_classes;
    for (std::uint32_t d = 0; d < domains_.size(); ++d) {
        const std::uint32_t its_class = domain_classes.of(domains_[d]);
        links.of_domain.rows.push_back(its_class);
        if (its_class == links.first.size()) {
            links.first.push_back({d});
            links.count.push_back(0);
        }
        ++links.count[its_class];
    }
    Numbering switch_classes;
    for (std::uint32_t l = 0; l < switches_.size(); ++l)
        for (std::uint32_t s = 0; s < switches_[l].size(); ++s) {
            const std::uint32_t its_class = switch_classes.of(mix(switches_[l][s], l));
            if (its_class == links.first_switch.size()) {
                links.first_switch.push_back(static_cast<std::uint32_t>(links.of_switch.size()));
                links.switches.push_back(0);
            }
            ++links.switches[its_class];
            links.of_switch.push_back(its_class);
        }
    return links;
}

FoldedJob Refinement::folded_job(std::uint32_t job, const LinkClasses& links) const {
    const JobVertices& vertices = jobs_[job];
    FoldedJob folded;
    folded.class_of.assign(placements_[job].size(), kNoClass);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;  // of a class of domains and a GPU
    for (std::uint32_t rank = 0; rank < placements_[job].size(); ++rank) {
        if (vertices.program[rank] == kNoClass) continue;
        const GpuPlace place = placements_[job][rank];
        const auto [found, fresh] = known.try_emplace({links.of_domain[place.domain], place.gpu},
                                                      static_cast<std::uint32_t>(folded.ranks.size()));
        if (fresh) folded.ranks.push_back({rank, 0, vertices.program[rank]});
        folded.class_of[rank] = found->second;
        ++folded.ranks[found->second].count;
    }
    for (std::size_t f = 0; f < vertices.members.size(); ++f) {
        FoldedFamily& family = folded.families.emplace_back();
        const auto& groups = vertices.members[f];
        family.groups = static_cast<std::uint32_t>(groups.size());
        family.of_ranks.assign(folded.ranks.size(), kNoClass);
        Numbering classes;
        for (std::uint32_t g = 0; g < groups.size(); ++g) {
            const GroupVertex& group = groups_[vertices.first_group[f][g]];
            const std::uint32_t its_class = classes.of(group.colour);
            if (its_class == family.classes.size()) {
                bool alike = true;
                const PartVertex& first = parts_[group.first_part];
                for (std::uint32_t p = group.first_part; p < group.end_part; ++p)
                    alike =
                        alike && parts_[p].shape == first.shape && domains_[parts_[p].domain] == domains_[first.domain];
                family.classes.push_back({groups[g], 0, alike});
            }
            ++family.classes[its_class].count;
            for (const std::uint32_t rank : groups[g])
                if (folded.class_of[rank] != kNoClass) family.of_ranks[folded.class_of[rank]] = its_class;
        }
    }
    return folded;
}

// What first differs between two domains of one type, in the order in which colours take it in.
std::string Refinement::reason(std::uint32_t domain, std::uint32_t other) const {
    if (first_domains_[domain] != first_domains_[other]) return "a device is broken";
    const std::uint32_t seats = first_seat_[domain + 1] - first_seat_[domain];
    if (seats != first_seat_[other + 1] - first_seat_[other]) return "another number of ranks";
    for (std::uint32_t s = 0; s < seats; ++s) {
        const Seat& a = seats_[first_seat_[domain] + s];
        const Seat& b = seats_[first_seat_[other] + s];
        const JobVertices& job = jobs_[a.job];
        if (a.gpu != b.gpu || a.job != b.job) return "ranks on other GPUs";
        if (job.program[a.rank] != job.program[b.rank]) return fmt::format("another program on GPU {}", a.gpu);
        for (std::size_t f = 0; f < job.part_of.size(); ++f) {
            const std::uint32_t left = job.part_of[f][a.rank], right = job.part_of[f][b.rank];
            const std::string& family = workload_.jobs[a.job].groups[f].name;
            if ((left == kNoClass) != (right == kNoClass)) return "membership in " + family;
            if (left == kNoClass) continue;
            if (parts_[left].shape != parts_[right].shape) return "another place in the rings or trees of " + family;
            if (groups_[group_of_part_[left]].colour != groups_[group_of_part_[right]].colour)
                return "its group of " + family + " has other members";
        }
    }
    return counts_ ? "another switch above" : "ranks that it sends to or receives from";
}

std::vector<std::string> Refinement::reasons(const LinkClasses& links) const {
    std::vector<std::string> all;
    std::map<std::uint32_t, std::uint32_t> first;  // of a machine type: its first class
    for (std::uint32_t c = 0; c < links.first.size(); ++c) {
        const std::uint32_t block = topology_.instances[topology_.first_instance[links.first[c]]].block;
        const auto [known, fresh] = first.try_emplace(block, c);
        all.push_back(fresh ? std::string() : reason(links.first[c].value, links.first[known->second].value));
    }
    return all;
}

Fold Refinement::result() {
    colour_groups();
    Fold folded{.links = link_classes(), .jobs = {}, .apart = {}};
    folded.apart = reasons(folded.links);
    for (std::uint32_t job = 0; job < jobs_.size(); ++job) folded.jobs.push_back(folded_job(job, folded.links));
    return folded;
}

bool hashes(const Topology& topology) {
    return std::any_of(topology.cluster.blocks.begin(), topology.cluster.blocks.end(), [](const DomainBlock& block) {
        return block.type.instance.nic && block.type.instance.nic->spreading == Spreading::hash;
    });
}

}  // namespace

std::optional<Fold> fold(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
                         const PartRoles& roles_of) {
    const auto& layers = topology.cluster.network.layers;
    const bool rails =
        std::any_of(layers.begin(), layers.end(), [](const NetworkLayer& l) { return l.rail_optimized; });
    if (topology.cluster.graph || rails || (network_counts(topology) && hashes(topology))) return {};
    if (auto regular = regular_fold(topology, workload, placements, roles_of)) return regular;
    Refinement refinement(topology, workload, placements, roles_of);
    refinement.run();
    return refinement.result();
}

}  // namespace fmsim
