// A step: chunks played through the pipeline, parameters gathered before it, gradients summed behind it.
//
// Parameters are gathered chunk by chunk while the first micro-batch goes forward, and a chunk's first pass cannot end
// before its parameters are there. Gradients of a chunk are summed while the last micro-batch goes backward; what does
// not fit there shows after it. The optimizer follows, then the next step. What a stage does adds up to the step: its
// work, what shows of its exchanges, and the rest, in which it waits for others: the bubble.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "slow_gpus.hpp"
#include "stage_costs.hpp"

namespace fmsim {
namespace {

constexpr double kElement = 2;

struct DataTimes {
    std::vector<std::vector<double>> gather, sum;  // [stage][chunk]
    std::vector<double> optimizer;                 // of a stage
};

class StepMaker {
public:
    StepMaker(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges,
              const std::vector<PipelinePick>* order)
        : plan_(plan), trainer_(trainer), uses_(exchanges), families_(families_of(plan)), order_(order) {}

    StepPrediction predict() {
        costs_ = chunk_costs(plan_, trainer_, uses_);
        data_ = data_times();
        const std::vector<double> speeds = stage_speeds(plan_, uses_.exchanges());
        slow_down(costs_, speeds);
        for (std::size_t stage = 0; stage < speeds.size(); ++stage) data_.optimizer[stage] /= speeds[stage];
        const PipelineTimes times = played();
        StepPrediction step = finish(times);
        step.order = times.order;
        summarise(step);
        return step;
    }

private:
    bool per_layer() const { return plan_.sharding >= Sharding::zero2; }  // exchanged within the passes

    DataTimes data_times() {
        DataTimes times;
        times.gather.assign(plan_.pipeline, std::vector<double>(plan_.chunks));
        times.sum = times.gather;
        for (std::size_t stage = 0; stage < plan_.pipeline; ++stage) {
            OwnParameters all;
            for (std::size_t chunk = 0; chunk < plan_.chunks; ++chunk) {
                const OwnParameters own = chunk_parameters(plan_, stage, chunk);
                all.dense += own.dense;
                all.routed += own.routed;
                if (plan_.frozen) continue;
                if (per_layer()) {
                    copies("data copies", families_.shard, families_.replica, own.dense, times.sum[stage][chunk]);
                    copies("expert copies", families_.expert_shard, families_.expert_replica, own.routed,
                           times.sum[stage][chunk]);
                    continue;
                }
                add("data", families_.data, own.dense, times.gather[stage][chunk], times.sum[stage][chunk]);
                add("expert data", families_.expert_data, own.routed, times.gather[stage][chunk],
                    times.sum[stage][chunk]);
            }
            times.optimizer.push_back(plan_.frozen ? 0 : optimizer(all));
        }
        return times;
    }
    // Gradients of shards, over the copies of them.
    void copies(const char* group, const Family& shard, const Family& copy, double parameters, double& sum) {
        sum += uses_.seconds(group, copy, Collective::all_reduce, parameters * plan_.gradient_bits / 8 / shard.size);
    }
    void add(const char* group, const Family& family, double parameters, double& gather, double& sum) {
        const double bytes = parameters * plan_.gradient_bits / 8;
        if (plan_.sharding == Sharding::none) {
            sum += uses_.seconds(group, family, Collective::all_reduce, bytes);
            return;
        }
        sum += uses_.seconds(group, family, Collective::reduce_scatter, bytes);
        gather += uses_.seconds(group, family, Collective::all_gather, parameters * plan_.gather_bits / 8);
    }
    double optimizer(const OwnParameters& own) const {
        double count = own.all();
        if (plan_.sharding != Sharding::none) {
            const bool full = plan_.sharding == Sharding::zero3;
            count = own.dense / (full ? families_.shard.size : families_.data.size) +
                    own.routed / (full ? families_.expert_shard.size : families_.expert_data.size);
        }
        const OptimizerStep kernel{.parameters = static_cast<std::int64_t>(count),
                                   .gradient_bits = plan_.gradient_bits};
        // The norm of the gradients reads them once more.
        const Traffic norm{{static_cast<std::int64_t>(count * plan_.gradient_bits / 8)}, {0}};
        return fmsim::seconds(time_of(kernel, trainer_.gpu, trainer_.kernels).total() +
                              time_of(norm, trainer_.gpu, trainer_.kernels).total()) /
               trainer_.constants.streams;
    }

