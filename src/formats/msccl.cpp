// MSCCL's XML, as msccl-tools writes it:
//
//   algo(coll, proto, ngpus, nchannels, inplace) > gpu(id, i_chunks, o_chunks, s_chunks) > tb(id, send, recv, chan)
//   > step(s, type, srcbuf, srcoff, dstbuf, dstoff, cnt, depid, deps)
//
// Newer files call the step `op` and its number `step`.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "fmsim/formats.hpp"
#include "msccl_program.hpp"

namespace fmsim {
namespace {

constexpr std::int64_t kMostGpus = 4'096, kMostChunks = 65'536, kMostChannels = 1'024;
constexpr std::size_t kMostSteps = 1'000'000, kMostHeld = 4'000'000;

constexpr std::array<std::pair<std::string_view, StepKind>, 9> kKinds{{{"s", StepKind::send},
                                                                       {"r", StepKind::receive},
                                                                       {"rcs", StepKind::receive_send},
                                                                       {"rrs", StepKind::reduce_send},
                                                                       {"rrc", StepKind::reduce_copy},
                                                                       {"rrcs", StepKind::reduce_copy_send},
                                                                       {"cpy", StepKind::copy},
                                                                       {"re", StepKind::reduce},
                                                                       {"nop", StepKind::nop}}};
constexpr std::array<std::pair<std::string_view, Collective>, 7> kCollectiveWords{
    {{"allreduce", Collective::all_reduce},
     {"allgather", Collective::all_gather},
     {"reducescatter", Collective::reduce_scatter},
     {"reduce_scatter", Collective::reduce_scatter},
     {"alltoall", Collective::all_to_all},
     {"broadcast", Collective::broadcast},
     {"reduce", Collective::reduce}}};

class Reader {
public:
    Reader(std::string_view text, const std::string& file) : text_(text) { out_.file = file; }

    MscclProgram read() {
        pugi::xml_document document;
        const auto parsed = document.load_buffer(text_.data(), text_.size());
        if (!parsed) refuse(line_of(parsed.offset), "expected XML", parsed.description());
        const pugi::xml_node algo = document.child("algo");
        if (!algo) refuse(1, "expected an element algo", "none");
        read_head(algo);
        for (const pugi::xml_node gpu : algo.children("gpu")) read_gpu(gpu);
        if (seen_gpus_.size() != out_.gpus)
            refuse(line_of(algo), fmt::format("expected {} elements gpu", out_.gpus), fmt::format("{}", seen_gpus_.size()));
        for (const auto& blocks : out_.blocks) check_waits(blocks);
        check_sizes(algo);
        return std::move(out_);
    }

private:
    std::size_t line_of(std::ptrdiff_t offset) const {
        const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
        return 1 + static_cast<std::size_t>(std::count(text_.begin(), end, '\n'));
    }
    std::size_t line_of(pugi::xml_node node) const { return line_of(node.offset_debug()); }
    [[noreturn]] void refuse(std::size_t line, std::string expected, std::string found) const {
        throw InputError({{out_.file, line, "", std::move(expected), std::move(found)}});
    }

    std::int64_t whole(pugi::xml_node node, const char* key, std::int64_t least, std::int64_t most) const {
        const std::string_view text = node.attribute(key).value();
        std::int64_t value = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc{} && rest == text.data() + text.size() && value >= least && value <= most) return value;
        refuse(line_of(node), fmt::format("expected {} of {} to be a whole number from {} to {}", key, node.name(), least, most),
               std::string(text));
    }
    std::uint32_t count(pugi::xml_node node, const char* key, std::int64_t least, std::int64_t most) const {
        return static_cast<std::uint32_t>(whole(node, key, least, most));
    }
    template <class Words>
    auto word(pugi::xml_node node, const char* key, const Words& words) const {
        const std::string_view text = node.attribute(key).value();
        std::string known;
        for (const auto& [name, value] : words) {
            if (name == text) return value;
            known += (known.empty() ? "" : ", ") + std::string(name);
        }
        refuse(line_of(node), fmt::format("expected {} of {} to be one of {}", key, node.name(), known), std::string(text));
    }

