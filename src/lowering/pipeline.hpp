// One channel as a pipeline of cells, described once and read twice: by the engine as activities (`chunk`), and by the
// (max,+) recurrence as times (`stream`, solo_makespan.hpp).
//
// A cell is a serial piece of work at one stage of one hop. A hop inside a domain has one stage, the copy by the
// sender's SM into the receiver's buffer. A hop between domains has two: the copy into the sender's own buffer, then
// the flight of the whole message from NIC to NIC.
//
//   hop h     copy  [n,0][n,1] ...          n: transfer, counted over all loops; its units in brackets
//             flight       [n, message]     after the copies of its units
//
// A cell of transfer n waits for
//   order   the cell before it at its own stage; hops of one lane count as one;
//   data    the same unit of the transfers that it passes on, and the latency of their hops;
//   credit  room in the buffer: transfer n - chunks_in_flight has been passed on by the receiver, and the news of it
//           has come back. For the copy of a hop that leaves the domain: has left the sender.
//
// Transfers are visited in the order of the loop, so that all that a cell waits for came before it. A transfer that is
// passed on only later in the same order holds nobody up (several small messages of one hop: PAT, custom schedules).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"
#include "loop_order.hpp"

namespace fmsim {

struct PipelineHop {
    bool leaves_domain{};
    SimTime latency;         // of data
    SimTime credit_latency;  // of the news that a buffer is free again
    std::uint32_t lane{};    // of the channel: hops of one lane carry one transfer at a time
    SimTime drain{};         // after the last arrival
};

struct Pipeline {
    std::vector<PipelineHop>
        hops;  // of a ring that repeats itself, one period: equal periods behave alike at all times
    Steps steps;
    std::uint32_t chunks_in_flight{};
    double wire_per_data{};
    std::vector<Loop> loops;
};

enum class Stage : std::uint8_t { copy, flight };

struct Cell {
    std::uint32_t hop{};
    Stage stage{};
    double wire_bytes{};
    double chunks{};  // of its loop
};

template <class Value>
struct After {
    Value cell;
    SimTime lag;
};

// Visits the cells of a pipeline. `Make` turns a cell and what it waits for into a Value, which later cells wait for:
// Value make(const Cell&, std::span<const After<Value>>). Only the values that can still be waited for are kept, so
// memory is O(hops x units). Where values are times, loops that only repeat the ones before are skipped, exactly.
template <class Value, class Make>
class PipelineWalk {
public:
    PipelineWalk(const Pipeline& pipe, Make make);

    // All cells; what the end of the channel waits for.
    std::vector<After<Value>> run();

private:
    static constexpr bool kSkips = std::is_same_v<Value, SimTime>;
    static constexpr std::size_t kLongestPeriod = 8;         // loops; longer ones are walked through
    static constexpr std::uint32_t kLongestStepPeriod = 64;  // steps of a ring

    // The last cell made at each stage of a lane.
    struct Last {
        bool any{};
        Value cell{};
    };

    void walk_loop();
    void transfer(const Move& move);
    void copy(const Move& move, std::uint32_t unit);
    void flight(const Move& move, std::uint32_t message, double data);
    void wait_for_data(const Move& move, std::uint32_t unit);
    void wait_for_receiver(const Move& move, std::uint32_t unit);
    void wait_for_own_buffer(const Move& move, std::uint32_t message);
    Value add(std::uint32_t hop, Stage stage, double data, double chunks, Last& last);
    std::uint32_t skip_steps(std::uint32_t step);
    void skip_repeats();
    bool skip(std::uint32_t d, std::int64_t times);
    void shift(std::int64_t step, std::int64_t times);
    template <class Visit>
    void each_value(Visit visit);
    std::vector<std::int64_t> state();

