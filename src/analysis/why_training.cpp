// Why a training step takes what it takes.
//
// The parts of the stage that waits least add up to the step. A part that kernels make up is told by kernel; one that
// is what shows of exchanges, by exchange, in proportion to what one call of each takes, and each by the tree of its
// call.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "levers.hpp"
#include "why_inputs.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kKernels = 8;  // told of a part; the rest together
constexpr double kStep = 1e-3;       // of a cost, to each side

struct PartWords {
    StepPart part;
    std::string_view rule;
    std::vector<std::string_view> exchanges;  // beginnings of their names
    std::vector<std::string_view> constants;  // of training.json
};

const std::vector<PartWords>& words() {
    static const std::vector<PartWords> kWords{
        {StepPart::products, "the kernels' times alone / products x power", {}, {"/products", "/power"}},
        {StepPart::attention, "the kernels' times alone / attention", {}, {"/attention"}},
        {StepPart::experts, "the kernels' times alone / products x grouped", {}, {"/products", "/grouped"}},
        {StepPart::streams, "bytes over HBM / streams", {}, {"/streams"}},
        {StepPart::recompute, "kernels that run again before the backward pass", {}, {"/products", "/streams"}},
        {StepPart::host,
         "launches, and where host and exchanges take longer than the GPU the rest",
         {},
         {"/layer_host", "/exchange_host", "/chunk_gap", "/step_gap", "/experts_host", "/experts_gap"}},
        {StepPart::tensor,
         "exchanges of tensor-parallel groups, less what hides beside products",
         {"tensor "},
         {"/tensor_hidden", "/overlap_slows"}},
        {StepPart::context,
         "exchanges of context-parallel groups, less what hides beside attention",
         {"context "},
         {"/overlap_slows"}},
        {StepPart::expert_exchange,
         "tokens to their experts and back, less what hides beside another micro-batch",
         {"experts ", "expert tensor "},
         {"/imbalance", "/overlap_slows"}},
        {StepPart::data,
         "gradients summed and parameters gathered, less what hides beside passes",
         {"data ", "expert data "},
         {"/overlap_slows"}},
        {StepPart::pipeline, "messages between stages that their sender waits for", {"pipeline "}, {}},
        {StepPart::optimizer, "bytes of parameters, gradients and state over HBM / streams", {}, {"/streams"}},
        {StepPart::bubble, "a stage waits for others: the schedule, played chunk by chunk", {}, {}},
        {StepPart::stragglers, "straggler x doublings of the domains of the step", {}, {"/straggler"}},
    };
    return kWords;
}

bool is_kernels(StepPart part) {
    return part == StepPart::products || part == StepPart::attention || part == StepPart::experts ||
           part == StepPart::streams || part == StepPart::recompute;
}

std::vector<WhyInput> constants_of(const PartWords& words, const std::vector<SourcedValue>& sources) {
    std::vector<WhyInput> inputs;
    for (const std::string_view pointer : words.constants)
        for (const SourcedValue& value : sources)
            if (value.file == "training.json" &&
                (value.pointer == pointer || value.pointer.starts_with(std::string(pointer) + "/")))
                inputs.push_back({value.file + " " + value.pointer, value.value, value.confidence, value.source});
    return inputs;
}

void scale(WhyNode& node, double by) {
    node.seconds *= by;
    if (node.bound_s) *node.bound_s *= by;
    for (WhyNode& child : node.children) scale(child, by);
}

class StepTree {
public:
    StepTree(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges, const StepPrediction& step,
             const std::vector<SourcedValue>& sources)
        : plan_(plan),
          exchanges_(exchanges),
          step_(step),
          sources_(sources),
          kernels_(kernels_of(plan, trainer, step.slowest)) {}