    void read_head(pugi::xml_node algo) {
        out_.head.does = word(algo, "coll", kCollectiveWords);
        const std::string_view name = algo.attribute("name").value();
        out_.head.name = name.empty() ? std::string("custom") : printable(name);
        const std::string_view protocol = algo.attribute("proto").value();
        static constexpr std::array<std::pair<std::string_view, Protocol>, 3> kWords{
            {{"Simple", Protocol::simple}, {"LL", Protocol::ll}, {"LL128", Protocol::ll128}}};
        out_.head.protocol = protocol.empty() ? Protocol::simple : word(algo, "proto", kWords);
        out_.gpus = out_.head.ranks = count(algo, "ngpus", 2, kMostGpus);
        out_.head.channels = count(algo, "nchannels", 1, kMostChannels);
        const std::string_view outside = algo.attribute("outofplace").value();
        out_.in_place = std::string_view(algo.attribute("inplace").value()) == "1" && outside != "1";
        out_.blocks.resize(out_.gpus);
    }

    void read_gpu(pugi::xml_node gpu) {
        const std::uint32_t id = count(gpu, "id", 0, std::int64_t{out_.gpus} - 1);
        if (!seen_gpus_.insert(id).second) refuse(line_of(gpu), "expected each gpu once", fmt::format("{} again", id));
        const std::uint32_t inputs = count(gpu, "i_chunks", 1, kMostChunks), outputs = count(gpu, "o_chunks", 0, kMostChunks);
        const std::uint32_t scratch = count(gpu, "s_chunks", 0, kMostChunks);
        const std::uint32_t given = outputs > 0 ? outputs : inputs;
        if (seen_gpus_.size() == 1) {
            out_.inputs = inputs;
            out_.outputs = given;
        }
        if (inputs != out_.inputs || given != out_.outputs)
            refuse(line_of(gpu), "expected all GPUs to have as many chunks of input and of output",
                   fmt::format("{} and {}", inputs, outputs));
        scratch_of_ = scratch;
        out_.scratch = std::max(out_.scratch, scratch);
        for (const pugi::xml_node tb : gpu.children("tb")) read_block(tb, id);
    }

    void read_block(pugi::xml_node tb, std::uint32_t gpu) {
        auto& blocks = out_.blocks[gpu];
        if (count(tb, "id", 0, std::numeric_limits<std::int32_t>::max()) != blocks.size())
            refuse(line_of(tb), fmt::format("expected thread block {}", blocks.size()), tb.attribute("id").value());
        MscclBlock block{.gpu = gpu,
                         .send = whole(tb, "send", -1, std::int64_t{out_.gpus} - 1),
                         .receive = whole(tb, "recv", -1, std::int64_t{out_.gpus} - 1),
                         .channel = whole(tb, "chan", -1, kMostChannels),
                         .steps = {},
                         .line = line_of(tb)};
        if (block.send == gpu || block.receive == gpu) refuse(block.line, "expected another GPU as peer", fmt::format("{}", gpu));
        if (block.send >= 0 && !senders_.insert({gpu, block.send, block.channel}).second)
            refuse(block.line, "expected one thread block to send to a GPU on a channel", "a second one");
        if (block.receive >= 0 && !receivers_.insert({gpu, block.receive, block.channel}).second)
            refuse(block.line, "expected one thread block to receive from a GPU on a channel", "a second one");
        for (const pugi::xml_node step : tb.children())
            if (step.type() == pugi::node_element) block.steps.push_back(step_of(step, block));
        blocks.push_back(std::move(block));
    }

