// A layer's exchanges and what of them shows, and the sums over the layers of a chunk.
//
// Tensor parallel, with the sequence split: gather, products, scatter, for attention and for the MLP; backward the same
// mirrored, and the gather of the input once more beside the gradient of the input, the scatter beside that of the
// weights. Without: an all-reduce each. By hand, a micro-batch of T tokens of h values in 16 bits: a gather is 2 T h
// bytes, and a layer has four forward, six backward.
//
// Context: keys and values go round the ring beside attention. Experts: tokens go out and come back. Sharded
// parameters: gathered a layer ahead, gradients scattered a layer behind.
#include "stage_costs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace fmsim {
namespace {

constexpr double kElement = 2;  // bytes of an activation

// Of an exchange beside computing: what shows. Computing slows beside it.
double shown(double exchange, double beside, double slows) {
    const double hidden = std::min(exchange, std::max(beside, 0.0));
    return exchange - hidden + slows * hidden;
}

class LayerExchanges {
public:
    LayerExchanges(const TrainingPlan& plan, const Trainer& trainer, Uses& uses)
        : plan_(plan), constants_(trainer.constants), uses_(uses), families_(families_of(plan)) {}

    void add(LayerCost& cost, const LayerKind& kind, const OwnParameters& parameters) {
        const double forward = cost.forward.all(), backward = cost.backward.all();
        tensor(cost, kind);
        context(cost);
        if (kind.experts) experts(cost, forward, backward);
        if (plan_.sharding >= Sharding::zero2) shards(cost, parameters, forward, backward);
        host(cost, kind);
    }
    // Of one gather or scatter of a micro-batch's activations, of so many in a layer.
    double gather(Collective collective, double bytes, double calls = 0) {
        return time("tensor", families_.tensor, collective, bytes, calls);
    }
    // What the layer that was added last calls in a micro-batch.
    std::vector<LayerCall> take_calls() { return std::exchange(calls_, {}); }

private:
    double time(const char* group, const Family& family, Collective collective, double bytes, double calls) {
        calls_.push_back({group, collective, bytes, calls});
        return uses_.seconds(group, family, collective, bytes);
    }
    // Where the GPU needs less than the host to issue it all, the host's time shows.
    void host(LayerCost& cost, const LayerKind& kind) {
        const double host = host_seconds(plan_, kind, constants_) * host_slower(constants_, uses_);
        const double again = plan_.recompute.all ? 2 : 1;
        cost.forward[StepPart::host] += std::max(0.0, host - cost.forward.all());
        cost.backward[StepPart::host] += std::max(0.0, host * again - cost.backward.all());
        if (!kind.experts || (plan_.graph && plan_.graph_experts)) return;
        const double gap = expert_exchange(plan_, constants_, uses_).gap;
        cost.forward[StepPart::host] += gap;
        cost.backward[StepPart::host] += gap * again;
    }
    double tokens_bytes() const { return static_cast<double>(tokens_of(plan_) * plan_.model.hidden) * kElement; }
    void tensor(LayerCost& cost, const LayerKind& kind) {
        if (plan_.tensor == 1) return;
        const bool split = plan_.sequence_parallel;
        const bool mlp = !kind.experts || plan_.model.experts->shared_ffn > 0;
        const double blocks = mlp ? 2 : 1;
        const double bytes = tokens_bytes();
        const double slows = constants_.overlap_slows;
        const double hidden = plan_.overlap.tensor ? constants_.tensor_hidden : 0;
        const auto partly = [&](double time) { return time * (1 - hidden) + time * hidden * slows; };
        if (!split) {
            const double reduce = gather(Collective::all_reduce, bytes, 2 * blocks);
            cost.forward[StepPart::tensor] += blocks * partly(reduce);
            cost.backward[StepPart::tensor] += blocks * partly(reduce);
            return;
        }
        const double again = plan_.recompute.all ? 1 : 0;
        const double all = gather(Collective::all_gather, bytes, blocks * (3 + again));
        const double scatter = gather(Collective::reduce_scatter, bytes, blocks * (2 + again));
        cost.forward[StepPart::tensor] += blocks * partly(all + scatter);
        // The scatter hides beside gradients of weights, the second gather beside those of the input.
        const double beside = cost.weights / 2;
        cost.backward[StepPart::tensor] +=
            blocks * (partly(all) + shown(scatter, beside / blocks, slows) + shown(all, beside / blocks, slows));
        if (plan_.recompute.all) cost.backward[StepPart::tensor] += blocks * partly(all + scatter);
    }
    void context(LayerCost& cost) {
        const double c = plan_.context;
        if (plan_.context == 1) return;
        const TransformerModel& model = plan_.model;
        const std::int64_t kv = std::max<std::int64_t>(model.kv_heads / plan_.tensor, 1);
        const double width = model.latent
                                 ? static_cast<double>(model.heads / plan_.tensor *
                                                       (model.latent->nope + model.latent->rope + model.latent->v))
                                 : static_cast<double>(2 * kv * model.head_dim);
        const double part = static_cast<double>(tokens_of(plan_)) * width * kElement;  // keys and values of a rank
        if (plan_.context_exchange == ContextExchange::ring) {
            const double message = time("context", families_.context, Collective::send_recv, part, 3 * (c - 1));
            const double forward = cost.attention, backward = 2 * cost.attention;
            const double beside = (c - 1) / c;
            cost.forward[StepPart::context] += shown((c - 1) * message, forward * beside, constants_.overlap_slows);
            cost.backward[StepPart::context] +=
                shown(2 * (c - 1) * message, backward * beside, constants_.overlap_slows);
            return;
        }
        if (plan_.context_exchange == ContextExchange::all_gather) {
            const double all = time("context", families_.context, Collective::all_gather, part * c, 2);
            cost.forward[StepPart::context] += all;
            cost.backward[StepPart::context] +=
                all + time("context", families_.context, Collective::reduce_scatter, part * c, 1);
            return;
        }
        const double queries =
            static_cast<double>(tokens_of(plan_) * (model.heads / plan_.tensor) * model.head_dim) * kElement;
        const double all = time("context", families_.context, Collective::all_to_all, part + 2 * queries, 2);
        cost.forward[StepPart::context] += all;
        cost.backward[StepPart::context] += all;
    }
    void experts(LayerCost& cost, double forward, double backward) {
        const ExpertExchange exchange = expert_exchange(plan_, constants_, uses_);
        const double both = exchange.seconds;
        const double hidden = plan_.overlap.experts ? constants_.experts_hidden : 0;
        const auto exposed = [&](double time, double beside) {
            return time * (1 - hidden) + shown(time * hidden, beside, constants_.overlap_slows);
        };
        cost.forward[StepPart::expert_exchange] += exposed(both, forward);
        const double again = plan_.recompute.all ? 2 : 1;
        cost.backward[StepPart::expert_exchange] += exposed(both * again, backward);
        for (int pass = 0; pass < 1 + again; ++pass)
            calls_.insert(calls_.end(), exchange.calls.begin(), exchange.calls.end());
    }
    // Of a layer's parameters, once a micro-batch. Copies of them are summed once a step.
    void shards(LayerCost& cost, const OwnParameters& parameters, double forward, double backward) {
        const bool full = plan_.sharding == Sharding::zero3;
        double gather = 0, scatter = 0;
        const auto add = [&](const char* group, const Family& shard, double count) {
            if (count <= 0) return;
            gather += time(group, shard, Collective::all_gather, count * plan_.gather_bits / 8, full ? 2 : 0);
            if (plan_.frozen) return;
            const double bytes = count * plan_.gradient_bits / 8;
            scatter += time(group, shard, Collective::reduce_scatter, bytes, 1);
        };
        add("data", families_.shard, parameters.dense);
        add("expert data", families_.expert_shard, parameters.routed);
        if (full)
            cost.forward[StepPart::data] +=
                shown(gather, plan_.overlap.parameters ? forward : 0, constants_.overlap_slows);
        cost.backward[StepPart::data] +=
            shown(scatter + (full ? gather : 0), plan_.overlap.gradients ? backward : 0, constants_.overlap_slows);
    }

