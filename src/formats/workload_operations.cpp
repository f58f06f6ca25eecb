#include "workload_operations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::array kActions{"collective", "moe_dispatch", "moe_combine", "compute",
                              "delay",      "send",         "receive",     "together"};
constexpr std::array kOfCollectives{"size", "group", "root", "pair_sizes", "algorithm", "protocol"};
constexpr std::size_t kLongestRepeated = 190;  // so that "name #1000000" is a name too
constexpr std::size_t kMostSuggested = 1000;   // among more names the nearest is not looked for

Peer peer_at(const Spot& spot) {
    if (spot.json().is_number()) return {.relative = false, .rank = spot.count()};
    const std::string text = spot.text();  // "+8": the schema lets nothing else through
    std::int64_t by{};
    std::from_chars(text.data() + 1, text.data() + text.size(), by);
    return {.relative = true, .rank = text.front() == '-' ? -by : by};
}

Send send_at(const Spot& spot) { return {peer_at(spot["to"]), spot["size"].bytes()}; }
Receive receive_at(const Spot& spot) { return {peer_at(spot["from"]), spot["size"].bytes()}; }

Transfers together_at(const Spot& list) {
    Transfers transfers;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Spot one = list[i];
        if (one.has("send") == one.has("receive"))
            one.refuse("expected either send or receive", "");
        else if (one.has("send"))
            transfers.sends.push_back(send_at(one["send"]));
        else
            transfers.receives.push_back(receive_at(one["receive"]));
    }
    return transfers;
}

TokenRouting routing_at(const Spot& spot) {
    for (const TokenRouting routing : kTokenRoutings)
        if (name(routing) == spot.text()) return routing;
    return {};  // the schema lets no other word through
}

ExpertCall experts_at(const Spot& spot, bool combine) {
    ExpertCall call{.combine = combine,
                    .tokens = spot["tokens"].count(),
                    .hidden = spot["hidden"].count(),
                    .top_k = spot["top_k"].count(),
                    .experts = spot["experts"].count(),
                    .dtype = spot.has("dtype") ? spot["dtype"].name() : "bf16",
                    .dispatcher = spot["dispatcher"].name()};
    if (spot.has("limit")) call.limit = spot["limit"].count();
    if (spot.has("sms")) call.sms = spot["sms"].count();
    if (spot.has("routing")) call.routing = routing_at(spot["routing"]);
    const bool skewed = call.routing == TokenRouting::skewed;
    for (const char* key : {"skew", "seed"})
        if (spot.has(key) && !skewed)
            spot[key].refuse(fmt::format("expected no {} beside other than skewed routing", key));
    if (skewed) call.skew = spot.has("skew") ? spot["skew"].number() : 1;
    if (spot.has("seed")) call.seed = spot["seed"].count();
    if (size_of(call) > kLargestSize)
        spot.refuse(fmt::format("expected tokens of at most {} together", to_text(kLargestSize)),
                    to_text(size_of(call)));
    return call;
}

Compute compute_at(const Spot& spot) {
    Compute compute;
    if (spot.has("duration")) compute.duration = spot["duration"].span();
    if (spot.has("flops")) compute.flops = spot["flops"].flops();
    if (spot.has("bytes")) compute.bytes = spot["bytes"].bytes();
    if (spot.has("dtype")) compute.dtype = spot["dtype"].name();
    return compute;
}

// The size of an all-to-all is what a rank sends: of unequal ones the most.
Bytes largest_row(const std::vector<std::vector<std::int64_t>>& pairs, const Spot& spot) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        std::int64_t sum = 0;
        for (const std::int64_t size : pairs[i]) sum = std::min(sum + size, kLargestSize.count + 1);
        if (sum > kLargestSize.count)
            spot[i].refuse(fmt::format("expected sizes of at most {} together", to_text(kLargestSize)));
        most = std::max(most, sum);
    }
    return Bytes{most};
}

class Reader {
public:
    Reader(const std::vector<GroupFamily>& groups, Allowance& left) : left_(left) {
        for (std::uint32_t i = 0; i < groups.size(); ++i) groups_.emplace(groups[i].name, i);
    }

    std::vector<Operation> read(const Spot& list) {
        for (std::size_t i = 0; i < list.size(); ++i) add(list[i], i);
        for (const Waiting& waiting : waiting_) add_after(list[waiting.written]["after"], waiting);
        return std::move(operations_);
    }

private:
    // Whose `after` is read once all names are known.
    struct Waiting {
        std::size_t written, first, end;  // in the file; in the program
    };

    void add(const Spot& spot, std::size_t written) {
        const std::string name = spot.has("name") ? spot["name"].name() : fmt::format("operation {}", written);
        const std::size_t times = spot.has("repeat") ? spot["repeat"].count() : 1;
        Operation operation{.name = name,
                            .stream = spot.has("stream") ? spot["stream"].name() : "",
                            .start = spot.has("start") ? spot["start"].span() : SimTime{},
                            .action = action_at(spot),
                            .place = spot.pointer()};
        const std::size_t weight =
            times * (parts_of(operation.action) + (spot.has("after") ? spot["after"].size() : 0));
        if (!left_.take(weight, spot)) return;
        if (times > 1 && name.size() > kLongestRepeated)
            spot["repeat"].refuse(fmt::format("expected a name of at most {} bytes to repeat", kLongestRepeated));
        const std::size_t first = operations_.size();
        for (std::size_t i = 1; i < times; ++i) {
            operations_.push_back(operation);
            operations_.back().name = fmt::format("{} #{}", name, i);
            numbers_.emplace(operations_.back().name, operations_.size() - 1);
        }
        if (times > 1) operation.name = fmt::format("{} #{}", name, times);
        numbers_.emplace(operation.name, operations_.size());
        numbers_.emplace(name, operations_.size());  // of repeated ones the last
        operations_.push_back(std::move(operation));
        if (spot.has("after")) waiting_.push_back({written, first, operations_.size()});
    }

