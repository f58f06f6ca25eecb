// A pipeline's schedule, played pass by pass on every stage.
//
// A place is a chunk of the model: chunk c of stage s is place c * stages + s. Forward passes go up the places,
// backward passes down. GPipe and 1F1B (interleaved with several chunks, micro-batches in groups of `stages`, as
// Megatron does) fix the order of a stage's passes; a pass starts when its stage is free and what it needs has come.
// With zero bubbles and in DualPipe a stage takes what is there: backward first, then forward while few wait, then
// gradients of weights; in DualPipe half of the micro-batches enter at the last stage, which holds a copy of the first
// one's layers.
//
// By hand, 1F1B, 4 stages, 8 micro-batches, forward 1 and backward 2: (8 + 3) x 3 = 33, of which 9 idle, 3 / 11.
//
// Cost: passes, and for the last two passes x stages.
#include <algorithm>
#include <limits>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Pick {
    std::int64_t micro_batch{};
    std::size_t chunk{};
    bool forward{};
};

// All (micro-batch, chunk) in the order in which a stage begins their forward passes.
std::vector<Pick> forward_order(const PipelineCosts& costs) {
    std::vector<Pick> order;
    const auto group = costs.chunks > 1 ? static_cast<std::int64_t>(costs.stages) : costs.micro_batches;
    for (std::int64_t first = 0; first < costs.micro_batches; first += group)
        for (std::size_t chunk = 0; chunk < costs.chunks; ++chunk)
            for (std::int64_t m = first; m < std::min(first + group, costs.micro_batches); ++m)
                order.push_back({m, chunk, true});
    return order;
}

std::vector<Pick> order_of(PipelineSchedule schedule, const PipelineCosts& costs, std::size_t stage) {
    const std::vector<Pick> forward = forward_order(costs);
    std::size_t warm = forward.size();
    if (schedule == PipelineSchedule::one_f_one_b) {
        const std::size_t below = costs.stages - stage - 1;
        warm = costs.chunks == 1 ? below : 2 * below + (costs.chunks - std::size_t{1}) * costs.stages;
        warm = std::min(warm, forward.size());
    }
    std::vector<Pick> order;
    const auto back = [&](std::size_t i) {
        order.push_back({forward[i].micro_batch, costs.chunks - 1 - forward[i].chunk, false});
    };
    for (std::size_t i = 0; i < warm; ++i) order.push_back(forward[i]);
    for (std::size_t i = warm; i < forward.size(); ++i) {
        order.push_back(forward[i]);
        back(i - warm);
    }
    for (std::size_t i = forward.size() - warm; i < forward.size(); ++i) back(i);
    return order;
}

class Played {
public:
    explicit Played(const PipelineCosts& costs)
        : costs_(costs), places_(costs.stages * std::size_t{costs.chunks}), free_(costs.stages) {
        const auto batches = static_cast<std::size_t>(costs.micro_batches);
        forward_.assign(places_, std::vector<double>(batches, kNever));
        backward_ = forward_;
        times.busy.assign(costs.stages, 0);
        times.ended.assign(costs.stages, std::vector<double>(costs.chunks));
        times.messages.assign(costs.stages, 0);
        times.alive.assign(costs.stages, 0);
        alive_.assign(costs.stages, 0);
    }
    // When what it waits for has come; kNever while that is not known.
    double needs(std::size_t stage, const Pick& pick) const {
        const std::size_t place = pick.chunk * costs_.stages + stage;
        const auto m = static_cast<std::size_t>(pick.micro_batch);
        const double message = costs_.message_hidden ? costs_.message : 0;
        if (pick.forward) {
            const double ready = costs_.ready.empty() ? 0 : costs_.ready[stage][pick.chunk];
            return place == 0 ? ready : std::max(ready, forward_[place - 1][m] + message);
        }
        return place + 1 == places_ ? forward_[place][m]
                                    : std::max(forward_[place][m], backward_[place + 1][m] + message);
    }
    void run(std::size_t stage, const Pick& pick, double from) {
        const std::size_t place = pick.chunk * costs_.stages + stage;
        const double work = (pick.forward ? costs_.forward : costs_.backward)[stage][pick.chunk];
        const bool sends = pick.forward ? place + 1 < places_ : place > 0;
        const double end = from + work + (sends && !costs_.message_hidden ? costs_.message : 0);
        (pick.forward ? forward_ : backward_)[place][static_cast<std::size_t>(pick.micro_batch)] = end;
        times.busy[stage] += end - from;
        times.messages[stage] += sends ? 1 : 0;
        alive_[stage] += pick.forward ? 1 : -1;
        times.alive[stage] = std::max(times.alive[stage], alive_[stage]);
        if (!pick.forward) times.ended[stage][pick.chunk] = end;
        free_[stage] = end;
        times.seconds = std::max(times.seconds, end);
    }
    double free(std::size_t stage) const { return free_[stage]; }