    const Loop& loop() const { return pipe_.loops[walked_.back()]; }
    // The cut of a loop walked earlier; skipped loops were like their neighbours.
    const Loop& loop_of(std::uint64_t walked) const { return pipe_.loops[walked_[walked]]; }
    // The message that carries a unit of a loop.
    static std::uint32_t message_of(const Loop& loop, std::uint32_t unit) { return loop.whole_message ? 0 : unit; }
    // A transfer's number through all loops walked.
    std::uint64_t number(const TransferRef& at, std::uint64_t walked) const {
        return walked * order_.per_loop(at.hop) + at.nth;
    }
    std::uint64_t number(const TransferRef& at) const { return number(at, walked_.size() - 1); }
    std::size_t slot(std::uint32_t hop, std::uint64_t number, Stage stage, std::uint32_t part) const {
        const std::uint64_t row = first_row_[hop] + number % window_[hop];
        return (row * 2 + static_cast<std::uint64_t>(stage)) * most_parts_ + part;
    }
    // When a transfer has arrived as far as its last stage goes.
    const Value& arrival(const TransferRef& at, std::uint64_t walked, std::uint32_t unit) const {
        const bool flies = pipe_.hops[at.hop].leaves_domain;
        return kept_[slot(at.hop, number(at, walked), flies ? Stage::flight : Stage::copy,
                          flies ? message_of(loop_of(walked), unit) : unit)];
    }

