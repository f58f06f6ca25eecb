// Collects activities in any order of dependency and lays them out in compressed rows.
#include "fmsim/engine.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace fmsim {
namespace {

[[noreturn, gnu::noinline]] void refuse(const char* what) {
    throw std::invalid_argument(fmt::format("engine: {}", what));
}
inline void require(bool promise, const char* what) {
    if (!promise) [[unlikely]]
        refuse(what);
}
// Rows are short: one by one is quicker than moving blocks.
template <class T>
void append(Rows<T>& rows, std::span<const T> row) {
    for (const T& one : row) rows.rows.push_back(one);
    rows.first.push_back(static_cast<std::uint32_t>(rows.rows.size()));
}
bool finite_amount(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

ResourceId SystemBuilder::add_resource(double capacity) {
    require(finite_amount(capacity), "a capacity must be finite and not negative");
    const auto id = static_cast<std::uint32_t>(system_.resources());
    system_.capacity.rows.push_back(capacity);
    last_add_.rows.push_back(0);
    return {id};
}

ActivityId SystemBuilder::add(const Activity& activity) {
    ++adds_;
    require(finite_amount(activity.work), "work must be finite and not negative");
    require(activity.delay.fs >= 0, "a delay must not be negative");
    require(std::isfinite(activity.share) && activity.share > 0, "a share must be finite and above 0");
    require(activity.rate_limit >= 0, "a rate limit must not be negative");
    require(activity.work == 0 || !activity.uses.empty() || std::isfinite(activity.rate_limit),
            "work needs a use or a rate limit");
    for (const auto& [resource, weight] : activity.uses) {
        require(resource.value < system_.resources(), "a use names an unknown resource");
        require(std::isfinite(weight) && weight > 0, "a weight must be finite and above 0");
        require(last_add_[resource] != adds_, "an activity names a resource twice");
        last_add_[resource] = adds_;
    }
    for (const Hold& hold : activity.holds) {
        require(hold.resource.value < system_.resources(), "a hold names an unknown resource");
        require(finite_amount(hold.amount), "a hold must be finite and not negative");
    }
    const auto id = static_cast<std::uint32_t>(system_.activities());
    system_.delay.push_back(activity.delay);
    system_.work.rows.push_back(activity.work);
    system_.share.push_back(activity.share);
    system_.rate_limit.push_back(activity.rate_limit);
    system_.predecessors.rows.push_back(0);
    append(system_.uses, activity.uses);
    append(system_.holds, activity.holds);
    return {id};
}

void SystemBuilder::order(ActivityId before, ActivityId after, SimTime lag) {
    require(before.value < system_.activities() && after.value < system_.activities(),
            "an order names an unknown activity");
    require(lag.fs >= 0, "a lag must not be negative");
    ++system_.predecessors[after];
    if (lag.fs != 0 && lags_.empty()) lags_.resize(orders_.size());
    orders_.push_back({before, after});
    if (!lags_.empty() || lag.fs != 0) lags_.push_back(lag);
}

void SystemBuilder::reserve(std::size_t activities, std::size_t uses, std::size_t orders) {
    system_.work.rows.reserve(activities);
    system_.predecessors.rows.reserve(activities);
    system_.uses.first.reserve(activities + 1);
    system_.uses.rows.reserve(uses);
    system_.holds.first.reserve(activities + 1);
    orders_.reserve(orders);
}

System SystemBuilder::build() && {
    // Counting sort by `before`: row lengths, then where each row begins, then fill, which keeps the order
    // in which the successors of one activity were given.
    auto& [first, after, lag] = system_.successors;
    const std::size_t n = system_.activities();
    first.assign(n + 2, 0);
    for (const Order& order : orders_) ++first[order.before.value + 2];
    for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
    after.resize(orders_.size());
    lag.resize(lags_.size());
    for (std::size_t i = 0; i < orders_.size(); ++i) {
        const std::uint32_t place = first[orders_[i].before.value + 1]++;  // which at last is where the next row begins
        after[place] = orders_[i].after;
        if (!lag.empty()) lag[place] = lags_[i];
    }
    first.pop_back();
    orders_ = {};
    return std::move(system_);
}

}  // namespace fmsim
