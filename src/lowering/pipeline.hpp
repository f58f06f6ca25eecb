// One ring channel as a pipeline of cells, described once and read twice: by the engine as activities (`chunk`), and
// by the (max,+) recurrence as times (`stream`, solo_makespan.hpp).
//
// A cell is a serial piece of work at one stage of one hop. A hop inside a domain has one stage, the copy by the
// sender's SM into the receiver's buffer. A hop between domains has two: the copy into the sender's own buffer, then
// the flight of the whole message from NIC to NIC.
//
//   hop h     copy  [n,0][n,1] ...          n: chunk, counted over all loops; units of a chunk in brackets
//             flight       [n, message]     after the copies of its units
//
// A cell of chunk n waits for
//   order   the cell before it at its own stage;
//   data    the same part of chunk n - 1 on hop h - 1, and that hop's latency, unless n is a loop's first step;
//   credit  room in the buffer: chunk n - chunks_in_flight has been passed on by the receiver, and the news of it has
//           come back. For the copy of a hop that leaves the domain: has left the sender.
//
// Cells are visited chunk by chunk, hop by hop, so that all that a cell waits for came before it.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"

namespace fmsim {

// The hops of one period of the ring: equal periods behave alike at all times, so one stands for all.
struct PipelineHop {
    bool leaves_domain{};
    SimTime latency;         // of data
    SimTime credit_latency;  // of the news that a buffer is free again
};

struct Pipeline {
    std::vector<PipelineHop> hops;
    std::uint32_t steps{};
    std::uint32_t chunks_in_flight{};
    double wire_per_data{};
    std::vector<Loop> loops;
};

enum class Stage : std::uint8_t { copy, flight };

struct Cell {
    std::uint32_t hop{};
    Stage stage{};
    double wire_bytes{};
};

template <class Value>
struct After {
    Value cell;
    SimTime lag;
};

// Visits the cells of a pipeline. `Make` turns a cell and what it waits for into a Value, which later cells wait for:
// Value make(const Cell&, std::span<const After<Value>>). Only the values of the chunks that can still be waited for
// are kept, so memory is O(hops x units).
template <class Value, class Make>
class PipelineWalk {
public:
    PipelineWalk(const Pipeline& pipe, Make make);

    // All cells; what the end of the channel waits for.
    std::vector<After<Value>> run();

private:
    // The last cell made at each stage of a hop.
    struct Last {
        bool any{};
        Value cell{};
    };

    void hop_of_chunk(std::uint32_t hop);
    void copy(std::uint32_t hop, std::uint32_t unit);
    void flight(std::uint32_t hop, std::uint32_t message, double data);
    void wait_for_data(std::uint32_t hop, std::uint32_t unit);
    void wait_for_receiver(std::uint32_t hop, std::uint32_t unit);
    void wait_for_own_buffer(std::uint32_t hop, std::uint32_t message);
    Value add(std::uint32_t hop, Stage stage, double data, Last& last);

    const Loop& loop() const { return pipe_.loops[loop_]; }
    // The message that carries a unit of this loop.
    std::uint32_t message_of(std::uint32_t unit) const { return loop().whole_message ? 0 : unit; }
    // The loop and so the cut of an earlier chunk.
    const Loop& loop_of(std::uint64_t chunk) const { return pipe_.loops[chunk / pipe_.steps]; }
    Value& at(std::uint64_t chunk, std::uint32_t hop, Stage stage, std::uint32_t part) {
        const std::uint64_t row = (chunk % window_ * hops_ + hop) * 2 + static_cast<std::uint64_t>(stage);
        return kept_[row * most_parts_ + part];
    }

