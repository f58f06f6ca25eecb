// Plays an MSCCL program on sets of contributions: which ranks' chunks are in a chunk, and how often.
//
// Thread blocks run their steps in order and wait for named steps of others; messages on a connection come in order, and
// a connection has room for all (a schedule that needs a sender to stop is none that ends for sure). Each message becomes
// a transfer that needs those whose data its block has seen: its own earlier receipts and those of the steps it waits for.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "msccl_program.hpp"

namespace fmsim {
namespace {

constexpr std::uint64_t kMostWork = 50'000'000;  // contributions copied or added

using Sum = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;  // rank, chunk: how often
using Seen = std::map<std::uint32_t, std::uint32_t>;                           // of a hop the last transfer received

struct Message {
    std::vector<Sum> chunks;
    std::uint32_t transfer{};
    std::size_t line{};
};
using Connection = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // from, to, channel

class Player {
public:
    explicit Player(const MscclProgram& program)
        : program_(program), made_(program.head), pattern_(std::make_shared<Pattern>()) {
        for (std::uint32_t gpu = 0; gpu < program.gpus; ++gpu) {
            held_.emplace_back(std::size_t{program.inputs} + program.outputs + program.scratch);
            for (std::uint32_t i = 0; i < program.inputs; ++i) held_[gpu][place(gpu, {'i', i})] = {{{gpu, i}, 1}};
            at_.emplace_back(program.blocks[gpu].size(), 0);
            seen_.emplace_back(program.blocks[gpu].size());
            for (const MscclBlock& block : program.blocks[gpu])
                for (const MscclStep& step : block.steps)
                    if (step.waits_block >= 0)
                        kept_[{gpu, static_cast<std::uint32_t>(step.waits_block),
                               static_cast<std::uint32_t>(step.waits_step)}];
        }
    }

    CustomAlgorithm play() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t gpu = 0; gpu < program_.gpus; ++gpu)
                for (std::uint32_t b = 0; b < program_.blocks[gpu].size(); ++b)
                    while (perform(gpu, b)) moved = true;
        }
        refuse_stuck();
        for (const auto& [connection, queue] : under_way_)
            if (!queue.empty()) refuse(queue.front().line, "expected a receive of what is sent here", "none");
        check_outputs();
        made_.pattern = pattern_;
        return std::move(made_);
    }

