// Tokens to experts and back: how many bytes go where, by which dispatcher, and how long it takes.
//
//   const Dispatcher& deepep = find(dispatchers, "deepep-normal");
//   const ExpertCost cost = expert_cost(net, group, call, deepep);   // alone on the machine, in a few steps
//   cost.seconds; cost.network_bytes;
//
// A dispatcher is a row of the catalogue (topologies/moe/): which copies of a token it spares, what a call costs it, on
// which networks it runs and on how many ranks. docs/models/moe.md says what the model leaves out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

// Of a token with several experts in one place, how many copies go there.
enum class Copies : std::uint8_t {
    each_expert,  // one for each expert
    each_rank,    // one for each rank that has any of them
    each_domain,  // over the network one for each domain, to the GPU of the sender's number, and on over NVLink
};
inline constexpr std::array kCopies{Copies::each_expert, Copies::each_rank, Copies::each_domain};
std::string_view name(Copies copies);  // "each_expert"

template <class T>
struct BothWays {
    T dispatch{}, combine{};
    const T& of(bool back) const { return back ? combine : dispatch; }
    T& of(bool back) { return back ? combine : dispatch; }
};

// A dispatcher on one kind of network. Costs of a NIC are shared by those of a GPU.
struct DispatcherNetwork {
    std::uint32_t most_ranks{};      // 0: as many as there are
    BothWays<SimTime> latency;       // beyond the launch
    BothWays<SimTime> each_domain;   // for each domain beside the own one
    BothWays<SimTime> each_peer;     // of a NIC, for each rank beyond the domain: to close its messages
    BothWays<SimTime> each_message;  // of a NIC, to post one
    BothWays<double> share;          // of the NICs' line rate
    BothWays<double> staged_share;   // the same, for tokens of all domains, also the own; 0: those do not count
};

struct Dispatcher {
    std::string name;
    std::string about;
    bool all_to_all{};  // NCCL's: all below but `networks` has no meaning
    Copies copies{};
    std::map<std::string, DispatcherNetwork> networks;  // by kind of NIC ("efa-v3"), else by fabric ("EFA")
    std::uint32_t most_domain_gpus{};                   // 0: any
    std::uint32_t sms{};                                // its kernels take by themselves
    BothWays<SimTime> launch;                           // until the first byte, and from the last
    BothWays<SimTime> each_rank;                        // of the own domain, but oneself
    BothWays<double> nvlink_share;                      // of the published rate that bytes to other GPUs reach
    BothWays<BytesPerSecond> each_pair;                 // of bytes between two GPUs of a domain; 0: no limit
    BothWays<BytesPerSecond> each_sm;                   // of copies, those that stay included; 0: no limit
    double window{};  // tokens of a rank between the two legs; one leg works on these when the other has ended
    std::vector<std::string> tables_words;  // that published tables call it by
    std::uint32_t tables_most_tokens{};     // 0: any; of several with the same words the one with the fewest above
};
// Throws InputError, with the nearest name, when there is none of that name.
const Dispatcher& find(const std::vector<Dispatcher>& dispatchers, std::string_view name);

// How many tokens of one rank have an expert in a place: expected values of even routing, counts of a skewed one.
class TokenCounts {
public:
    // Throws InputError where routing makes no sense on the group: experts that ranks do not share evenly, more top_k
    // than experts, a limit on domains of different sizes; LimitReached for more draws than anyone would wait for.
    TokenCounts(const Group& group, const ExpertCall& call);
    double to_experts(std::uint32_t from, std::uint32_t to) const;  // token and expert pairs
    double to_rank(std::uint32_t from, std::uint32_t to) const;     // tokens
    double to_part(std::uint32_t from, std::uint32_t part) const;   // of the group, tokens

private:
    void expect(const Group& group, const ExpertCall& call);
    void spread(const Group& group, const ExpertCall& call);
    void draw(const Group& group, const ExpertCall& call);

    std::uint32_t ranks_{}, parts_{};
    bool drawn_{};
    double each_expert_{}, each_rank_{};
    std::vector<double> each_part_;
    std::vector<std::uint32_t> experts_, rank_, part_;  // drawn: [from][to]
};

// Bytes of a call that go over the network, and between GPUs of a domain.
struct TokenTraffic {
    std::vector<Message> network, nvlink;
    double copied{};  // bytes that the busiest rank's SMs copy, those that stay included
    double staged{};  // of the busiest rank, for all domains, the own included
    double posted{};  // messages of the busiest rank's NICs
};
TokenTraffic traffic_of(const Group& group, const ExpertCall& call, Copies copies);
// Of the busiest rank, out or in.
double busiest_bytes(const std::vector<Message>& messages, const Group& group);

// Why a dispatcher cannot run a call on a group; empty when it can.
std::string refusal(const Topology& topology, const Group& group, const ExpertCall& call, const Dispatcher& dispatcher);

// Throws Infeasible with that reason. Not for NCCL's all-to-all, which room choice plans.
Schedule plan_experts(const Topology& topology, const Group& group, const ExpertCall& call,
                      const Dispatcher& dispatcher);
// What a call of `all_to_all` is to NCCL: unequal parts where the routing is.
CollectiveCall as_all_to_all(const Group& group, const ExpertCall& call);

struct ExpertCost {
    double seconds{};
    double network_bytes{};  // of the busiest GPU, out or in
    double nvlink_bytes{};
    std::uint32_t sms{};
};
// Alone on a healthy machine whose network above the NICs never holds anything back. Throws as plan_experts does, also
// for NCCL's all-to-all.
ExpertCost expert_cost(const Topology& topology, const Group& group, const ExpertCall& call,
                       const Dispatcher& dispatcher);

}  // namespace fmsim
