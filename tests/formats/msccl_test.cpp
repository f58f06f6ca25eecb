// MSCCL's XML: what its transfers are, what they take, and what is unsound.
#include <random>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "collective/replay.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

using Catch::Matchers::Contains;

// In place; a ring of n GPUs, all-reduce in 2(n-1) steps of a chunk, as one thread block a GPU.
std::string ring(std::uint32_t n) {
    std::string text = fmt::format(
        "<algo name=\"ring\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{0}\" ngpus=\"{0}\" coll=\"allreduce\" "
        "inplace=\"1\">\n", n);
    for (std::uint32_t g = 0; g < n; ++g) {
        text += fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"0\" s_chunks=\"0\">\n", g, n);
        text += fmt::format("<tb id=\"0\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", (g + 1) % n, (g + n - 1) % n);
        for (std::uint32_t s = 0; s < 2 * n - 1; ++s) {
            const char* const type = s == 0 ? "s" : s < n - 1 ? "rrs" : s == n - 1 ? "rrcs" : s < 2 * n - 2 ? "rcs" : "r";
            const std::uint32_t chunk = (g + 2 * n - s) % n;
            text += fmt::format("<step s=\"{0}\" type=\"{1}\" srcbuf=\"i\" srcoff=\"{2}\" dstbuf=\"i\" dstoff=\"{2}\" cnt=\"1\" "
                                "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n", s, type, chunk);
        }
        text += "</tb>\n</gpu>\n";
    }
    return text + "</algo>\n";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

// Rank 1 sends all it has; rank 0 adds.
const std::string kReduce = R"(<algo name="reduce_to_0" proto="LL128" nchannels="1" nchunksperloop="1" ngpus="2" coll="reduce" inplace="1" outofplace="0">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
<tb id="0" send="-1" recv="1" chan="0"><step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>
</gpu>
<gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
<tb id="0" send="0" recv="-1" chan="0"><step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>
</gpu>
</algo>
)";

std::string refusal(const std::string& text) {
    try {
        parse_msccl(text, "a.xml");
    } catch (const InputError& error) {
        return error.what();
    }
    return "taken";
}

}  // namespace

TEST_CASE("a ring in MSCCL's XML does what a ring does, and takes as long") {
    std::mt19937 random(5);
    const auto n = GENERATE(2u, 3u, 4u, 8u);
    const CustomAlgorithm custom = parse_msccl(ring(n), "ring.xml");
    CHECK(custom.does == Collective::all_reduce);
    CHECK(custom.hops.size() == n);
    CHECK(custom.pattern->transfers.size() == n * (2 * n - 2));
    const Topology net = build_topology(toy::cluster({.gpus = n, .nvlink = 1_GBps}));
    const Group group = toy::everyone(net);
    const Nccl nccl = toy::nccl();
    PredictOptions options;
    options.pins.algorithm = "ring.xml";
    options.pins.custom["ring.xml"] = std::make_shared<const CustomAlgorithm>(custom);
    const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{1000 * n}}});
    for (const Fidelity fidelity : {Fidelity::stream, Fidelity::chunk}) {
        options.fidelity = fidelity;
        const CallPrediction call = predict(net, group, job, nccl, options).calls.front();
        CHECK(call.algorithm == "ring");
        CHECK(call.time().fs == (2 * n - 2) * 1'000'000'000LL);  // steps of 1000 bytes at 1 GB/s
        CHECK(call.closed_form == call.time());
    }
    const Schedule schedule = plan_custom(custom, Collective::all_reduce, net, group,
                                          {.size = {1000 * n}, .channels = 1, .shape = &nccl.shape, .simple_buffer = {1 << 20}});
    CHECK(holds(Collective::all_reduce, replay(Collective::all_reduce, group, schedule.channels[0], 0, random), 0));
}

TEST_CASE("an algorithm of another size or collective is refused for a group") {
    const CustomAlgorithm custom = parse_msccl(kReduce, "a.xml");
    CHECK(custom.protocol == Protocol::ll128);
    const Topology net = build_topology(toy::cluster({.gpus = 4}));
    const Nccl nccl = toy::nccl();
    const PlanRequest request{.size = {8}, .shape = &nccl.shape, .simple_buffer = {1 << 20}};
    CHECK_THROWS_WITH(plan_custom(custom, Collective::reduce, net, toy::everyone(net), request),
                      Contains("expected an algorithm of 4 ranks; found reduce_to_0 of 2"));
    CHECK_THROWS_WITH(plan_custom(custom, Collective::broadcast, net, toy::everyone(net), request),
                      Contains("expected an algorithm of broadcast; found reduce_to_0 of reduce"));
}

TEST_CASE("what is unsound is refused with its line") {
    CHECK(refusal(kReduce) == "taken");
    CHECK_THAT(refusal(with(kReduce, "type=\"s\"", "type=\"nop\"")),
               Contains("a.xml:3") && Contains("waits for ever for a send from GPU 1"));
    CHECK_THAT(refusal(with(kReduce, "type=\"rrc\"", "type=\"nop\"")), Contains("a.xml:6") && Contains("expected a receive"));
    CHECK_THAT(refusal(with(kReduce, "srcoff=\"0\"", "srcoff=\"1\"")), Contains("a.xml:3") && Contains("srcoff"));
    CHECK_THAT(refusal(with(kReduce, "type=\"rrc\"", "type=\"r\"")), Contains("expected output 0 of GPU 0 to hold what reduce"));
    CHECK_THAT(refusal(with(kReduce, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"0\"")),
               Contains("a.xml:3") && Contains("waits for ever for step 0 of thread block 0"));
    CHECK_THAT(refusal(with(kReduce, "depid=\"-1\" deps=\"-1\"", "depid=\"4\" deps=\"0\"")), Contains("expected depid below 1"));
    CHECK_THAT(refusal(with(kReduce, "recv=\"1\"", "recv=\"7\"")), Contains("a.xml:3") && Contains("recv of tb"));
    CHECK_THAT(refusal(with(kReduce, "coll=\"reduce\"", "coll=\"custom\"")), Contains("expected coll of algo to be one of"));
    CHECK_THAT(refusal("<algo"), Contains("a.xml:1: expected XML"));
    CHECK_THAT(refusal("<other/>"), Contains("expected an element algo"));
}

}  // namespace fmsim
