// The why-tree of a run: its calls on the critical path, of each what it waited for, of that the link or the latency.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "why_inputs.hpp"

namespace fmsim {
namespace {

constexpr double kShown = 1e-3;  // of a call: smaller delays are put together

std::string percent(double part) { return fmt::format("{:.3g} %", 100 * part); }

std::string described(const CallPrediction& call) {
    std::string text = call.kind;
    if (call.collective || call.kind == "send") text += fmt::format(" of {}", to_text(call.call.size));
    if (call.ranks > 1) text += fmt::format(", {} ranks", call.ranks);
    if (call.times > 1) text += fmt::format(", {} times at once", call.times);
    if (!call.algorithm.empty())
        text += fmt::format(", {} {}, {} channels", call.algorithm, name(call.protocol), call.channels);
    return call.call.name.empty() || call.call.name == call.kind
               ? text
               : fmt::format("{}: {}", printable(call.call.name), text);
}

class Tree {
public:
    Tree(const Topology& topology, const Prediction& prediction, const Reasons& reasons,
         const std::vector<SourcedValue>& sources)
        : topology_(topology), prediction_(prediction), reasons_(reasons), sources_(sources) {}

    WhyNode make() const {
        WhyNode root{
            .title = "critical path",
            .seconds = seconds(prediction_.end),
            .rule = "what the end waited for, back to the start: parts add up to the run (docs/models/reasons.md)",
            .bound_s = 0,
            .bound_rule = "the closed forms of the calls on the path"};
        std::vector<std::uint32_t> order;  // calls as they come
        std::map<std::uint32_t, std::vector<const CriticalPart*>> of_call;
        for (const CriticalPart& part : reasons_.path) {
            const std::uint32_t call = prediction_.made.call[part.step];
            auto& parts = of_call[call];
            if (parts.empty()) order.push_back(call);
            parts.push_back(&part);
        }
        for (const std::uint32_t call : order) {
            root.children.push_back(call_node(call, of_call.at(call)));
            *root.bound_s += *root.children.back().bound_s;
        }
        number(root);
        return root;
    }

private:
    bool gpudirect() const {
        const auto& blocks = topology_.cluster.blocks;
        return std::all_of(blocks.begin(), blocks.end(),
                           [](const DomainBlock& block) { return block.type.instance.gpudirect; });
    }

    WhyNode call_node(std::uint32_t number, const std::vector<const CriticalPart*>& parts) const {
        const CallPrediction& call = prediction_.calls[number];
        WhyNode node{.title = described(call), .bound_s = 0};
        std::vector<std::uint32_t> steps;
        for (const CriticalPart* part : parts) {
            node.seconds += seconds(part->to - part->from);
            if (steps.empty() || steps.back() != part->step) steps.push_back(part->step);
        }
        if (call.kind == "compute" || call.kind == "delay") name_rank(node, call, steps.front());
        for (const CriticalPart* part : parts)
            if (part->late_rank)
                node.title +=
                    fmt::format("; rank {} came {:.4g} us late", *part->late_rank, microseconds(part->waited));
        std::sort(steps.begin(), steps.end());
        steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
        const auto times = static_cast<double>(steps.size());
        if (call.kind == "compute" || call.kind == "delay") {
            node.bound_s = node.seconds;
            node.bound_rule = "the same: its time is one figure";
        } else {
            node.bound_s = times * seconds(call.closed_form);
            node.bound_rule = "least bytes / rate: no latency, no protocol, no other traffic";
        }
        node.rule = rule_of(*parts.front(), call);
        add_delays(node, call, parts);
        add_flows(node, number, call, parts);
        std::stable_sort(node.children.begin(), node.children.end(),
                         [](const WhyNode& a, const WhyNode& b) { return a.seconds > b.seconds; });
        if (!call.algorithm.empty())
            node.inputs.push_back({"choice", fmt::format("{} {}", call.algorithm, name(call.protocol)), "",
                                   "as NCCL would take it, or as pinned: fmsim explain-choice"});
        return node;
    }

    // Which rank the path goes through, where not all do the same.
    void name_rank(WhyNode& node, const CallPrediction& call, std::uint32_t step) const {
        const auto& ranks = prediction_.made.ranks[step];
        if (ranks.empty()) return;
        node.title += fmt::format(", on rank {}", ranks.front());
        if (!call.role.empty()) node.title += fmt::format(" ({})", printable(call.role));
    }

    static std::string rule_of(const CriticalPart& first, const CallPrediction& call) {
        std::string rule = fmt::format("from {:.6g} us", microseconds(first.from));
        if (call.waited.fs == 0 || first.late_rank) return rule;
        return rule + fmt::format("; of its slowest run the first rank waited {:.4g} us", microseconds(call.waited));
    }