    MscclStep step_of(pugi::xml_node node, const MscclBlock& block) {
        const std::string_view tag = node.name();
        if (tag != "step" && tag != "op") refuse(line_of(node), "expected a step", std::string(tag));
        if (++steps_ > kMostSteps) throw LimitReached(out_.file + " has too many steps");
        const char* const number = node.attribute("s") ? "s" : "step";
        if (count(node, number, 0, std::numeric_limits<std::int32_t>::max()) != block.steps.size())
            refuse(line_of(node), fmt::format("expected step {}", block.steps.size()), node.attribute(number).value());
        MscclStep step{.kind = word(node, "type", kKinds), .line = line_of(node)};
        if (node.attribute("depid")) step.waits_block = whole(node, "depid", -1, std::numeric_limits<std::int32_t>::max());
        if (step.waits_block >= 0) step.waits_step = whole(node, "deps", 0, std::numeric_limits<std::int32_t>::max());
        if (step.kind == StepKind::nop) return step;
        step.count = count(node, "cnt", 1, kMostChunks);
        if (sends(step.kind) && block.send < 0) refuse(step.line, "expected a thread block with a peer to send to", "none");
        if (receives(step.kind) && block.receive < 0)
            refuse(step.line, "expected a thread block with a peer to receive from", "none");
        if (!receives(step.kind) || reduces(step.kind)) step.source = place(node, "srcbuf", "srcoff", step.count);
        if (step.kind != StepKind::send && step.kind != StepKind::reduce_send)
            step.target = place(node, "dstbuf", "dstoff", step.count);
        return step;
    }

    MscclPlace place(pugi::xml_node node, const char* buffer, const char* offset, std::uint32_t chunks) const {
        const char* const buffer_key = node.attribute(buffer) ? buffer : "buf";
        const char* const offset_key = node.attribute(offset) ? offset : "off";
        static constexpr std::array<std::pair<std::string_view, char>, 3> kBuffers{{{"i", 'i'}, {"o", 'o'}, {"s", 's'}}};
        const char which = word(node, buffer_key, kBuffers);
        const std::int64_t room = which == 'i' ? out_.inputs : which == 'o' ? out_.outputs : scratch_of_;
        return {which, count(node, offset_key, 0, room - std::int64_t{chunks})};
    }

    void check_waits(const std::vector<MscclBlock>& blocks) const {
        for (const MscclBlock& block : blocks)
            for (const MscclStep& step : block.steps) {
                if (step.waits_block < 0) continue;
                const auto other = static_cast<std::size_t>(step.waits_block);
                if (other >= blocks.size())
                    refuse(step.line, fmt::format("expected depid below {}", blocks.size()), fmt::format("{}", other));
                if (static_cast<std::size_t>(step.waits_step) >= blocks[other].steps.size())
                    refuse(step.line, fmt::format("expected deps below {}", blocks[other].steps.size()),
                           fmt::format("{}", step.waits_step));
            }
    }

    void check_sizes(pugi::xml_node algo) {
        using enum Collective;
        const std::uint64_t in = out_.inputs, out = out_.outputs, gpus = out_.gpus;
        const bool sound = out_.head.does == all_gather       ? out == in * gpus
                           : out_.head.does == reduce_scatter ? in == out * gpus
                           : out_.head.does == all_to_all     ? in == out && in % gpus == 0
                                                              : in == out;
        if (!sound)
            refuse(line_of(algo), fmt::format("expected chunks of input and output as {} has them", name(out_.head.does)),
                   fmt::format("{} and {}", in, out));
        out_.head.blocks = std::max(out_.inputs, out_.outputs);
        if (gpus * (in + out + out_.scratch) > kMostHeld) throw LimitReached(out_.file + " has too many chunks");
    }

    std::string_view text_;
    MscclProgram out_;
    std::set<std::uint32_t> seen_gpus_;
    std::set<std::tuple<std::uint32_t, std::int64_t, std::int64_t>> senders_, receivers_;
    std::uint32_t scratch_of_ = 0;
    std::size_t steps_ = 0;
};

}  // namespace

CustomAlgorithm parse_msccl(std::string_view text, const std::string& file) { return play(Reader(text, file).read()); }

}  // namespace fmsim