    // How much of the file's allowance each repetition takes.
    static std::size_t parts_of(const Action& action) {
        if (const auto* const transfers = std::get_if<Transfers>(&action))
            return transfers->sends.size() + transfers->receives.size();
        if (const auto* const call = std::get_if<CollectiveCall>(&action))
            return 1 + call->pair_bytes.size() * call->pair_bytes.size();
        return 1;
    }

    void add_after(const Spot& names, const Waiting& waiting) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto found = numbers_.find(names[i].text());
            if (found == numbers_.end()) {
                refuse_unknown(names[i], "an operation of the same program", numbers_);
                continue;
            }
            for (std::size_t each = waiting.first; each < waiting.end; ++each)
                operations_[each].after.push_back(static_cast<std::uint32_t>(found->second));
        }
    }

    template <class Numbers>
    static void refuse_unknown(const Spot& spot, const char* what, const Numbers& known) {
        std::vector<std::string> names;
        if (known.size() <= kMostSuggested)
            for (const auto& [name, number] : known) names.push_back(name);
        const auto meant = nearest(spot.text(), names);
        spot.refuse(meant ? fmt::format("expected {}; did you mean \"{}\"?", what, printable(*meant))
                          : fmt::format("expected {}", what));
    }

    Action action_at(const Spot& spot) {
        std::string found;
        std::size_t actions = 0;
        for (const char* action : kActions)
            if (spot.has(action)) found += (actions++ == 0 ? "" : ", ") + std::string(action);
        if (actions != 1) {
            spot.refuse(fmt::format("expected one of {}", fmt::join(kActions, ", ")), actions == 0 ? "none" : found);
            return Delay{};
        }
        const bool experts = found == "moe_dispatch" || found == "moe_combine";
        if (found != "collective")
            for (const std::string_view key : kOfCollectives)
                if (spot.has(std::string(key)) && !(experts && key == "group"))
                    spot[std::string(key)].refuse(fmt::format("expected no {} beside {}", key, found));
        if (found == "collective") return collective_at(spot);
        if (experts)
            return call_of(experts_at(spot[found], found == "moe_combine"),
                           spot.has("group") ? group_at(spot["group"]) : 0);
        if (found == "compute") return compute_at(spot[found]);
        if (found == "delay") return Delay{spot[found].span()};
        if (found == "send") return Transfers{.sends = {send_at(spot[found])}, .receives = {}};
        if (found == "receive") return Transfers{.sends = {}, .receives = {receive_at(spot[found])}};
        return together_at(spot[found]);
    }

    CollectiveCall collective_at(const Spot& spot) {
        CollectiveCall call{.collective = parse_collective(spot["collective"].text())};
        const bool wants_size = call.collective != Collective::barrier && !spot.has("pair_sizes");
        if (wants_size && !spot.has("size"))
            spot.refuse("expected a key \"size\": a size with a unit, such as \"64 MiB\"", "none");
        if (!wants_size && spot.has("size"))
            spot["size"].refuse(spot.has("pair_sizes") ? "expected either size or pair_sizes"
                                                       : "expected no size of a barrier");
        if (spot.has("size")) call.size = spot["size"].bytes();
        if (spot.has("group")) call.group = group_at(spot["group"]);
        if (spot.has("root")) call.root = spot["root"].count();
        if (spot.has("algorithm")) call.algorithm = spot["algorithm"].name();
        if (spot.has("protocol")) call.protocol = spot["protocol"].name();
        if (!spot.has("pair_sizes")) return call;
        const Spot pairs = spot["pair_sizes"];
        for (std::size_t from = 0; from < pairs.size(); ++from) {
            std::vector<std::int64_t>& row = call.pair_bytes.emplace_back();
            for (std::size_t to = 0; to < pairs[from].size(); ++to) row.push_back(pairs[from][to].bytes().count);
        }
        call.size = largest_row(call.pair_bytes, pairs);
        return call;
    }

    std::uint32_t group_at(const Spot& spot) {
        const auto found = groups_.find(spot.text());
        if (found != groups_.end()) return found->second;
        refuse_unknown(spot, "a group of the job", groups_);
        return 0;
    }

    std::map<std::string, std::uint32_t> groups_;
    std::map<std::string, std::size_t> numbers_;
    Allowance& left_;
    std::vector<Operation> operations_;
    std::vector<Waiting> waiting_;
};

}  // namespace

std::vector<Operation> operations_at(const Spot& list, const std::vector<GroupFamily>& groups, Allowance& left) {
    return Reader(groups, left).read(list);
}

}  // namespace fmsim
