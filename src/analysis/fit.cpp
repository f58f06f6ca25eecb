// Robust least squares for the catalogue's constants: Gauss-Newton on their logarithms, with Huber's weights.
//
//   minimise sum over rows of rho(r_i),   rho(r) = r^2 / 2 up to kKnee, then kKnee (|r| - kKnee / 2)
//
// A round: J by forward differences of 2 %; (J'WJ + lambda D) step = -J'W r with W = min(1, kKnee / |r|) and D the
// diagonal of J'WJ; the step is clipped to the bounds and taken if the cost falls, else lambda grows. A constant that
// no row depends on stays where it is. Spread: the square root of the diagonal of (J'WJ)^-1 times the mean square.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <Eigen/Dense>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

constexpr double kKnee = 0.1;  // 10 % off
constexpr double kDifference = 0.02;
constexpr double kLongestStep = 0.5;  // of a logarithm
constexpr double kNoInfluence = 1e-9;
constexpr double kEnough = 1e-4;  // relative gain of a round
constexpr double kLightDamping = 1e-3;

using Vector = Eigen::VectorXd;

double cost_of(const Vector& r) {
    double sum = 0;
    for (const double one : r) {
        const double size = std::abs(one);
        sum += size <= kKnee ? size * size / 2 : kKnee * (size - kKnee / 2);
    }
    return sum / static_cast<double>(std::max<Eigen::Index>(1, r.size()));
}

Vector as_vector(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> exponentials(const Vector& logs) {
    std::vector<double> values;
    for (const double one : logs) values.push_back(std::exp(one));
    return values;
}

class Fitter {
public:
    explicit Fitter(const FitProblem& problem)
        : problem_(problem), at_(static_cast<Eigen::Index>(problem.start.size())) {
        for (std::size_t i = 0; i < problem.start.size(); ++i)
            at_[static_cast<Eigen::Index>(i)] = std::log(problem.start[i]);
        residuals_ = as_vector(problem.residuals(exponentials(at_), {}));
    }

    Fit run(int most_rounds) {
        Fit result{.cost_before = cost_of(residuals_)};
        while (result.rounds < most_rounds) {
            ++result.rounds;
            differentiate();
            if (!improve()) break;
        }
        differentiate();
        result.values = exponentials(at_);
        result.spread_percent = spread();
        for (std::size_t group = 0; group < group_count(); ++group) result.without.push_back(without(group));
        result.cost_after = cost_of(residuals_);
        return result;
    }

private:
    void differentiate() {
        jacobian_.resize(residuals_.size(), at_.size());
        for (Eigen::Index j = 0; j < at_.size(); ++j) {
            Vector moved = at_;
            moved[j] += kDifference;
            const Vector there = as_vector(problem_.residuals(exponentials(moved), static_cast<std::size_t>(j)));
            jacobian_.col(j) = (there - residuals_) / kDifference;
        }
        weights_ = residuals_.unaryExpr([](double r) { return std::min(1.0, kKnee / std::max(std::abs(r), 1e-12)); });
        normal_ = jacobian_.transpose() * weights_.asDiagonal() * jacobian_;
    }

    bool has_influence(Eigen::Index j) const { return normal_(j, j) > kNoInfluence; }

    std::size_t group_count() const {
        std::size_t count = 0;
        for (const std::size_t group : problem_.groups) count = std::max(count, group + 1);
        return count;
    }

    // The step that the other rows would take from here.
    std::vector<double> without(std::size_t group) const {
        Vector weights = weights_;
        for (std::size_t i = 0; i < problem_.groups.size(); ++i)
            if (problem_.groups[i] == group) weights[static_cast<Eigen::Index>(i)] = 0;
        const Eigen::MatrixXd normal = jacobian_.transpose() * weights.asDiagonal() * jacobian_;
        return exponentials(clipped(at_ + step(normal, weights, kLightDamping)));
    }

    Vector step(double lambda) const { return step(normal_, weights_, lambda); }
    Vector step(const Eigen::MatrixXd& normal, const Vector& weights, double lambda) const {
        Eigen::MatrixXd damped = normal;
        Vector gradient = jacobian_.transpose() * weights.asDiagonal() * residuals_;
        for (Eigen::Index j = 0; j < at_.size(); ++j) {
            if (normal(j, j) > kNoInfluence) {
                damped(j, j) *= 1 + lambda;
                continue;
            }
            damped.row(j).setZero();
            damped.col(j).setZero();
            damped(j, j) = 1;
            gradient[j] = 0;
        }
        return -damped.ldlt().solve(gradient);
    }

    Vector clipped(const Vector& to) const {
        Vector inside = to;
        for (Eigen::Index j = 0; j < to.size(); ++j) {
            const FitBounds& bounds = problem_.bounds[static_cast<std::size_t>(j)];
            const double moved = std::clamp(to[j], at_[j] - kLongestStep, at_[j] + kLongestStep);
            inside[j] = std::clamp(moved, std::log(bounds.least), std::log(bounds.most));
        }
        return inside;
    }

    bool improve() {
        const double cost = cost_of(residuals_);
        for (int attempt = 0; attempt < 6; ++attempt, lambda_ *= 8) {
            const Vector to = clipped(at_ + step(lambda_));
            const Vector there = as_vector(problem_.residuals(exponentials(to), {}));
            if (!(cost_of(there) < cost)) continue;
            at_ = to;
            residuals_ = there;
            lambda_ = std::max(1e-4, lambda_ / 16);
            return cost_of(there) < cost * (1 - kEnough);
        }
        problem_.residuals(exponentials(at_), {});  // what the next derivatives start from
        return false;
    }

    std::vector<double> spread() const {
        Eigen::MatrixXd normal = normal_;
        double squares = 0;
        for (Eigen::Index i = 0; i < residuals_.size(); ++i) squares += weights_[i] * residuals_[i] * residuals_[i];
        const auto freedom = static_cast<double>(std::max<Eigen::Index>(1, residuals_.size() - at_.size()));
        for (Eigen::Index j = 0; j < at_.size(); ++j)
            if (!has_influence(j)) normal(j, j) = 1;
        const Eigen::MatrixXd inverse = normal.ldlt().solve(Eigen::MatrixXd::Identity(normal.rows(), normal.cols()));
        std::vector<double> percents;
        for (Eigen::Index j = 0; j < at_.size(); ++j)
            percents.push_back(has_influence(j) ? 100 * std::sqrt(std::max(0.0, inverse(j, j)) * squares / freedom)
                                                : 0);
        return percents;
    }

    const FitProblem& problem_;
    Vector at_;  // logarithms
    Vector residuals_, weights_;
    Eigen::MatrixXd jacobian_, normal_;
    double lambda_ = 1e-2;
};

}  // namespace

Fit fit(const FitProblem& problem, int most_rounds) { return Fitter(problem).run(most_rounds); }

std::vector<double> fit_weights(const std::vector<ValidatedRow>& rows) {
    const auto group = [](const ValidatedRow& row) {
        return std::tuple(std::string_view(row.machine), std::string_view(row.collective), row.size >= kLargeBand);
    };
    std::map<decltype(group(rows.front())), double> counts;
    for (const ValidatedRow& row : rows)
        if (row.scored) ++counts[group(row)];
    std::vector<double> weights;
    for (const ValidatedRow& row : rows) weights.push_back(row.scored ? 1 / counts[group(row)] : 0);
    return weights;
}

}  // namespace fmsim
