// Fits the constants of topologies/kernels/ to the measured rows of tests/data/kernels.json, and says how well.
//
// Weighted least squares of log(predicted / measured) over the logarithms of the constants (Levenberg-Marquardt with
// numeric derivatives; Cauchy weights, so that one row that contradicts the others does not pull). Each constant is
// held near its first value by a weak prior, which is all that speaks where a source is left out. The spread of a
// constant is the range of its values when each source is left out in turn.
//
//   build/release/bench/kernels/kernels_fit
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "kernels/measured.hpp"

namespace {

using namespace fmsim;
using test::FactsByGpu;
using test::MeasuredRow;

struct Constant {
    std::string name;
    double first;
    std::function<void(FactsByGpu&, double)> set;
};

constexpr std::uint32_t kAmpere = 80, kHopper = 90;
constexpr std::uint32_t kBlackwell[] = {100, 103};
constexpr double kPrior = 0.15;    // error of a row that weighs as much as a constant off by a factor of e
constexpr double kOutlier = 0.08;  // from where on a row's error counts less and less

std::vector<Constant> constants() {
    std::vector<Constant> all;
    const auto on = [](FactsByGpu& facts, std::uint32_t capability, auto change) {
        change(facts.at(capability));
        if (capability != kBlackwell[0]) return;
        change(facts.at(kBlackwell[1]));
    };
    const auto add = [&](const std::string& name, double first, const std::vector<std::uint32_t>& on_gpus,
                         auto change) {
        all.push_back({name, first, [=](FactsByGpu& facts, double value) {
                           for (const std::uint32_t gpu : on_gpus)
                               on(facts, gpu, [&](KernelFacts& f) { change(f, value); });
                       }});
    };
    const auto span = [](double us) { return from_seconds(us * 1e-6); };
    const auto sustained = [](const char* type) {
        return [=](KernelFacts& f, double v) { f.gemm.sustained[type] = v; };
    };
    add("ampere sustained bf16", .8, {kAmpere}, sustained("bf16"));
    add("hopper sustained bf16", .8, {kHopper}, sustained("bf16"));
    add("hopper sustained fp8", .75, {kHopper}, sustained("fp8"));
    add("blackwell sustained bf16", .75, {kBlackwell[0]}, sustained("bf16"));
    add("blackwell sustained fp8", .75, {kBlackwell[0]}, sustained("fp8"));
    const auto ramp = [=](KernelFacts& f, double v) { f.ramp = span(v); };
    add("ampere ramp us", 1.5, {kAmpere}, ramp);
    add("hopper, blackwell ramp us", 1.5, {kHopper, kBlackwell[0]}, ramp);
    const auto feed = [](KernelFacts& f, double v) { f.gemm.feed = {v * 1e9}; };
    add("ampere feed GB/s", 40, {kAmpere}, feed);
    add("hopper feed GB/s", 75, {kHopper}, feed);
    add("launch gap us", 2, {kAmpere, kHopper, kBlackwell[0]},
        [=](KernelFacts& f, double v) { f.launch.gap = span(v); });
    const auto attention = [&](const std::string& words, std::uint32_t gpu, const char* name, double matmul,
                               double pairs) {
        add(words + " matmul", matmul, {gpu}, [=](KernelFacts& f, double v) { f.attention.at(name).matmul = v; });
        add(words + " Gpairs/s", pairs, {gpu},
            [=](KernelFacts& f, double v) { f.attention.at(name).pairs_a_second = v * 1e9; });
        add(words + " ramp us", 2, {gpu}, [=](KernelFacts& f, double v) { f.attention.at(name).ramp = span(v); });
    };
    attention("ampere FA2", kAmpere, "flash_attention_2", .8, 30);
    attention("hopper FA2", kHopper, "flash_attention_2", .4, 60);
    attention("hopper FA3", kHopper, "flash_attention_3", .8, 30);
    attention("hopper cuDNN", kHopper, "cudnn", .6, 100);
    add("ampere, hopper attention backward", .9, {kAmpere, kHopper}, [](KernelFacts& f, double v) {
        for (auto& [name, facts] : f.attention) facts.backward = v;
    });
    add("ampere read share", .9, {kAmpere}, [](KernelFacts& f, double v) { f.read_share = v; });
    add("ampere write share", .75, {kAmpere}, [](KernelFacts& f, double v) { f.write_share = v; });
    add("hopper read share", .9, {kHopper}, [](KernelFacts& f, double v) { f.read_share = v; });
    add("hopper write share", .75, {kHopper}, [](KernelFacts& f, double v) { f.write_share = v; });
    // One figure cannot tell reads from writes: their ratio is Hopper's.
    all.push_back({"blackwell read share", .95, [](FactsByGpu& facts, double value) {
                       const KernelFacts& hopper = facts.at(kHopper);
                       for (const std::uint32_t gpu : kBlackwell) {
                           facts.at(gpu).read_share = value;
                           facts.at(gpu).write_share = value * hopper.write_share / hopper.read_share;
                       }
                   }});
    return all;
}

class Fit {
public:
    explicit Fit(std::vector<MeasuredRow> rows) : rows_(std::move(rows)) {}

