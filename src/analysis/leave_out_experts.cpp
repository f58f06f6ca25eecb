// Constants of dispatchers that have not seen a source: fitted anew without it, from values that all dispatchers share.
//
// The start is no measurement of any of them (below), and pulls as much as a row that is 5 % off for a constant a
// factor of e away; so a dispatcher that only the left-out source knows is predicted with what dispatchers are like.
// Each table weighs the same.
#include <algorithm>
#include <cmath>
#include <map>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

constexpr double kPull = 0.05;
constexpr int kRounds = 12;

struct Constant {
    std::size_t dispatcher{};
    double value{}, least{}, most{};
    std::function<void(Dispatcher&, double)> set;
};

// What a constant that a dispatcher has starts from.
constexpr double kLaunchUs = 25, kLatencyUs = 25, kDomainUs = 6, kPeerUs = 1, kMessageUs = 1, kRankUs = 0.1;
constexpr double kNvlinkShare = 0.55, kNetworkShare = 0.85, kStagedShare = 1, kPairGbps = 250, kSmGbps = 20,
                 kWindow = 400;

class Constants {
public:
    explicit Constants(const std::vector<Dispatcher>& dispatchers) {
        for (at_ = 0; at_ < dispatchers.size(); ++at_) {
            const Dispatcher& d = dispatchers[at_];
            if (d.all_to_all) continue;
            for (const bool back : {false, true}) {
                span(d.launch, back, kLaunchUs, [](Dispatcher& to) { return &to.launch; });
                span(d.each_rank, back, kRankUs, [](Dispatcher& to) { return &to.each_rank; });
                number(d.nvlink_share, back, kNvlinkShare, 1, [](Dispatcher& to) { return &to.nvlink_share; });
                rate(d.each_pair, back, kPairGbps, [](Dispatcher& to) { return &to.each_pair; });
                rate(d.each_sm, back, kSmGbps, [](Dispatcher& to) { return &to.each_sm; });
            }
            if (d.window > 0) add(kWindow, 1e5, [](Dispatcher& to, double value) { to.window = value; });
            for (const auto& [key, network] : d.networks)
                for (const bool back : {false, true}) of_network(key, network, back);
        }
    }
    std::vector<Constant> all;

private:
    void add(double start, double most, std::function<void(Dispatcher&, double)> set) {
        all.push_back({at_, start, start / 50, std::min(most, start * 50), std::move(set)});
    }
    template <class Of>
    void span(const BothWays<SimTime>& had, bool back, double us, Of of) {
        if (had.of(back).fs > 0)
            add(us, 1e6, [of, back](Dispatcher& to, double value) { of(to)->of(back) = from_seconds(value * 1e-6); });
    }
    template <class Of>
    void number(const BothWays<double>& had, bool back, double start, double most, Of of) {
        if (had.of(back) > 0) add(start, most, [of, back](Dispatcher& to, double value) { of(to)->of(back) = value; });
    }
    template <class Of>
    void rate(const BothWays<BytesPerSecond>& had, bool back, double gbps, Of of) {
        if (had.of(back).value > 0)
            add(gbps, 1e6, [of, back](Dispatcher& to, double value) { of(to)->of(back) = {value * 1e9}; });
    }
    void of_network(const std::string& key, const DispatcherNetwork& had, bool back) {
        const auto at = [key](auto DispatcherNetwork::*member) {
            return [key, member](Dispatcher& to) { return &(to.networks.at(key).*member); };
        };
        span(had.latency, back, kLatencyUs, at(&DispatcherNetwork::latency));
        span(had.each_domain, back, kDomainUs, at(&DispatcherNetwork::each_domain));
        span(had.each_peer, back, kPeerUs, at(&DispatcherNetwork::each_peer));
        span(had.each_message, back, kMessageUs, at(&DispatcherNetwork::each_message));
        number(had.share, back, kNetworkShare, 1, at(&DispatcherNetwork::share));
        number(had.staged_share, back, kStagedShare, 3, at(&DispatcherNetwork::staged_share));
    }
    std::size_t at_ = 0;
};

struct Row {
    std::size_t table{};
    std::size_t dispatcher{};
    std::vector<ExpertCall> calls;
    double measured_us{};
    double weight{};
};

class LeavingOut {
public:
    LeavingOut(const std::vector<ExpertTable>& tables, const std::vector<Dispatcher>& dispatchers)
        : tables_(tables), dispatchers_(dispatchers), constants_(Constants(dispatchers).all) {
        for (std::size_t t = 0; t < tables.size(); ++t) {
            const Measurements& table = *tables[t].table;
            groups_.push_back(group_of(linear_placement(tables[t].topology, table.gpus, table.per_domain)));
            for (const MeasuredRow& measured : table.rows) add_row(t, measured);
        }
    }