    PipelineTimes played() {
        PipelineCosts costs{.stages = plan_.pipeline, .chunks = plan_.chunks, .micro_batches = plan_.micro_batches()};
        const auto sums = [](const std::vector<std::vector<Parts>>& parts) {
            std::vector<std::vector<double>> all;
            for (const auto& stage : parts) {
                all.emplace_back();
                for (const Parts& one : stage) all.back().push_back(one.all());
            }
            return all;
        };
        costs.forward = sums(costs_.forward);
        costs.backward = sums(costs_.backward);
        costs.weights = costs_.weights;
        message_ = costs.message = message();
        costs.message_hidden = plan_.overlap.pipeline;
        ready_.assign(plan_.pipeline, std::vector<double>(plan_.chunks));
        for (std::size_t stage = 0; stage < plan_.pipeline && plan_.overlap.parameters; ++stage) {
            double came = 0;
            for (std::size_t chunk = 0; chunk < plan_.chunks; ++chunk) {
                came += data_.gather[stage][chunk];
                ready_[stage][chunk] = std::max(0.0, came - costs.forward[stage][chunk]);
            }
        }
        costs.ready = ready_;
        costs.order = order_;
        PipelineTimes times = play(plan_.schedule, costs);
        if (plan_.stragglers.any()) slow_ = straggler_loss(plan_, costs, times.seconds);
        return times;
    }
    double message() {
        if (plan_.pipeline == 1) return 0;
        // Where the sequence is not split each rank sends a part, and the receivers gather.
        const double bytes = static_cast<double>(tokens_of(plan_) * plan_.model.hidden) * kElement;
        double time = uses_.seconds("pipeline", {.size = 2, .stride = families_.stage}, Collective::send_recv,
                                    bytes / plan_.tensor);
        if (!plan_.sequence_parallel && plan_.tensor > 1)
            time += uses_.seconds("tensor", families_.tensor, Collective::all_gather, bytes);
        return time;
    }
    // When the sums of a stage's gradients have ended.
    double sums_end(const PipelineTimes& times, std::size_t stage) const {
        const std::vector<double>& ended = times.ended[stage];
        double end = *std::max_element(ended.begin(), ended.end());
        if (!plan_.overlap.gradients) {
            for (const double sum : data_.sum[stage]) end += sum;
            return end;
        }
        double channel = 0;  // free from
        for (std::size_t chunk = plan_.chunks; chunk-- > 0;) {
            if (chunk >= ended.size()) continue;
            const double sum = data_.sum[stage][chunk], pass = costs_.backward[stage][chunk].all();
            const auto buckets = static_cast<double>(std::max<std::int64_t>(layers_of(plan_)[stage][chunk], 1));
            const double first = std::max(channel, ended[chunk] - pass * (1 - 1 / buckets));
            channel = std::max(first + sum, ended[chunk] + sum / buckets);
        }
        return std::max(end, channel);
    }

    StepPrediction finish(const PipelineTimes& times) {
        StepPrediction step;
        const TrainingConstants& c = trainer_.constants;
        std::vector<double> tail(plan_.pipeline), end(plan_.pipeline);
        double whole = 0;
        for (std::size_t stage = 0; stage < plan_.pipeline; ++stage) {
            const double last = *std::max_element(times.ended[stage].begin(), times.ended[stage].end());
            tail[stage] = sums_end(times, stage) - last;
            double gather = 0, beside = 0;
            for (std::size_t chunk = 0; chunk < plan_.chunks; ++chunk) {
                (plan_.overlap.parameters ? beside : gather) += data_.gather[stage][chunk];
                if (plan_.overlap.gradients) beside += data_.sum[stage][chunk];
            }
            tail[stage] += gather + c.overlap_slows * std::max(0.0, beside - tail[stage] - ready_[stage][0]);
            end[stage] = last + tail[stage] + data_.optimizer[stage];
            whole = std::max(whole, end[stage]);
        }
        const double gap = seconds(plan_.graph ? c.step_graph : c.step_gap);
        whole += gap;
        const double domains = std::max(1.0, static_cast<double>(plan_.gpus) / uses_.exchanges().domain_gpus());
        const double lost = whole * c.straggler * doublings(domains) + slow_;
        step.seconds = whole + lost;
        for (std::size_t stage = 0; stage < plan_.pipeline; ++stage) {
            Parts parts;
            const auto batches = static_cast<double>(plan_.micro_batches());
            // In DualPipe half of the micro-batches pass the other way, through the copy of the opposite stage.
            const bool both = plan_.schedule == PipelineSchedule::dual_pipe && plan_.pipeline > 1;
            const auto add = [&](std::size_t place, double share) {
                for (std::size_t chunk = 0; chunk < plan_.chunks; ++chunk) {
                    parts.add(costs_.forward[place][chunk], batches * share);
                    parts.add(costs_.backward[place][chunk], batches * share);
                }
            };
            add(stage, both ? 0.5 : 1);
            if (both) add(plan_.pipeline - 1 - stage, 0.5);
            if (!plan_.overlap.pipeline)
                parts[StepPart::pipeline] += message_ * static_cast<double>(times.messages[stage]);
            parts[StepPart::data] += tail[stage] + ready_[stage][0];
            parts[StepPart::optimizer] += data_.optimizer[stage];
            parts[StepPart::host] += gap;
            parts[StepPart::bubble] = whole - parts.all();
            parts[StepPart::stragglers] = lost;
            StagePrediction one{.layers = 0, .parameters = 0, .parts = parts, .memory = {}};
            for (std::size_t chunk = 0; chunk < plan_.chunks; ++chunk) {
                one.layers += layers_of(plan_)[stage][chunk];
                one.parameters += chunk_parameters(plan_, stage, chunk).all();
            }
            step.stages.push_back(one);
        }
        return step;
    }

