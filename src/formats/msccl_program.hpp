// An MSCCL program as it is written: of each GPU its thread blocks, of each its steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fmsim/collective.hpp"

namespace fmsim {

enum class StepKind : std::uint8_t { send, receive, receive_send, reduce_send, reduce_copy, reduce_copy_send, copy, reduce, nop };

struct MscclPlace {
    char buffer = 'i';  // i: input, o: output, s: scratch
    std::uint32_t offset{};
};
struct MscclStep {
    StepKind kind{};
    MscclPlace source, target;
    std::uint32_t count{};  // chunks
    std::int64_t waits_block = -1;  // of the same GPU
    std::int64_t waits_step = -1;
    std::size_t line{};
};
struct MscclBlock {
    std::uint32_t gpu{};
    std::int64_t send = -1, receive = -1;  // peers
    std::int64_t channel{};
    std::vector<MscclStep> steps;
    std::size_t line{};
};
struct MscclProgram {
    std::string file;
    CustomAlgorithm head;  // without its transfers
    bool in_place{};
    std::uint32_t gpus{};
    std::uint32_t inputs{}, outputs{}, scratch{};  // chunks of each GPU
    std::vector<std::vector<MscclBlock>> blocks;   // of each GPU
};

constexpr bool sends(StepKind kind) {
    return kind == StepKind::send || kind == StepKind::receive_send || kind == StepKind::reduce_send ||
           kind == StepKind::reduce_copy_send;
}
constexpr bool receives(StepKind kind) {
    return kind == StepKind::receive || kind == StepKind::receive_send || kind == StepKind::reduce_send ||
           kind == StepKind::reduce_copy || kind == StepKind::reduce_copy_send;
}
constexpr bool reduces(StepKind kind) {
    return kind == StepKind::reduce_send || kind == StepKind::reduce_copy || kind == StepKind::reduce_copy_send;
}

// Plays it and gives its transfers in an order in which they can happen; throws InputError where it is unsound.
CustomAlgorithm play(const MscclProgram& program);

}  // namespace fmsim