    const TrainingPlan& plan_;
    const TrainingConstants& constants_;
    Uses& uses_;
    Families families_;
    std::vector<LayerCall> calls_;
};

void add_ends(const TrainingPlan& plan, const Trainer& trainer, LayerExchanges& exchanges, ChunkCosts& costs) {
    const double bytes = static_cast<double>(tokens_of(plan) * plan.model.hidden) * kElement;
    Parts exchange;
    if (plan.tensor > 1) exchange[StepPart::tensor] = exchanges.gather(Collective::reduce_scatter, bytes);
    costs.forward.front().front().add(cost_of(embedding_work(plan, Pass::forward), plan, trainer)).add(exchange);
    costs.backward.front().front().add(cost_of(embedding_work(plan, Pass::backward), plan, trainer)).add(exchange);
    const auto heads = static_cast<double>(1 + plan.model.mtp_layers);
    costs.forward.back()
        .back()
        .add(cost_of(loss_work(plan, Pass::forward, trainer.constants), plan, trainer), heads)
        .add(exchange);
    costs.backward.back()
        .back()
        .add(cost_of(loss_work(plan, Pass::backward, trainer.constants), plan, trainer), heads)
        .add(exchange);
}

}  // namespace

Families families_of(const TrainingPlan& plan) {
    Families f;
    f.stage = plan.gpus / plan.pipeline;
    const std::uint32_t t = plan.tensor, copies = f.stage / t, of_experts = plan.experts * plan.expert_tensor;
    f.tensor = {t, 1};
    f.context = {plan.context, t};
    f.data = {copies, t};
    f.experts = {plan.experts, plan.expert_tensor};
    f.expert_tensor = {plan.expert_tensor, 1};
    f.expert_data = {f.stage / of_experts, of_experts};
    const std::uint32_t shard = plan.shard_group > 0 ? plan.shard_group : copies;
    f.shard = {shard, t};
    f.replica = {copies / shard, t * shard};
    // Of experts what the shard group has beyond one set of them.
    std::uint32_t parts = std::clamp(shard * t / of_experts, 1U, f.expert_data.size);
    if (f.expert_data.size % parts != 0) parts = f.expert_data.size;
    f.expert_shard = {parts, of_experts};
    f.expert_replica = {f.expert_data.size / parts, of_experts * parts};
    return f;
}

