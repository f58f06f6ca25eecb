// The transfers of one loop in order, with what each waits for, whatever the collective.
//
// Transfers of a hop are counted through the loop: `nth`. A ring's are computed, since a ring of a hundred thousand
// ranks has 10^10 of them; those of a pattern are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fmsim/collective.hpp"

namespace fmsim {

struct TransferRef {
    std::uint32_t hop{};
    std::uint32_t nth{};
};

// One transfer, as it is visited.
struct Move {
    TransferRef at;
    double chunks{};
    std::span<const TransferRef> needs;  // what it passes on
};

// How much each hop carries in a loop: all that rates ask of a schedule. Nothing is drawn for it.
class LoopCounts {
public:
    // `hops`: of a ring or of turning steps that repeat themselves, those of one period.
    LoopCounts(const Steps& steps, std::uint32_t hops) : per_loop_(hops, 0), chunks_(hops, 0) {
        if (const auto* ring = std::get_if<RingSteps>(&steps)) {
            std::fill(per_loop_.begin(), per_loop_.end(), ring->steps);
            std::fill(chunks_.begin(), chunks_.end(), ring->steps);
        } else if (const auto* turning = std::get_if<std::shared_ptr<const TurningSteps>>(&steps)) {
            count((*turning)->transfers);
            for (std::uint32_t hop = (*turning)->hops; hop < hops; ++hop) {
                per_loop_[hop] = per_loop_[hop - (*turning)->hops];
                chunks_[hop] = chunks_[hop - (*turning)->hops];
            }
        } else {
            count(std::get<std::shared_ptr<const Pattern>>(steps)->transfers);
        }
    }

    std::uint32_t hops() const { return static_cast<std::uint32_t>(per_loop_.size()); }
    std::uint32_t per_loop(std::uint32_t hop) const { return per_loop_[hop]; }
    double chunks_a_loop(std::uint32_t hop) const { return chunks_[hop]; }
    // Of the hops that carry anything.
    std::uint32_t least_per_loop() const {
        std::uint32_t least = std::numeric_limits<std::uint32_t>::max() / 2;
        for (const std::uint32_t count : per_loop_)
            if (count > 0) least = std::min(least, count);
        return least;
    }

private:
    void count(std::span<const Transfer> transfers) {
        for (const Transfer& transfer : transfers) {
            ++per_loop_[transfer.hop];
            chunks_[transfer.hop] += transfer.chunks;
        }
    }

    std::vector<std::uint32_t> per_loop_;
    std::vector<double> chunks_;
};

class LoopOrder {
public:
    // Of steps that repeat themselves `hops` are those of one period.
    LoopOrder(const Steps& steps, std::uint32_t hops)
        : counts_(steps, hops), ring_hops_(hops), least_per_loop_(counts_.least_per_loop()) {
        if (const auto* ring = std::get_if<RingSteps>(&steps))
            ring_steps_ = ring->steps;
        else if (const auto* turning = std::get_if<std::shared_ptr<const TurningSteps>>(&steps))
            keep(turned(**turning, hops / (*turning)->hops));
        else
            keep(*std::get<std::shared_ptr<const Pattern>>(steps));
    }

    std::uint32_t hops() const { return counts_.hops(); }
    std::uint32_t per_loop(std::uint32_t hop) const { return counts_.per_loop(hop); }
    bool is_ring() const { return ring_steps_ > 0; }
    std::uint32_t ring_steps() const { return ring_steps_; }
    // How many transfers come before a hop's first one, one after another: hops of equal depth flow at the same time.
    // Of a ring 0: all its hops flow all the time.
    std::uint32_t depth(std::uint32_t hop) const { return is_ring() ? 0 : depth_[hop]; }

    // How many of a hop's latest transfers can still be waited for.
    std::uint32_t window(std::uint32_t hop, std::uint32_t in_flight) const {
        if (ring_steps_ > 0) return in_flight + 1;
        const std::uint32_t loops = (in_flight + least_per_loop_ - 1) / least_per_loop_ + 1;
        return loops * std::max(1u, per_loop(hop));
    }