private:
    [[noreturn]] void refuse(std::size_t line, std::string expected, std::string found) const {
        throw InputError({{program_.file, line, "", std::move(expected), std::move(found)}});
    }

    // In place, input and output are parts of one buffer.
    std::size_t place(std::uint32_t gpu, MscclPlace at) const {
        const std::size_t first_output = program_.inputs, first_scratch = first_output + program_.outputs;
        if (at.buffer == 's') return first_scratch + at.offset;
        if (!program_.in_place) return at.buffer == 'i' ? at.offset : first_output + at.offset;
        if (program_.inputs <= program_.outputs) {
            const bool part = at.buffer == 'i' && program_.inputs < program_.outputs;
            return first_output + at.offset + (part ? gpu * program_.inputs : 0);
        }
        return at.offset + (at.buffer == 'o' ? gpu * program_.outputs : 0);
    }
    Sum& at(std::uint32_t gpu, MscclPlace first, std::uint32_t k) {
        return held_[gpu][place(gpu, {first.buffer, first.offset + k})];
    }
    void add(Sum& target, const Sum& source) {
        count(source.size());
        for (const auto& [what, times] : source) target[what] += times;
    }
    void count(std::size_t work) {
        work_ += work + 1;
        if (work_ > kMostWork) throw LimitReached(program_.file + " has more chunks and steps than can be followed");
    }

    bool perform(std::uint32_t gpu, std::uint32_t b) {
        const MscclBlock& block = program_.blocks[gpu][b];
        std::size_t& next = at_[gpu][b];
        if (next == block.steps.size()) return false;
        const MscclStep& step = block.steps[next];
        if (step.waits_block >= 0 &&
            at_[gpu][static_cast<std::size_t>(step.waits_block)] <= static_cast<std::size_t>(step.waits_step))
            return false;
        Message got;
        if (receives(step.kind)) {
            auto& queue = under_way_[{static_cast<std::uint32_t>(block.receive), gpu, block.channel}];
            if (queue.empty()) return false;
            got = std::move(queue.front());
            queue.pop_front();
            if (got.chunks.size() != step.count)
                refuse(step.line, fmt::format("expected cnt {}, as line {} sends", got.chunks.size(), got.line),
                       fmt::format("{}", step.count));
            pattern_->transfers[got.transfer].adds = reduces(step.kind);
        }
        Seen& seen = seen_[gpu][b];
        if (step.waits_block >= 0)
            for (const auto& [hop, transfer] : kept_.at({gpu, static_cast<std::uint32_t>(step.waits_block),
                                                         static_cast<std::uint32_t>(step.waits_step)}))
                seen[hop] = std::max(seen[hop], transfer);
        if (receives(step.kind)) seen[pattern_->transfers[got.transfer].hop] = got.transfer;
        move_data(gpu, block, step, std::move(got));
        if (const auto kept = kept_.find({gpu, b, static_cast<std::uint32_t>(next)}); kept != kept_.end())
            kept->second = seen;
        ++next;
        return true;
    }

    void move_data(std::uint32_t gpu, const MscclBlock& block, const MscclStep& step, Message got) {
        if (step.kind == StepKind::nop) return;
        std::vector<Sum> chunks = std::move(got.chunks);
        const bool reads = !receives(step.kind) || reduces(step.kind);
        if (!receives(step.kind)) chunks.resize(step.count);
        for (std::uint32_t k = 0; k < step.count; ++k) {
            const Sum* const source = reads ? &at(gpu, step.source, k) : nullptr;
            if (source != nullptr && source->empty())
                refuse(step.line, "expected a source that holds something", fmt::format("chunk {}", step.source.offset + k));
            if (source != nullptr) add(chunks[k], *source);
            if (step.kind == StepKind::reduce) add(chunks[k], at(gpu, step.target, k));
            count(chunks[k].size());
        }
        if (step.kind != StepKind::send && step.kind != StepKind::reduce_send)
            for (std::uint32_t k = 0; k < step.count; ++k) at(gpu, step.target, k) = chunks[k];
        if (sends(step.kind)) send(gpu, block, step, std::move(chunks));
    }

    void send(std::uint32_t gpu, const MscclBlock& block, const MscclStep& step, std::vector<Sum> chunks) {
        const auto to = static_cast<std::uint32_t>(block.send);
        const Connection connection{gpu, to, block.channel};
        const auto [hop, fresh] = hops_.try_emplace(connection, static_cast<std::uint32_t>(made_.hops.size()));
        if (fresh) made_.hops.push_back({gpu, to});
        std::vector<std::uint32_t> needs, blocks;
        const auto b = static_cast<std::size_t>(&block - program_.blocks[gpu].data());
        for (const auto& [other, transfer] : seen_[gpu][b]) needs.push_back(transfer);
        std::sort(needs.begin(), needs.end());
        count(needs.size());
        for (const Sum& chunk : chunks) blocks.push_back(block_of(chunk));
        const std::uint32_t id = pattern_->add({.hop = hop->second, .chunks = static_cast<double>(step.count), .adds = false},
                                               std::move(needs), std::move(blocks));
        under_way_[connection].push_back({std::move(chunks), id, step.line});
    }

    // Where a chunk stands in the operation's data, by what is in it.
    std::uint32_t block_of(const Sum& chunk) const {
        const auto& [rank, input] = chunk.begin()->first;
        return program_.head.does == Collective::all_gather ? rank * program_.inputs + input : input;
    }

    void refuse_stuck() const {
        for (std::uint32_t gpu = 0; gpu < program_.gpus; ++gpu)
            for (std::uint32_t b = 0; b < program_.blocks[gpu].size(); ++b) {
                const MscclBlock& block = program_.blocks[gpu][b];
                if (at_[gpu][b] == block.steps.size()) continue;
                const MscclStep& step = block.steps[at_[gpu][b]];
                const bool blocked = step.waits_block >= 0 && at_[gpu][static_cast<std::size_t>(step.waits_block)] <=
                                                                  static_cast<std::size_t>(step.waits_step);
                refuse(step.line, "expected a step that can run",
                       blocked ? fmt::format("one that waits for ever for step {} of thread block {}", step.waits_step,
                                             step.waits_block)
                               : fmt::format("one that waits for ever for a send from GPU {}", block.receive));
            }
    }

    // What an output chunk of a rank must hold; false: nothing is promised.
    bool promised(std::uint32_t gpu, std::uint32_t k, Sum& wanted) const {
        using enum Collective;
        const std::uint32_t inputs = program_.inputs, each = inputs / program_.gpus;
        switch (program_.head.does) {
            case all_gather:
                wanted = {{{k / inputs, k % inputs}, 1}};
                return true;
            case broadcast:
                wanted = {{{0, k}, 1}};
                return true;
            case all_to_all:
                wanted = {{{k / each, gpu * each + k % each}, 1}};
                return true;
            default: {
                const bool scatters = program_.head.does == reduce_scatter;
                for (std::uint32_t rank = 0; rank < program_.gpus; ++rank)
                    wanted[{rank, scatters ? gpu * program_.outputs + k : k}] = 1;
                return program_.head.does != reduce || gpu == 0;
            }
        }
    }

    void check_outputs() {
        for (std::uint32_t gpu = 0; gpu < program_.gpus; ++gpu)
            for (std::uint32_t k = 0; k < program_.outputs; ++k) {
                Sum wanted;
                if (!promised(gpu, k, wanted)) continue;
                count(wanted.size());
                const Sum& held = at(gpu, {'o', 0}, k);
                if (held == wanted) continue;
                std::string found = "too much";
                for (const auto& [what, times] : wanted) {
                    const auto there = held.find(what);
                    if (there != held.end() && there->second == times) continue;
                    found = fmt::format("chunk {} of GPU {} {}", what.second, what.first,
                                        there == held.end() ? "missing" : "more than once");
                    break;
                }
                refuse(0, fmt::format("expected output {} of GPU {} to hold what {} promises", k, gpu,
                                      name(program_.head.does)),
                       found);
            }
    }

    const MscclProgram& program_;
    CustomAlgorithm made_;
    std::shared_ptr<Pattern> pattern_;
    std::vector<std::vector<Sum>> held_;          // of each GPU
    std::vector<std::vector<std::size_t>> at_;    // of each GPU's blocks: the next step
    std::vector<std::vector<Seen>> seen_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Seen> kept_;  // of steps that others wait for
    std::map<Connection, std::deque<Message>> under_way_;
    std::map<Connection, std::uint32_t> hops_;
    std::uint64_t work_ = 0;
};

}  // namespace

CustomAlgorithm play(const MscclProgram& program) { return Player(program).play(); }

}  // namespace fmsim