    FactsByGpu facts(const Eigen::VectorXd& logs) const {
        FactsByGpu facts = first_;
        for (std::size_t i = 0; i < constants_.size(); ++i)
            constants_[i].set(facts, constants_[i].first * std::exp(logs[static_cast<Eigen::Index>(i)]));
        return facts;
    }

    Eigen::VectorXd solve() const {
        Eigen::VectorXd at = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(constants_.size()));
        double damping = 1e-2;
        for (int step = 0; step < 60; ++step) {
            const Eigen::VectorXd errors = residuals(at);
            const Eigen::MatrixXd slopes = jacobian(at, errors);
            const Eigen::VectorXd weights =
                errors.unaryExpr([](double e) { return 1 / (1 + e * e / (kOutlier * kOutlier)); });
            Eigen::MatrixXd normal = slopes.transpose() * weights.asDiagonal() * slopes;
            const Eigen::VectorXd pull = slopes.transpose() * weights.asDiagonal() * errors + kPrior * kPrior * at;
            normal.diagonal().array() += kPrior * kPrior + damping;
            const Eigen::VectorXd next = at - normal.ldlt().solve(pull);
            if (cost(next) < cost(at)) {
                at = next;
                damping = std::max(damping / 3, 1e-6);
            } else {
                damping *= 4;
            }
        }
        return at;
    }

    const std::vector<Constant>& names() const { return constants_; }

private:
    Eigen::VectorXd residuals(const Eigen::VectorXd& logs) const {
        const FactsByGpu facts = this->facts(logs);
        Eigen::VectorXd errors(static_cast<Eigen::Index>(rows_.size()));
        for (std::size_t i = 0; i < rows_.size(); ++i)
            errors[static_cast<Eigen::Index>(i)] = std::log1p(test::error_of(rows_[i], facts));
        return errors;
    }

    Eigen::MatrixXd jacobian(const Eigen::VectorXd& at, const Eigen::VectorXd& errors) const {
        constexpr double kStep = 1e-3;
        Eigen::MatrixXd slopes(errors.size(), at.size());
        for (Eigen::Index i = 0; i < at.size(); ++i) {
            Eigen::VectorXd moved = at;
            moved[i] += kStep;
            slopes.col(i) = (residuals(moved) - errors) / kStep;
        }
        return slopes;
    }

    double cost(const Eigen::VectorXd& at) const {
        const Eigen::VectorXd errors = residuals(at);
        return kOutlier * kOutlier * (1 + (errors / kOutlier).array().square()).log().sum() +
               kPrior * kPrior * at.squaredNorm();
    }

    std::vector<MeasuredRow> rows_;
    std::vector<Constant> constants_ = constants();
    FactsByGpu first_ = test::shipped_facts();
};

void print_rows(const std::vector<MeasuredRow>& rows, const FactsByGpu& facts) {
    for (const MeasuredRow& row : rows)
        fmt::print("{:+7.1f} %  {}, {}, {}, {}\n", 100 * test::error_of(row, facts), row.table, row.gpu, row.kind,
                   row.what);
}

void print_constants(const std::vector<MeasuredRow>& rows, const Fit& fit, const Eigen::VectorXd& best) {
    std::set<std::string> sources;
    for (const MeasuredRow& row : rows) sources.insert(row.source);
    Eigen::VectorXd least = best, most = best;
    for (const std::string& source : sources) {
        std::vector<MeasuredRow> others, own;
        for (const MeasuredRow& row : rows) (row.source == source ? own : others).push_back(row);
        const Fit without(others);
        const Eigen::VectorXd logs = without.solve();
        least = least.cwiseMin(logs);
        most = most.cwiseMax(logs);
        std::map<std::string, std::vector<double>> errors;
        for (const MeasuredRow& row : own) errors[row.table].push_back(test::error_of(row, without.facts(logs)));
        for (const auto& [table, each] : errors)
            fmt::print("without {}: {} {} rows, median {:.1f} %, 90th {:.1f} %\n", source, each.size(), table,
                       100 * test::quantile(each, .5), 100 * test::quantile(each, .9));
    }
    for (std::size_t i = 0; i < fit.names().size(); ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        const double first = fit.names()[i].first;
        fmt::print("{:36} {:9.4g}  ({:.4g} to {:.4g})\n", fit.names()[i].name, first * std::exp(best[at]),
                   first * std::exp(least[at]), first * std::exp(most[at]));
    }
}

}  // namespace

// Without a word: the fit. With "shipped": the errors of the constants as they stand in topologies/kernels/.
int main(int words, char**) {
    // What a training step's trace and the claims of best cases say is not fitted to: they stay checks.
    std::vector<MeasuredRow> all = test::measured_rows(), rows;
    for (const MeasuredRow& row : all)
        if (row.table != "gemm_in_training" && row.table != "attention_peak_claims" && row.kind != "unfused PyTorch")
            rows.push_back(row);
    if (words > 1) {
        print_rows(all, test::shipped_facts());
        for (const std::string& line : test::summary_lines(all, test::shipped_facts())) fmt::print("{}\n", line);
        return 0;
    }
    const Fit fit(rows);
    const Eigen::VectorXd best = fit.solve();
    print_rows(all, fit.facts(best));
    print_constants(rows, fit, best);
}