    WhyNode make() {
        WhyNode root{
            .title = fmt::format("step: stage {} of {}, which waits least", step_.slowest, plan_.pipeline),
            .seconds = step_.seconds,
            .rule =
                "last stage to end + gap, x (1 + straggler x doublings of the domains); the parts add up to it "
                "(docs/models/training.md)",
            .bound_s = step_.peak > 0 ? std::optional(step_.seconds * step_.mfu) : std::nullopt,
            .bound_rule = "the model's FLOPs at the GPUs' peak"};
        for (const PartWords& part : words())
            if (const double seconds = step_.parts()[part.part]; seconds > 1e-6 * step_.seconds)
                root.children.push_back(part_node(part, seconds));
        std::stable_sort(root.children.begin(), root.children.end(),
                         [](const WhyNode& a, const WhyNode& b) { return a.seconds > b.seconds; });
        number(root);
        return root;
    }

private:
    WhyNode part_node(const PartWords& part, double seconds) {
        WhyNode node{.title = std::string(name(part.part)),
                     .seconds = seconds,
                     .rule = std::string(part.rule),
                     .inputs = constants_of(part, sources_),
                     .bound_s = {}};
        if (is_kernels(part.part)) add_kernels(node, part.part);
        if (!part.exchanges.empty()) add_exchanges(node, part);
        if (part.part == StepPart::bubble) set_bubble(node);
        return node;
    }

    // Of equal stages in 1F1B: (P - 1) / (chunks x M) of a stage's work.
    void set_bubble(WhyNode& node) const {
        double work = 0;
        for (std::size_t i = 0; i < kStepParts; ++i) {
            const auto part = static_cast<StepPart>(i);
            const bool passes = part != StepPart::bubble && part != StepPart::stragglers &&
                                part != StepPart::optimizer && part != StepPart::data;
            if (passes) work += step_.parts()[part];
        }
        if (plan_.schedule != PipelineSchedule::one_f_one_b && plan_.schedule != PipelineSchedule::gpipe) return;
        node.bound_s = work * (plan_.pipeline - 1.0) /
                       (static_cast<double>(plan_.chunks) * static_cast<double>(plan_.micro_batches()));
        node.bound_rule = "(stages - 1) / (chunks x micro-batches) of a stage's passes, were all stages equal";
    }

    void add_kernels(WhyNode& node, StepPart part) const {
        node.bound_s = 0;
        node.bound_rule = "FLOPs at the GPU's peak or bytes at its HBM's rate";
        double told = 0;
        std::size_t count = 0;
        WhyNode rest{.title = "other kernels", .bound_s = 0};
        for (const KernelUse& use : kernels_) {
            if (use.part != part) continue;
            *node.bound_s += use.least_s;
            if (count++ >= kKernels) {
                *rest.bound_s += use.least_s;
                continue;
            }
            told += use.seconds;
            const bool flops = use.bound == Bound::compute;
            node.children.push_back({.title = fmt::format("{}: {:.6g} times, held by {}", use.name, use.times,
                                                          use.bound == Bound::compute  ? "FLOPs"
                                                          : use.bound == Bound::memory ? "memory"
                                                                                       : "launch"),
                                     .seconds = use.seconds,
                                     .rule = flops ? "tiles in whole waves over the SMs (docs/models/kernels.md)"
                                                   : "bytes over HBM (docs/models/kernels.md)",
                                     .inputs = inputs_of(flops ? Cause::compute : Cause::memory, nullptr, sources_),
                                     .bound_s = use.least_s,
                                     .bound_rule = node.bound_rule});
        }
        rest.seconds = node.seconds - told;
        if (count > kKernels) node.children.push_back(std::move(rest));
    }