    template <class Visit>
    void each(Visit visit) const {
        for (std::uint32_t step = 0; step < ring_steps_; ++step) each_of_step(step, visit);
        for (const Kept& one : kept_)
            visit(Move{one.at, one.chunks,
                       std::span(refs_).subspan(one.first_need, one.first_passed_on - one.first_need)});
    }
    // Of a ring: a transfer of each hop.
    template <class Visit>
    void each_of_step(std::uint32_t step, Visit visit) const {
        for (std::uint32_t hop = 0; hop < ring_hops_; ++hop) {
            const TransferRef before{(hop + ring_hops_ - 1) % ring_hops_, step - 1};
            visit(Move{{hop, step}, 1, std::span(&before, step > 0 ? 1 : 0)});
        }
    }

    // The transfers that pass on what `at` has brought: they free the receiver's buffer.
    template <class Visit>
    void passed_on(const TransferRef& at, Visit visit) const {
        if (ring_steps_ > 0) {
            if (at.nth + 1 < ring_steps_) visit(TransferRef{(at.hop + 1) % ring_hops_, at.nth + 1});
            return;
        }
        const Kept& one = kept_[of_hop_[first_of_hop_[at.hop] + at.nth]];
        for (std::size_t i = one.first_passed_on; i < one.end; ++i) visit(refs_[i]);
    }

private:
    struct Kept {
        TransferRef at;
        double chunks{};
        std::size_t first_need{}, first_passed_on{}, end{};
    };

    void keep(const Pattern& pattern) {
        std::vector<TransferRef> at;
        std::vector<std::uint32_t> made(hops());
        std::vector<std::vector<std::uint32_t>> passed_on(pattern.transfers.size());
        for (std::uint32_t t = 0; t < pattern.transfers.size(); ++t) {
            const Transfer& transfer = pattern.transfers[t];
            at.push_back({transfer.hop, made[transfer.hop]++});
            for (const std::uint32_t need : pattern.needs.of(t)) passed_on[need].push_back(t);
        }
        for (std::uint32_t t = 0; t < pattern.transfers.size(); ++t) {
            Kept one{.at = at[t], .chunks = pattern.transfers[t].chunks, .first_need = refs_.size()};
            for (const std::uint32_t need : pattern.needs.of(t)) refs_.push_back(at[need]);
            one.first_passed_on = refs_.size();
            for (const std::uint32_t later : passed_on[t]) refs_.push_back(at[later]);
            one.end = refs_.size();
            kept_.push_back(one);
        }
        find_depths(pattern);
        for (const std::uint32_t count : made) first_of_hop_.push_back(first_of_hop_.back() + count);
        of_hop_.resize(kept_.size());
        for (std::uint32_t t = 0; t < kept_.size(); ++t) of_hop_[first_of_hop_[at[t].hop] + at[t].nth] = t;
    }

    void find_depths(const Pattern& pattern) {
        std::vector<std::uint32_t> of(pattern.transfers.size());
        depth_.resize(hops());
        for (std::uint32_t t = 0; t < of.size(); ++t) {
            for (const std::uint32_t need : pattern.needs.of(t)) of[t] = std::max(of[t], of[need] + 1);
            if (kept_[t].at.nth == 0) depth_[kept_[t].at.hop] = of[t];
        }
    }

    LoopCounts counts_;
    std::uint32_t ring_hops_;
    std::uint32_t ring_steps_ = 0;
    std::uint32_t least_per_loop_;
    std::vector<std::uint32_t> depth_;
    std::vector<Kept> kept_;
    std::vector<TransferRef> refs_;
    std::vector<std::size_t> first_of_hop_{0};
    std::vector<std::uint32_t> of_hop_;  // transfers by hop
};

}  // namespace fmsim