    const Pipeline& pipe_;
    Make make_;
    const LoopOrder order_;
    std::vector<std::uint32_t> window_;     // of a hop: transfers whose values are kept
    std::vector<std::uint64_t> first_row_;  // of a hop
    std::uint32_t most_parts_ = 1;
    std::vector<Value> kept_;
    std::vector<Last> last_copy_, last_flight_;  // of a lane
    std::vector<std::uint64_t> made_;            // of a hop: transfers visited
    std::vector<After<Value>> waits_;
    std::vector<std::uint32_t> walked_;              // the loops walked
    std::deque<std::vector<std::int64_t>> earlier_;  // states after the latest loops, all of one cut
    std::vector<std::int64_t> then_;                 // of a ring: the state after an earlier step of the loop
    std::uint32_t then_step_ = 0, next_then_ = 0;    // that step, and the next to keep
};

template <class Value, class Make>
PipelineWalk<Value, Make>::PipelineWalk(const Pipeline& pipe, Make make)
    : pipe_(pipe), make_(std::move(make)), order_(pipe.steps, static_cast<std::uint32_t>(pipe.hops.size())) {
    // With one chunk in flight a cell would wait for one that comes after it.
    assert(pipe.chunks_in_flight >= 2);
    for (const Loop& loop : pipe.loops) most_parts_ = std::max(most_parts_, loop.units());
    std::uint64_t rows = 0;
    std::uint32_t lanes = 0;
    for (std::uint32_t hop = 0; hop < pipe.hops.size(); ++hop) {
        window_.push_back(order_.window(hop, pipe.chunks_in_flight));
        first_row_.push_back(rows);
        rows += window_.back();
        lanes = std::max(lanes, pipe.hops[hop].lane + 1);
    }
    kept_.resize(rows * 2 * most_parts_);
    last_copy_.resize(lanes);
    last_flight_.resize(lanes);
    made_.resize(pipe.hops.size());
}

template <class Value, class Make>
std::vector<After<Value>> PipelineWalk<Value, Make>::run() {
    for (std::uint32_t next = 0; next < pipe_.loops.size(); next = walked_.back() + 1) {
        walked_.push_back(next);
        walk_loop();
        if constexpr (kSkips) skip_repeats();
    }
    std::vector<After<Value>> end;
    for (const PipelineHop& hop : pipe_.hops) {
        const Last& last = hop.leaves_domain ? last_flight_[hop.lane] : last_copy_[hop.lane];
        if (last.any) end.push_back({last.cell, hop.latency + hop.drain});
    }
    return end;
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::walk_loop() {
    if (!order_.is_ring()) {
        order_.each([this](const Move& move) { transfer(move); });
        return;
    }
    then_.clear();
    next_then_ = 2 * window_.front();  // by then no step waits for the loop before
    for (std::uint32_t step = 0; step < order_.ring_steps(); ++step) {
        order_.each_of_step(step, [this](const Move& move) { transfer(move); });
        if constexpr (kSkips) step += skip_steps(step);
    }
}

// A ring's steps repeat as loops do, and each waits for the same as the one before: once all values are later by the
// same time than some steps ago they stay so to the end of the loop. Looked for after 2, 4, 8, ... windows. Gives how
// many steps it has skipped: whole windows, so that each value stays in its slot.
template <class Value, class Make>
std::uint32_t PipelineWalk<Value, Make>::skip_steps(std::uint32_t step) {
    const std::uint32_t window = window_.front(), left = order_.ring_steps() - 1 - step;
    if (left < window) return 0;
    if (step == next_then_) {
        then_ = state();
        then_step_ = step;
        next_then_ *= 2;
        return 0;
    }
    const std::uint32_t ago = step - then_step_;
    if (then_.empty() || ago > kLongestStepPeriod) return 0;
    std::size_t i = 0;
    std::int64_t later = 0;
    bool same = true;
    each_value([&](const Value& value) {
        if (i == 0) later = value.fs - then_[0];
        return same = value.fs - then_[i++] == later;
    });
    const std::uint32_t unit = std::lcm(ago, window), units = left / unit;
    if (!same || units == 0) return 0;
    const std::int64_t times = std::int64_t{units} * (unit / ago);
    shift(later, times);
    for (std::uint64_t& made : made_) made += units * unit;
    then_.clear();
    next_then_ = 0;
    return units * unit;
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::transfer(const Move& move) {
    const std::uint32_t units = loop().units();
    for (std::uint32_t unit = 0; unit < units; ++unit) {
        copy(move, unit);
        if (!pipe_.hops[move.at.hop].leaves_domain) continue;
        if (!loop().whole_message)
            flight(move, unit, loop().unit_bytes(unit) * move.chunks);
        else if (unit + 1 == units)
            flight(move, 0, loop().chunk * move.chunks);
    }
    ++made_[move.at.hop];
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::copy(const Move& move, std::uint32_t unit) {
    const std::uint32_t hop = move.at.hop;
    waits_.clear();
    wait_for_data(move, unit);
    if (pipe_.hops[hop].leaves_domain)
        wait_for_own_buffer(move, message_of(loop(), unit));
    else
        wait_for_receiver(move, unit);
    kept_[slot(hop, number(move.at), Stage::copy, unit)] =
        add(hop, Stage::copy, loop().unit_bytes(unit) * move.chunks, move.chunks, last_copy_[pipe_.hops[hop].lane]);
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::flight(const Move& move, std::uint32_t message, double data) {
    const std::uint32_t hop = move.at.hop;
    waits_.clear();
    waits_.push_back({last_copy_[pipe_.hops[hop].lane].cell, {}});
    wait_for_receiver(move, message);
    kept_[slot(hop, number(move.at), Stage::flight, message)] =
        add(hop, Stage::flight, data, move.chunks, last_flight_[pipe_.hops[hop].lane]);
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::wait_for_data(const Move& move, std::uint32_t unit) {
    for (const TransferRef& need : move.needs)
        waits_.push_back({arrival(need, walked_.size() - 1, unit), pipe_.hops[need.hop].latency});
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::wait_for_receiver(const Move& move, std::uint32_t unit) {
    const std::uint64_t mine = number(move.at);
    if (mine < pipe_.chunks_in_flight) return;
    const std::uint64_t old = mine - pipe_.chunks_in_flight;
    const std::uint32_t count = order_.per_loop(move.at.hop);
    const std::uint64_t walked = old / count;
    const auto nth = static_cast<std::uint32_t>(old % count);
    const std::uint32_t part = std::min(unit, loop_of(walked).units() - 1);
    order_.passed_on({move.at.hop, nth}, [&](const TransferRef& by) {
        if (number(by, walked) < made_[by.hop])
            waits_.push_back(
                {kept_[slot(by.hop, number(by, walked), Stage::copy, part)], pipe_.hops[move.at.hop].credit_latency});
    });
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::wait_for_own_buffer(const Move& move, std::uint32_t message) {
    const std::uint64_t mine = number(move.at);
    if (mine < pipe_.chunks_in_flight) return;
    const std::uint64_t old = mine - pipe_.chunks_in_flight;
    const Loop& its_loop = loop_of(old / order_.per_loop(move.at.hop));
    const std::uint32_t part = its_loop.whole_message ? 0 : std::min(message, its_loop.units() - 1);
    waits_.push_back({kept_[slot(move.at.hop, old, Stage::flight, part)], pipe_.hops[move.at.hop].credit_latency});
}

template <class Value, class Make>
Value PipelineWalk<Value, Make>::add(std::uint32_t hop, Stage stage, double data, double chunks, Last& last) {
    if (last.any) waits_.push_back({last.cell, {}});
    const Cell cell{hop, stage, data * pipe_.wire_per_data, chunks};
    last = {true, make_(cell, std::span<const After<Value>>(waits_))};
    return last.cell;
}

// All that the next loops can depend on: the values kept, the latest last, and the last cells of the lanes; until
// `visit` gives false.
template <class Value, class Make>
template <class Visit>
void PipelineWalk<Value, Make>::each_value(Visit visit) {
    const std::uint32_t units = loop().units(), messages = message_of(loop(), units - 1) + 1;
    for (std::uint32_t hop = 0; hop < pipe_.hops.size(); ++hop) {
        const bool flies = pipe_.hops[hop].leaves_domain;
        for (std::uint64_t n = made_[hop] - window_[hop]; n < made_[hop]; ++n) {
            for (std::uint32_t u = 0; u < units; ++u)
                if (!visit(kept_[slot(hop, n, Stage::copy, u)])) return;
            for (std::uint32_t m = 0; flies && m < messages; ++m)
                if (!visit(kept_[slot(hop, n, Stage::flight, m)])) return;
        }
    }
    for (auto* lasts : {&last_copy_, &last_flight_})
        for (Last& last : *lasts)
            if (last.any && !visit(last.cell)) return;
}

template <class Value, class Make>
std::vector<std::int64_t> PipelineWalk<Value, Make>::state() {
    std::vector<std::int64_t> all;
    each_value([&](const Value& value) {
        all.push_back(value.fs);
        return true;
    });
    return all;
}

// The recurrence is linear in (max,+): when all that the future depends on is what it was d loops ago, later by the
// same time everywhere, each further d equal loops add that time again.
template <class Value, class Make>
void PipelineWalk<Value, Make>::skip_repeats() {
    const std::uint32_t at = walked_.back();
    const auto alike = [&](std::uint32_t a, std::uint32_t b) {
        return pipe_.loops[a].chunk == pipe_.loops[b].chunk && pipe_.loops[a].unit == pipe_.loops[b].unit;
    };
    if (at + kLongestPeriod >= pipe_.loops.size() || !alike(at, static_cast<std::uint32_t>(pipe_.loops.size() - 2))) {
        earlier_.clear();
        return;
    }
    for (std::uint32_t hop = 0; hop < pipe_.hops.size(); ++hop)
        if (made_[hop] < std::uint64_t{window_[hop]} || order_.per_loop(hop) == 0) return;
    earlier_.push_back(state());
    for (std::uint32_t d = 1; d < earlier_.size(); ++d) {
        // The last loop may be cut short, and one more stands before it.
        const auto most = static_cast<std::int64_t>((pipe_.loops.size() - 2 - at) / d);
        if (most < 1) break;
        if (!skip(d, most)) continue;
        walked_.back() = at + static_cast<std::uint32_t>(most) * d;
        earlier_.clear();
        return;
    }
    if (earlier_.size() > kLongestPeriod) earlier_.pop_front();
}

// Adds what the last d loops have added `times` times more, if that is one time everywhere.
template <class Value, class Make>
bool PipelineWalk<Value, Make>::skip(std::uint32_t d, std::int64_t times) {
    const auto& now = earlier_.back();
    const auto& then = earlier_[earlier_.size() - 1 - d];
    const std::int64_t step = now[0] - then[0];
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i] - then[i] != step) return false;
    shift(step, times);
    return true;
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::shift(std::int64_t step, std::int64_t times) {
    if (step > 0 && times > SimTime::max().fs / 2 / step) throw LimitReached("a run of more than 2.56 hours");
    each_value([&](Value& value) {
        value.fs += times * step;
        return true;
    });
}

// All cells of `pipe` in order; see PipelineWalk.
template <class Value, class Make>
std::vector<After<Value>> walk(const Pipeline& pipe, Make make) {
    return PipelineWalk<Value, Make>(pipe, std::move(make)).run();
}

}  // namespace fmsim