    void add_exchanges(WhyNode& node, const PartWords& part) {
        std::vector<const ExchangeUse*> uses;
        double calls = 0;
        for (const ExchangeUse& use : step_.exchanges)
            for (const std::string_view beginning : part.exchanges)
                if (use.name.starts_with(beginning)) {
                    uses.push_back(&use);
                    calls += use.seconds;
                }
        for (const ExchangeUse* const use : uses) {
            WhyNode child = exchange_node(*use);
            const double shown = node.seconds * use->seconds / calls;
            // Its tree is of the call that was simulated; what was carried on to more domains is spread alike.
            if (child.seconds > 0) scale(child, shown / child.seconds);
            child.bound_s = {};
            node.children.push_back(std::move(child));
        }
    }
    WhyNode exchange_node(const ExchangeUse& use) {
        const Exchanges::Scenario scenario = exchanges_.scenario(use.family, use.collective, use.bytes);
        WhyNode tree = why_tree(*scenario.topology, scenario.prediction,
                                reasons_of(*scenario.topology, scenario.prediction, 1), sources_);
        WhyNode node = tree.children.empty() ? WhyNode{.bound_s = {}} : std::move(tree.children.front());
        const CallPrediction& call = scenario.prediction.calls.front();
        node.title = fmt::format("{}: {:.4g} MB on {} ranks, {} apart, {} {}; one call takes {:.4g} us", use.name,
                                 use.bytes * 1e-6, use.family.size, use.family.stride, call.algorithm,
                                 name(call.protocol), use.seconds * 1e6);
        node.rule = "what shows of the part, as one call of each of its exchanges takes";
        node.alternatives.clear();
        return node;
    }

    const TrainingPlan& plan_;
    Exchanges& exchanges_;
    const StepPrediction& step_;
    const std::vector<SourcedValue>& sources_;
    const std::vector<KernelUse> kernels_;
};

// The step at other costs, its stages' passes in the order that they had. Exchanges are run again only where theirs
// change.
class CostedStep {
public:
    CostedStep(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges, const StepPrediction& step)
        : plan_(plan), trainer_(trainer), exchanges_(exchanges), order_(step.order.empty() ? nullptr : &step.order) {}

    double at(const CostFactors& factors) {
        CostFactors of_exchanges = factors;
        of_exchanges[Cause::compute] = of_exchanges[Cause::memory] = 1;
        if (of_exchanges.factor != last_.factor) exchanges_.set_costs(of_exchanges);
        last_ = of_exchanges;
        return predict_step(plan_, at_cost(trainer_, factors), exchanges_, {.must_fit = false, .order = order_})
            .seconds;
    }
    CauseSeconds slopes(CostFactors at_factors) {
        CauseSeconds all;
        const double now = at(at_factors);
        for (std::size_t i = 0; i < kCauses; ++i) {
            if (static_cast<Cause>(i) == Cause::fixed) continue;
            const double here = at_factors.factor[i];
            at_factors.factor[i] = here * (1 + kStep);
            const double above = (at(at_factors) - now) / kStep;
            at_factors.factor[i] = here * (1 - kStep);
            const double below = (now - at(at_factors)) / kStep;
            at_factors.factor[i] = here;
            all.seconds[i] = (above + below) / 2;
            if (std::abs(above - below) > 0.01 * std::max(std::abs(above), std::abs(below)) + 1e-6 * now)
                all.kinks |= 1u << i;
        }
        return all;
    }

private:
    const TrainingPlan& plan_;
    const Trainer& trainer_;
    Exchanges& exchanges_;
    const std::vector<PipelinePick>* order_;
    CostFactors last_;
};

}  // namespace

WhyNode why_step(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges, const StepPrediction& step,
                 const std::vector<SourcedValue>& sources) {
    return StepTree(plan, trainer, exchanges, step, sources).make();
}

std::vector<Lever> step_levers(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges,
                               const StepPrediction& step) {
    CostedStep costed(plan, trainer, exchanges, step);
    const auto factors = [](Cause cause, double factor) {
        CostFactors all;
        all[cause] = factor;
        return all;
    };
    CauseSeconds amounts;
    for (const ExchangeUse& use : step.exchanges) {
        const Exchanges::Scenario scenario = exchanges.scenario(use.family, use.collective, use.bytes);
        amounts.add(amounts_of(*scenario.topology, scenario.prediction.made,
                               again(*scenario.topology, scenario.prediction.made, {}, Record::rates)));
    }
    return levers_of({.now = step.seconds,
                      .end_at = [&](Cause cause, double f) { return costed.at(factors(cause, f)); },
                      .slopes_there = [&](Cause cause, double f) { return costed.slopes(factors(cause, f)); },
                      .matters = 5e-3,  // a step is dearer to predict than a run
                      .slopes = costed.slopes({}),
                      .amounts = amounts});
}

}  // namespace fmsim