OwnParameters own_parameters(const TrainingPlan& plan, const ParameterCounts& counts) {
    const auto dense = static_cast<double>(counts.attention + counts.dense + counts.embedding);
    return {dense / plan.tensor, static_cast<double>(counts.routed) / (plan.experts * plan.expert_tensor)};
}

LayerMix mix_of(const TrainingPlan& plan, std::size_t stage, std::size_t chunk) {
    const auto layers = layers_of(plan);
    std::int64_t first = 0;
    const std::size_t place = chunk * plan.pipeline + stage;
    for (std::size_t i = 0; i < place; ++i) first += layers[i % plan.pipeline][i / plan.pipeline];
    LayerMix mix;
    for (std::int64_t i = 0; i < layers[stage][chunk]; ++i) ++mix[kind_of(plan.model, first + i)];
    if (plan.model.mtp_layers > 0 && place + 1 == std::size_t{plan.pipeline} * plan.chunks)
        mix[kind_of(plan.model, plan.model.layers - 1)] += plan.model.mtp_layers;
    return mix;
}

namespace {

// A layer of that kind, whichever.
ParameterCounts parameters_of_kind(const TransformerModel& model, const LayerKind& kind) {
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        if (has_experts(model, layer) == kind.experts) return layer_parameters(model, layer);
    return {};
}

}  // namespace

