// What one micro-batch costs on each chunk of each stage, exposed exchanges included.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "layer.hpp"

namespace fmsim {

// Families of a plan's groups, as ranks are laid out.
struct Families {
    Family tensor, context, data, experts, expert_tensor, expert_data;
    Family shard, replica;  // of zero3
    Family expert_shard, expert_replica;
    std::uint32_t stage{};  // ranks of one
};
Families families_of(const TrainingPlan& plan);

// Of a layer on one GPU, with its share of split tensors; shards of data parallelism not counted.
struct OwnParameters {
    double dense{};
    double routed{};
    double all() const { return dense + routed; }
};
OwnParameters own_parameters(const TrainingPlan& plan, const ParameterCounts& counts);
// Of a chunk of a stage; the first and the last have embeddings.
OwnParameters chunk_parameters(const TrainingPlan& plan, std::size_t stage, std::size_t chunk);

// Layers that a chunk has, by kind.
using LayerMix = std::map<LayerKind, std::int64_t>;
LayerMix mix_of(const TrainingPlan& plan, std::size_t stage, std::size_t chunk);

// What a layer calls in a micro-batch, forward and backward.
struct LayerCall {
    std::string group;
    Collective collective{};
    double bytes{};
    double calls{};
};

class Uses {  // what is exchanged, for the report
public:
    explicit Uses(Exchanges& exchanges) : exchanges_(exchanges) {}
    double seconds(const std::string& group, const Family& family, Collective collective, double bytes);
    // A stage makes that call `times` as often as a layer in a micro-batch; asked for before, or not counted.
    void count(std::size_t stage, const LayerCall& call, double times);
    Exchanges& exchanges() { return exchanges_; }
    std::vector<ExchangeUse> rows;

private:
    Exchanges& exchanges_;
    std::map<std::tuple<std::string, double, std::size_t>, double> calls_;  // of a label and size, by stage
};

// Of a micro-batch in a layer of experts: tokens to their experts and back, were nothing beside them.
struct ExpertExchange {
    double seconds{};
    double gap{};                  // that the GPU waits besides, for hosts and proxies
    std::vector<LayerCall> calls;  // there and back once
};
ExpertExchange expert_exchange(const TrainingPlan& plan, const TrainingConstants& constants, Uses& uses);
// The time of these machines' hosts over that of others.
double host_slower(const TrainingConstants& constants, Uses& uses);

struct ChunkCosts {
    std::vector<std::vector<Parts>> forward, backward;  // [stage][chunk]
    std::vector<std::vector<double>> weights;
};
// What a step loses by GPUs that are not equally fast, of one that takes `seconds` for its passes where they are.
double straggler_loss(const TrainingPlan& plan, const PipelineCosts& even, double seconds);

ChunkCosts chunk_costs(const TrainingPlan& plan, const Trainer& trainer, Uses& uses);

}  // namespace fmsim