    void summarise(StepPrediction& step) {
        const auto tokens = static_cast<double>(plan_.global_batch * plan_.sequence);
        step.tokens_per_second_gpu = tokens / step.seconds / plan_.gpus;
        step.flops = flops_a_token(plan_.model, plan_.sequence);
        step.model_flops_gpu = step.flops.causal() * step.tokens_per_second_gpu;
        const auto peak = trainer_.gpu.peak.find(std::string(kind(plan_.precision).peak));
        if (peak != trainer_.gpu.peak.end()) step.peak = peak->second.value;
        step.mfu = step.peak > 0 ? step.model_flops_gpu / step.peak : 0;
        for (std::size_t stage = 0; stage < step.stages.size(); ++stage) {
            step.bubble += step.stages[stage].parts[StepPart::bubble] / step.seconds / plan_.pipeline;
            if (step.stages[stage].parts[StepPart::bubble] < step.parts()[StepPart::bubble]) step.slowest = stage;
        }
        step.exchanges = uses_.rows;
    }

    const TrainingPlan& plan_;
    const Trainer& trainer_;
    Uses uses_;
    Families families_;
    ChunkCosts costs_;
    DataTimes data_;
    std::vector<std::vector<double>> ready_;
    double message_{};
    double slow_{};  // lost to slower GPUs
    const std::vector<PipelinePick>* order_;
};

// What would make it fit, cheapest first.
std::string advice(const TrainingPlan& plan, const TrainingConstants& constants, double room) {
    const auto fits = [&](const TrainingPlan& other) {
        try {
            check(other);
        } catch (const InputError&) {
            return false;
        }
        for (const MemoryParts& stage : memory_of(other, constants))
            if (stage.all() > room) return false;
        return true;
    };
    TrainingPlan other = plan;
    other.micro_batch = 1;
    if (plan.micro_batch > 1 && fits(other)) return "micro_batch 1 would fit";
    other = plan;
    other.recompute = {.all = true};
    if (!plan.recompute.all && fits(other)) return "full recomputation would fit";
    other.micro_batch = 1;
    if (!plan.recompute.all && plan.micro_batch > 1 && fits(other))
        return "full recomputation with micro_batch 1 would fit";
    other = plan;
    other.sharding = Sharding::zero3;
    other.chunks = 1;
    if (plan.sharding != Sharding::zero3 && fits(other)) return "sharded parameters (zero3) would fit";
    for (other = plan; other.pipeline < plan.gpus / plan.tensor / plan.context;) {
        other.pipeline *= 2;
        other.micro_batch = 1;
        if (fits(other)) return fmt::format("pipeline {} would fit", other.pipeline);
    }
    for (other = plan; other.tensor < plan.gpus;) {
        other.tensor *= 2;
        other.micro_batch = 1;
        if (fits(other)) return fmt::format("tensor {} would fit", other.tensor);
    }
    return "it needs more GPUs";
}

}  // namespace

std::string_view name(StepPart part) {
    static constexpr std::array<std::string_view, kStepParts> kNames{
        "products",        "attention", "expert products", "memory-bound kernels",
        "recompute",       "host",      "tensor",          "context",
        "expert exchange", "data",      "pipeline",        "optimizer",
        "bubble",          "stragglers"};
    return kNames[static_cast<std::size_t>(part)];
}

double Parts::all() const {
    double sum = 0;
    for (const double one : seconds) sum += one;
    return sum;
}

Parts& Parts::add(const Parts& other, double times) {
    for (std::size_t i = 0; i < kStepParts; ++i) seconds[i] += other.seconds[i] * times;
    return *this;
}

StepPrediction predict_step(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges,
                            const StepOptions& options) {
    check(plan);
    const std::vector<MemoryParts> memory = memory_of(plan, trainer.constants);
    const auto room = static_cast<double>(trainer.gpu.memory.count);
    for (std::size_t stage = 0; options.must_fit && stage < memory.size(); ++stage)
        if (memory[stage].all() > room)
            throw Infeasible(fmt::format("stage {} needs {:.1f} GiB a GPU, {} has {:.1f} GiB; {}", stage,
                                         memory[stage].all() / 1073741824.0, trainer.gpu.name, room / 1073741824.0,
                                         advice(plan, trainer.constants, room)));
    StepPrediction step = StepMaker(plan, trainer, exchanges, options.order).predict();
    step.outlay = outlay_of(plan, exchanges.cluster().blocks.front().type.instance, step.seconds);
    for (std::size_t stage = 0; stage < step.stages.size(); ++stage) step.stages[stage].memory = memory[stage];
    return step;
}

}  // namespace fmsim
