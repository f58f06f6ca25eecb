// Calls of a mixture of experts: what a token weighs, and how a call is said in words.
#include <fmt/format.h>

#include "fmsim/workload.hpp"

namespace fmsim {
namespace {

const TokenType& type_of(const ExpertCall& call) {
    std::vector<std::string> names;
    for (const TokenType& type : kTokenTypes) {
        if (type.name == call.dtype) return type;
        names.emplace_back(type.name);
    }
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = "/dtype",
                       .expected = fmt::format("expected a type of elements: {}", fmt::join(names, ", ")),
                       .found = call.dtype}});
}

}  // namespace

std::string_view name(TokenRouting routing) {
    switch (routing) {
        case TokenRouting::random:
            return "random";
        case TokenRouting::balanced:
            return "balanced";
        case TokenRouting::skewed:
            return "skewed";
    }
    return {};
}

std::int64_t token_bytes(const ExpertCall& call) {
    const TokenType& type = type_of(call);
    const std::int64_t hidden = call.hidden;
    const std::int64_t blocks = type.block == 0 ? 0 : (hidden + type.block - 1) / type.block;
    return (hidden * type.bits + 7) / 8 + blocks * type.scale_bytes;
}

Bytes size_of(const ExpertCall& call) {
    return {std::int64_t{call.tokens} * call.top_k * ((std::int64_t{call.hidden} * type_of(call).bits + 7) / 8)};
}

std::string to_text(const ExpertCall& call) {
    std::string text = fmt::format("{} tokens of {} x {} to {} of {} experts, {} routing", call.tokens, call.hidden,
                                   call.dtype, call.top_k, call.experts, name(call.routing));
    if (call.routing == TokenRouting::skewed) text += fmt::format(" {} seed {}", call.skew, call.seed);
    if (call.limit != 0) text += fmt::format(" on {} domains", call.limit);
    text += ", by " + call.dispatcher;
    if (call.sms != 0) text += fmt::format(" with {} SMs", call.sms);
    return text;
}

CollectiveCall call_of(ExpertCall experts, std::uint32_t group) {
    CollectiveCall call{.collective = Collective::all_to_all, .size = size_of(experts), .group = group};
    call.experts = std::move(experts);
    return call;
}

}  // namespace fmsim