    PipelineTimes times;

private:
    const PipelineCosts& costs_;
    std::size_t places_;
    std::vector<double> free_;
    std::vector<std::int64_t> alive_;
    std::vector<std::vector<double>> forward_, backward_;  // end, by place and micro-batch
};

PipelineTimes in_order(PipelineSchedule schedule, const PipelineCosts& costs) {
    Played played(costs);
    std::vector<std::vector<Pick>> orders;
    for (std::size_t stage = 0; stage < costs.stages; ++stage) orders.push_back(order_of(schedule, costs, stage));
    std::vector<std::size_t> next(costs.stages, 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t stage = 0; stage < costs.stages; ++stage)
            while (next[stage] < orders[stage].size()) {
                const Pick& pick = orders[stage][next[stage]];
                const double needs = played.needs(stage, pick);
                if (needs == kNever) break;
                played.run(stage, pick, std::max(needs, played.free(stage)));
                ++next[stage];
                moved = true;
            }
    }
    return played.times;
}

// One stage of a schedule that takes what is there. `ways`: the directions in which micro-batches pass.
struct Greedy {
    struct Way {
        std::vector<double> forward, backward;  // when each micro-batch's pass here has ended
        std::size_t forwards = 0, backwards = 0;
        std::int64_t alive() const {
            return static_cast<std::int64_t>(forwards) - static_cast<std::int64_t>(backwards);
        }
    };
    std::vector<Way> ways;
    double free = 0;
    double busy = 0;
    std::int64_t alive = 0, most = 0;
    std::int64_t weights = 0;  // gradients of weights that wait
};