    void add_delays(WhyNode& node, const CallPrediction& call, const std::vector<const CriticalPart*>& parts) const {
        CauseSeconds sum;
        for (const CriticalPart* part : parts)
            if (!part->flows) sum.add(part->causes);
        double rest = 0;
        for (std::size_t i = 0; i < kCauses; ++i) {
            const auto cause = static_cast<Cause>(i);
            if (sum[cause] == 0) continue;
            if (sum[cause] < kShown * node.seconds) {
                rest += sum[cause];
                continue;
            }
            WhyNode child{.title = delay_title(cause, sum[cause], call),
                          .seconds = sum[cause],
                          .rule = std::string(fmsim::rule_of(cause)),
                          .inputs = inputs_of(cause, protocol_of(call), sources_, gpudirect()),
                          .bound_s = {}};
            if (cause <= Cause::network || cause == Cause::channels)
                child.rule =
                    "filling and draining the pipeline: bytes that nothing else overlaps, less what the busiest "
                    "stage moves anyway (docs/models/ring.md)";
            node.children.push_back(std::move(child));
        }
        if (rest != 0)
            node.children.push_back(
                {.title = "other delays", .seconds = rest, .rule = "each below a part in a thousand", .bound_s = {}});
    }

    std::string delay_title(Cause cause, double spent, const CallPrediction& call) const {
        std::string title = kind_of(cause);
        if (cause <= Cause::network || cause == Cause::channels) return "filling and draining: " + title;
        const InstanceType& type = topology_.type_of(DomainId{0}).instance;
        SimTime hop;
        if (cause == Cause::network_latency && type.nic) hop = type.nic->hop_latency[call.protocol];
        if (cause == Cause::nvlink_latency && type.nvlink) hop = type.nvlink->hop_latency[call.protocol];
        if (cause == Cause::signals) hop = type.gpu.unit_cost[call.protocol];
        if (cause == Cause::messages && type.nic) hop = type.nic->message_cost;
        if (hop.fs > 0)
            title += fmt::format(": as much as {:.4g} x {:.4g} us", spent / seconds(hop), microseconds(hop));
        return title;
    }
    // With the network's own name.
    std::string kind_of(Cause cause) const {
        const std::string word(name(cause));
        if (cause != Cause::network && cause != Cause::network_latency) return word;
        return std::string(kind_name(topology_, LinkKind::network)) + word.substr(word.find(' '));
    }

    const Protocol* protocol_of(const CallPrediction& call) const {
        return call.algorithm.empty() ? nullptr : &call.protocol;
    }

    void add_flows(WhyNode& node, std::uint32_t number, const CallPrediction& call,
                   const std::vector<const CriticalPart*>& parts) const {
        std::map<ResourceId, double> held;
        for (const CriticalPart* part : parts)
            if (part->flows) held[part->held_by] += seconds(part->to - part->from);
        for (const auto& [resource, time] : held) {
            const auto saturated =
                std::find_if(reasons_.saturated.begin(), reasons_.saturated.end(),
                             [&, its = resource](const Saturated& s) { return s.call == number && s.resource == its; });
            const Cause cause = resource == kOwnLimit ? Cause::channels : cause_of(topology_, resource);
            WhyNode child{.title = fmt::format("{}: bytes at its rate", plain_name(topology_, resource)),
                          .seconds = time,
                          .rule = std::string(fmsim::rule_of(cause)),
                          .inputs = inputs_of(cause, protocol_of(call), sources_, gpudirect()),
                          .bound_s = {}};
            if (saturated != reasons_.saturated.end()) {
                child.title += fmt::format(", {} busy during the call", percent(saturated->busy));
                if (saturated->alike > 1) child.title += fmt::format(", as are {} alike", saturated->alike - 1);
            }
            if (held.size() == 1 && call.closed_form.fs > 0) {
                child.bound_s = *node.bound_s;
                child.bound_rule = node.bound_rule;
            }
            node.children.push_back(std::move(child));
        }
    }

    const Topology& topology_;
    const Prediction& prediction_;
    const Reasons& reasons_;
    const std::vector<SourcedValue>& sources_;
};

}  // namespace

void number(WhyNode& root) {
    for (std::size_t i = 0; i < root.children.size(); ++i) {
        root.children[i].id = root.id.empty() ? fmt::format("{}", i + 1) : fmt::format("{}.{}", root.id, i + 1);
        number(root.children[i]);
    }
}

const WhyNode* find(const WhyNode& root, std::string_view id) {
    if (root.id == id || (!id.empty() && std::string_view(root.title).substr(0, root.title.find(':')) == id))
        return &root;
    for (const WhyNode& child : root.children)
        if (const WhyNode* const found = find(child, id)) return found;
    return nullptr;
}

WhyNode why_tree(const Topology& topology, const Prediction& prediction, const Reasons& reasons,
                 const std::vector<SourcedValue>& sources) {
    return Tree(topology, prediction, reasons, sources).make();
}

}  // namespace fmsim