OwnParameters chunk_parameters(const TrainingPlan& plan, std::size_t stage, std::size_t chunk) {
    OwnParameters own;
    const auto add = [&](const ParameterCounts& counts, double times) {
        const OwnParameters one = own_parameters(plan, counts);
        own.dense += one.dense * times;
        own.routed += one.routed * times;
    };
    for (const auto& [kind, count] : mix_of(plan, stage, chunk))
        add(parameters_of_kind(plan.model, kind), static_cast<double>(count));
    const std::int64_t table = plan.model.vocabulary * plan.model.hidden;
    const std::size_t place = chunk * plan.pipeline + stage, last = std::size_t{plan.pipeline} * plan.chunks - 1;
    if (place == 0) add({.embedding = table + plan.model.positions * plan.model.hidden}, 1);
    if (place == last && (!plan.model.tied || last > 0)) add({.embedding = table}, 1);
    return own;
}

double Uses::seconds(const std::string& group, const Family& family, Collective collective, double bytes) {
    const double time = exchanges_.seconds(family, collective, bytes);
    if (time <= 0) return 0;
    const std::string label = fmt::format("{} {}", group, name(collective));
    const auto same = [&](const ExchangeUse& row) { return row.name == label && row.bytes == bytes; };
    if (std::none_of(rows.begin(), rows.end(), same))
        rows.push_back({label, family, collective, bytes, time, 0, exchanges_.domains_of(family)});
    return time;
}

void Uses::count(std::size_t stage, const LayerCall& call, double times) {
    const std::string label = fmt::format("{} {}", call.group, name(call.collective));
    for (ExchangeUse& row : rows)
        if (row.name == label && row.bytes == call.bytes) {
            double& sum = calls_[{label, call.bytes, stage}];
            sum += call.calls * times;
            row.calls = std::max(row.calls, sum);
        }
}

ChunkCosts chunk_costs(const TrainingPlan& plan, const Trainer& trainer, Uses& uses) {
    LayerExchanges exchanges(plan, trainer, uses);
    std::map<LayerKind, LayerCost> known;
    std::map<LayerKind, std::vector<LayerCall>> calls;
    const auto layer = [&](const LayerKind& kind) -> const LayerCost& {
        const auto found = known.find(kind);
        if (found != known.end()) return found->second;
        LayerCost cost = layer_cost(plan, kind, trainer);
        exchanges.add(cost, kind, own_parameters(plan, parameters_of_kind(plan.model, kind)));
        calls[kind] = exchanges.take_calls();
        return known.emplace(kind, cost).first->second;
    };
    ChunkCosts costs;
    costs.forward.assign(plan.pipeline, std::vector<Parts>(plan.chunks));
    costs.backward = costs.forward;
    costs.weights.assign(plan.pipeline, std::vector<double>(plan.chunks));
    const double gap = plan.graph ? 0 : seconds(trainer.constants.chunk_gap);
    for (std::size_t stage = 0; stage < plan.pipeline; ++stage)
        for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
            for (const auto& [kind, count] : mix_of(plan, stage, chunk)) {
                const auto times = static_cast<double>(count);
                costs.forward[stage][chunk].add(layer(kind).forward, times);
                costs.backward[stage][chunk].add(layer(kind).backward, times);
                costs.weights[stage][chunk] += layer(kind).weights * times;
                for (const LayerCall& call : calls.at(kind))
                    uses.count(stage, call, times * static_cast<double>(plan.micro_batches()));
            }
            costs.forward[stage][chunk][StepPart::host] += gap / 2;
            costs.backward[stage][chunk][StepPart::host] += gap / 2;
        }
    add_ends(plan, trainer, exchanges, costs);
    return costs;
}

}  // namespace fmsim