class GreedyPipeline {
public:
    GreedyPipeline(const PipelineCosts& costs, std::size_t ways) : costs_(costs), stages_(costs.stages) {
        for (Greedy& stage : stages_) {
            stage.ways.resize(ways);
            for (std::size_t way = 0; way < ways; ++way) {
                const auto batches =
                    static_cast<std::size_t>(costs.micro_batches + (way == 0 && ways > 1 ? 1 : 0)) / ways;
                stage.ways[way].forward.assign(batches, kNever);
                stage.ways[way].backward.assign(batches, kNever);
            }
        }
    }
    PipelineTimes run() {
        if (costs_.order != nullptr)
            for (const PipelinePick& pick : *costs_.order) again(pick);
        else
            while (step()) {
            }
        PipelineTimes times;
        times.order = std::move(order_);
        for (Greedy& stage : stages_) {
            times.seconds = std::max(times.seconds, stage.free);
            times.busy.push_back(stage.busy);
            times.ended.push_back({stage.free});
            times.alive.push_back(stage.most);
            times.messages.push_back(2 * costs_.micro_batches);
        }
        return times;
    }

private:
    struct Choice {
        double from = kNever;
        int rank = 3;  // backward, forward, weights
        std::size_t stage{}, way{};
        bool operator<(const Choice& other) const { return from != other.from ? from < other.from : rank < other.rank; }
    };
    // The physical stage that is place `place` of a way.
    std::size_t stage_at(std::size_t way, std::size_t place) const {
        return way == 0 ? place : stages_.size() - 1 - place;
    }
    double forward_from(std::size_t way, std::size_t place) const {
        const Greedy& stage = stages_[stage_at(way, place)];
        const std::size_t m = stage.ways[way].forwards;
        if (m >= stage.ways[way].forward.size()) return kNever;
        if (stage.ways[way].alive() >= most_alive(place)) return kNever;
        if (place == 0) return stage.free;
        return std::max(stage.free, stages_[stage_at(way, place - 1)].ways[way].forward[m] + costs_.message);
    }
    std::int64_t most_alive(std::size_t place) const { return static_cast<std::int64_t>(stages_.size() - place); }
    double backward_from(std::size_t way, std::size_t place) const {
        const Greedy& stage = stages_[stage_at(way, place)];
        const std::size_t m = stage.ways[way].backwards;
        if (m >= stage.ways[way].backward.size()) return kNever;
        const double own = stage.ways[way].forward[m];
        if (place + 1 == stages_.size()) return std::max(stage.free, own);
        return std::max({stage.free, own, stages_[stage_at(way, place + 1)].ways[way].backward[m] + costs_.message});
    }
    bool step() {
        Choice best;
        for (std::size_t way = 0; way < stages_[0].ways.size(); ++way)
            for (std::size_t place = 0; place < stages_.size(); ++place) {
                const std::size_t stage = stage_at(way, place);
                best = std::min(best, Choice{backward_from(way, place), 0, stage, way});
                best = std::min(best, Choice{forward_from(way, place), 1, stage, way});
            }
        for (std::size_t stage = 0; stage < stages_.size(); ++stage)
            if (stages_[stage].weights > 0) best = std::min(best, Choice{stages_[stage].free, 2, stage, 0});
        if (best.from == kNever) return false;
        take(best);
        return true;
    }
    // The same pass as in another run, when what it waits for has come.
    void again(const PipelinePick& pick) {
        const std::size_t place = pick.way == 0 ? pick.stage : stages_.size() - 1 - pick.stage;
        const double from = pick.kind == 0   ? backward_from(pick.way, place)
                            : pick.kind == 1 ? forward_from(pick.way, place)
                                             : stages_[pick.stage].free;
        take({from, pick.kind, pick.stage, pick.way});
    }
    void take(const Choice& choice) {
        order_.push_back({choice.rank, choice.stage, choice.way});
        Greedy& stage = stages_[choice.stage];
        const std::size_t place = choice.way == 0 ? choice.stage : stages_.size() - 1 - choice.stage;
        const double weights = costs_.weights.empty() ? 0 : costs_.weights[place][0];
        double work = weights;
        if (choice.rank == 0) {
            Greedy::Way& way = stage.ways[choice.way];
            work = costs_.backward[place][0] - weights;
            way.backward[way.backwards++] = choice.from + work;
            stage.weights += weights > 0 ? 1 : 0;
            --stage.alive;
        } else if (choice.rank == 1) {
            Greedy::Way& way = stage.ways[choice.way];
            work = costs_.forward[place][0];
            way.forward[way.forwards++] = choice.from + work;
            stage.most = std::max(stage.most, ++stage.alive);
        } else {
            --stage.weights;
        }
        stage.free = choice.from + work;
        stage.busy += work;
    }

    const PipelineCosts& costs_;
    std::vector<Greedy> stages_;
    std::vector<PipelinePick> order_;
};

}  // namespace

PipelineTimes play(PipelineSchedule schedule, const PipelineCosts& costs) {
    if (schedule == PipelineSchedule::gpipe || schedule == PipelineSchedule::one_f_one_b || costs.stages == 1)
        return in_order(PipelineSchedule::gpipe == schedule ? schedule : PipelineSchedule::one_f_one_b, costs);
    return GreedyPipeline(costs, schedule == PipelineSchedule::dual_pipe ? 2 : 1).run();
}

}  // namespace fmsim