    const Pipeline& pipe_;
    Make make_;
    const std::uint32_t hops_;
    const std::uint64_t window_;  // chunks whose values are kept
    std::uint32_t most_parts_ = 1;
    std::vector<Value> kept_;
    std::vector<Last> last_copy_, last_flight_;  // of a hop
    std::vector<After<Value>> waits_;
    std::uint32_t loop_ = 0, step_ = 0;
    std::uint64_t chunk_ = 0;
};

template <class Value, class Make>
PipelineWalk<Value, Make>::PipelineWalk(const Pipeline& pipe, Make make)
    : pipe_(pipe),
      make_(std::move(make)),
      hops_(static_cast<std::uint32_t>(pipe.hops.size())),
      window_(pipe.chunks_in_flight + 1),
      last_copy_(hops_),
      last_flight_(hops_) {
    // With one chunk in flight a cell would wait for one that comes after it.
    assert(pipe.chunks_in_flight >= 2);
    for (const Loop& loop : pipe.loops) most_parts_ = std::max(most_parts_, loop.units());
    kept_.resize(window_ * hops_ * 2 * most_parts_);
}

template <class Value, class Make>
std::vector<After<Value>> PipelineWalk<Value, Make>::run() {
    for (loop_ = 0; loop_ < pipe_.loops.size(); ++loop_)
        for (step_ = 0; step_ < pipe_.steps; ++step_, ++chunk_)
            for (std::uint32_t hop = 0; hop < hops_; ++hop) hop_of_chunk(hop);

    std::vector<After<Value>> end;
    for (std::uint32_t hop = 0; hop < hops_; ++hop) {
        const Last& last = pipe_.hops[hop].leaves_domain ? last_flight_[hop] : last_copy_[hop];
        if (last.any) end.push_back({last.cell, pipe_.hops[hop].latency});
    }
    return end;
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::hop_of_chunk(std::uint32_t hop) {
    const std::uint32_t units = loop().units();
    for (std::uint32_t unit = 0; unit < units; ++unit) {
        copy(hop, unit);
        if (!pipe_.hops[hop].leaves_domain) continue;
        if (!loop().whole_message)
            flight(hop, unit, loop().unit_bytes(unit));
        else if (unit + 1 == units)
            flight(hop, 0, loop().chunk);
    }
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::copy(std::uint32_t hop, std::uint32_t unit) {
    waits_.clear();
    wait_for_data(hop, unit);
    if (pipe_.hops[hop].leaves_domain)
        wait_for_own_buffer(hop, message_of(unit));
    else
        wait_for_receiver(hop, unit);
    at(chunk_, hop, Stage::copy, unit) = add(hop, Stage::copy, loop().unit_bytes(unit), last_copy_[hop]);
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::flight(std::uint32_t hop, std::uint32_t message, double data) {
    waits_.clear();
    waits_.push_back({last_copy_[hop].cell, {}});
    wait_for_receiver(hop, message);
    at(chunk_, hop, Stage::flight, message) = add(hop, Stage::flight, data, last_flight_[hop]);
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::wait_for_data(std::uint32_t hop, std::uint32_t unit) {
    if (step_ == 0) return;
    const std::uint32_t before = (hop + hops_ - 1) % hops_;
    const PipelineHop& source = pipe_.hops[before];
    const Value& arrival = source.leaves_domain ? at(chunk_ - 1, before, Stage::flight, message_of(unit))
                                                : at(chunk_ - 1, before, Stage::copy, unit);
    waits_.push_back({arrival, source.latency});
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::wait_for_receiver(std::uint32_t hop, std::uint32_t unit) {
    if (chunk_ < pipe_.chunks_in_flight) return;
    const std::uint64_t old = chunk_ - pipe_.chunks_in_flight;
    if (old % pipe_.steps + 1 == pipe_.steps) return;  // the last step of a loop is passed on to nobody
    const std::uint32_t part = std::min(unit, loop_of(old).units() - 1);
    waits_.push_back({at(old + 1, (hop + 1) % hops_, Stage::copy, part), pipe_.hops[hop].credit_latency});
}

template <class Value, class Make>
void PipelineWalk<Value, Make>::wait_for_own_buffer(std::uint32_t hop, std::uint32_t message) {
    if (chunk_ < pipe_.chunks_in_flight) return;
    const std::uint64_t old = chunk_ - pipe_.chunks_in_flight;
    const std::uint32_t part = loop_of(old).whole_message ? 0 : std::min(message, loop_of(old).units() - 1);
    waits_.push_back({at(old, hop, Stage::flight, part), pipe_.hops[hop].credit_latency});
}

template <class Value, class Make>
Value PipelineWalk<Value, Make>::add(std::uint32_t hop, Stage stage, double data, Last& last) {
    if (last.any) waits_.push_back({last.cell, {}});
    const Cell cell{hop, stage, data * pipe_.wire_per_data};
    last = {true, make_(cell, std::span<const After<Value>>(waits_))};
    return last.cell;
}

// All cells of `pipe` in order; see PipelineWalk.
template <class Value, class Make>
std::vector<After<Value>> walk(const Pipeline& pipe, Make make) {
    return PipelineWalk<Value, Make>(pipe, std::move(make)).run();
}

}  // namespace fmsim