    ExpertsLeftOut run(LeaveOut what) {
        std::map<std::string, std::vector<std::size_t>> parts;  // rows of each source or table
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const Measurements& table = *tables_[rows_[r].table].table;
            parts[what == LeaveOut::source ? table.source : table.id].push_back(r);
        }
        const std::vector<double> seen = errors(fitted({}));
        ExpertsLeftOut left{.seen = quantiles_of(seen), .unseen = {}, .each = {}};
        std::vector<double> all_unseen;
        for (const auto& [name, rows] : parts) {
            const std::vector<double> without = errors(fitted(rows));
            std::vector<double> of_seen, of_unseen;
            for (const std::size_t r : rows) {
                of_seen.push_back(seen[r]);
                of_unseen.push_back(without[r]);
            }
            all_unseen.insert(all_unseen.end(), of_unseen.begin(), of_unseen.end());
            left.each.push_back({name, rows.size(), quantiles_of(of_seen), quantiles_of(of_unseen)});
        }
        left.unseen = quantiles_of(all_unseen);
        return left;
    }

private:
    void add_row(std::size_t t, const MeasuredRow& measured) {
        const Measurements& table = *tables_[t].table;
        if (!table.healthy || !table.typical || !measured.typical) return;
        Row row{.table = t,
                .calls = expert_calls(table, measured, dispatchers_),
                .measured_us = measured.time_us,
                .weight = 1 / std::sqrt(static_cast<double>(table.rows.size()))};
        if (row.calls.empty()) return;
        while (dispatchers_[row.dispatcher].name != row.calls.front().dispatcher) ++row.dispatcher;
        if (dispatchers_[row.dispatcher].all_to_all) return;
        try {
            microseconds_of(row, dispatchers_);
            row.measured_us = measured_us_of(table, groups_[t], measured, dispatchers_);
        } catch (const Infeasible&) {
            return;
        } catch (const InputError&) {
            return;
        }
        rows_.push_back(std::move(row));
    }
    double microseconds_of(const Row& row, const std::vector<Dispatcher>& dispatchers) const {
        double seconds = 0;
        for (const ExpertCall& call : row.calls)
            seconds +=
                expert_cost(tables_[row.table].topology, groups_[row.table], call, dispatchers[row.dispatcher]).seconds;
        return seconds * 1e6;
    }
    std::vector<Dispatcher> with(const std::vector<double>& values) const {
        std::vector<Dispatcher> changed = dispatchers_;
        for (std::size_t i = 0; i < constants_.size(); ++i)
            constants_[i].set(changed[constants_[i].dispatcher], values[i]);
        return changed;
    }
    std::vector<double> fitted(const std::vector<std::size_t>& left_out) {
        FitProblem problem;
        for (const Constant& constant : constants_) {
            problem.start.push_back(constant.value);
            problem.bounds.push_back({constant.least, constant.most});
        }
        std::vector<bool> out(rows_.size());
        for (const std::size_t r : left_out) out[r] = true;
        std::vector<double> last(rows_.size());
        problem.residuals = [&](const std::vector<double>& values, std::optional<std::size_t> changed) {
            const std::vector<Dispatcher> dispatchers = with(values);
            std::vector<double> residuals = last;
            for (std::size_t r = 0; r < rows_.size(); ++r)
                if (!out[r] && (!changed || constants_[*changed].dispatcher == rows_[r].dispatcher))
                    residuals[r] =
                        rows_[r].weight * std::log(microseconds_of(rows_[r], dispatchers) / rows_[r].measured_us);
            if (!changed) last = residuals;
            for (std::size_t i = 0; i < constants_.size(); ++i)
                residuals.push_back(kPull * std::log(values[i] / constants_[i].value));
            return residuals;
        };
        return fit(problem, kRounds).values;
    }
    std::vector<double> errors(const std::vector<double>& values) const {
        const std::vector<Dispatcher> dispatchers = with(values);
        std::vector<double> errors;
        for (const Row& row : rows_) errors.push_back((microseconds_of(row, dispatchers) / row.measured_us - 1) * 100);
        return errors;
    }

    const std::vector<ExpertTable>& tables_;
    const std::vector<Dispatcher>& dispatchers_;
    std::vector<Constant> constants_;
    std::vector<Group> groups_;
    std::vector<Row> rows_;
};

}  // namespace

ExpertsLeftOut leave_out_experts(const std::vector<ExpertTable>& tables, const std::vector<Dispatcher>& dispatchers,
                                 LeaveOut what) {
    return LeavingOut(tables, dispatchers).run(what);
}

}  // namespace fmsim
