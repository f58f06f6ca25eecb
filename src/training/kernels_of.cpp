// The kernels of a stage over a step, with what holds each and what it would take at the GPU's peak.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "stage_costs.hpp"

namespace fmsim {
namespace {

struct Named {
    std::string operator()(const Gemm& one) const {
        const std::string batch = one.batch > 1 ? fmt::format("{} x ", one.batch) : "";
        return fmt::format("product {}{} x {} x {} {}", batch, one.m, one.n, one.k, name(one.precision));
    }
    std::string operator()(const GroupedGemm& one) const {
        const Gemm& first = one.groups.front();
        return fmt::format("{} experts' products {} x {} x {} {}", one.groups.size(), first.m, first.n, first.k,
                           name(first.precision));
    }
    std::string operator()(const Attention& one) const {
        return fmt::format("attention {} x {} heads, {} x {}", one.batch, one.heads, one.queries, one.keys);
    }
    std::string operator()(const Stream& one) const {
        return fmt::format("{} of {} elements", kind(one.kernel).name, one.elements);
    }
    std::string operator()(const Quantise& one) const {
        return fmt::format("quantisation of {} elements to {}", one.elements, name(one.to));
    }
    std::string operator()(const OptimizerStep& one) const {
        return fmt::format("Adam on {} parameters", one.parameters);
    }
    std::string operator()(const Traffic& one) const {
        return fmt::format("{} bytes read, {} written", one.reads.count, one.writes.count);
    }
};

struct PeakOf {
    std::string operator()(const Gemm& one) const { return std::string(kind(one.precision).peak); }
    std::string operator()(const GroupedGemm& one) const { return (*this)(one.groups.front()); }
    template <class Other>
    std::string operator()(const Other&) const {
        return "bf16";
    }
};

class Collector {
public:
    Collector(const TrainingPlan& plan, const Trainer& trainer) : plan_(plan), trainer_(trainer) {}

    void add(const Works& works, const char* pass, double times) {
        for (const Work& work : works) {
            const TimedWork time = timed(work, plan_, trainer_);
            add(work, work.part, std::string(", ") + pass, times, time.work, time);
        }
    }
    void add_again(const Works& works, double times) {
        for (const Work& work : works) {
            const double share = again(work, plan_.recompute);
            const TimedWork time = timed(work, plan_, trainer_);
            if (share > 0) add(work, StepPart::recompute, ", again", times * share, time.work + time.launch, time);
        }
    }
    std::vector<KernelUse> sorted() const {
        std::vector<KernelUse> all;
        for (const auto& [key, use] : uses_) all.push_back(use);
        std::stable_sort(all.begin(), all.end(),
                         [](const KernelUse& a, const KernelUse& b) { return a.seconds > b.seconds; });
        return all;
    }

private:
    void add(const Work& work, StepPart part, const std::string& pass, double times, double seconds,
             const TimedWork& time) {
        const std::string name = std::visit(Named{}, work.kernel) + pass;
        KernelUse& use = uses_[{part, name}];
        use.part = part;
        use.name = name;
        use.times += times * work.times;
        use.seconds += times * seconds;
        use.bound = bound_by(time.alone);
        use.least_s += times * work.times * least(work.kernel);
    }
    double least(const Kernel& kernel) const {
        const Traffic traffic = bytes_of(kernel);
        const auto bytes = static_cast<double>(traffic.reads.count + traffic.writes.count);
        double time = bytes / trainer_.gpu.memory_rate.value;
        const auto peak = trainer_.gpu.peak.find(std::visit(PeakOf{}, kernel));
        if (peak != trainer_.gpu.peak.end()) time = std::max(time, flops_of(kernel) / peak->second.value);
        return time;
    }

    const TrainingPlan& plan_;
    const Trainer& trainer_;
    std::map<std::pair<StepPart, std::string>, KernelUse> uses_;
};

void add_place(const TrainingPlan& plan, const Trainer& trainer, std::size_t stage, double batches,
               Collector& collector) {
    for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
        for (const auto& [kind, count] : mix_of(plan, stage, chunk)) {
            const double times = batches * static_cast<double>(count);
            const Works forward = layer_forward(plan, kind, trainer.constants);
            collector.add(forward, "forward", times);
            collector.add(layer_backward(plan, kind, trainer.constants), "backward", times);
            collector.add_again(forward, times);
        }
        const std::size_t place = chunk * plan.pipeline + stage;
        if (place == 0) {
            collector.add(embedding_work(plan, Pass::forward), "forward", batches);
            collector.add(embedding_work(plan, Pass::backward), "backward", batches);
        }
        if (place + 1 == std::size_t{plan.pipeline} * plan.chunks) {
            const double heads = batches * static_cast<double>(1 + plan.model.mtp_layers);
            collector.add(loss_work(plan, Pass::forward, trainer.constants), "forward", heads);
            collector.add(loss_work(plan, Pass::backward, trainer.constants), "backward", heads);
        }
    }
}

}  // namespace

std::vector<KernelUse> kernels_of(const TrainingPlan& plan, const Trainer& trainer, std::size_t stage) {
    Collector collector(plan, trainer);
    const auto batches = static_cast<double>(plan.micro_batches());
    // In DualPipe half of the micro-batches pass the other way, through the copy of the opposite stage.
    const bool both = plan.schedule == PipelineSchedule::dual_pipe && plan.pipeline > 1;
    add_place(plan, trainer, stage, both ? batches / 2 : batches, collector);
    if (both) add_place(plan, trainer, plan.pipeline - 1 - stage, batches / 2, collector);
    return collector.sorted();
}

Trainer at_cost(const Trainer& trainer, const CostFactors& factors) {
    Trainer dearer = trainer;
    for (auto& [type, peak] : dearer.gpu.peak) peak.value /= factors[Cause::compute];
    dearer.gpu.memory_rate.value /= factors[Cause::memory];
    const double host = factors[Cause::host];
    TrainingConstants& c = dearer.constants;
    const auto scale = [&](SimTime& span) { span = from_seconds(seconds(span) * host); };
    for (SimTime* span : {&c.layer_host, &c.experts_host, &c.exchange_host, &c.chunk_gap, &c.step_gap, &c.step_graph})
        scale(*span);
    for (auto& [fabric, gap] : c.experts_gap) scale(gap);
    return dearer;
}

}  // namespace fmsim
