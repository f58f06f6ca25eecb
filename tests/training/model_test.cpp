// Parameters of public models to the last one, and FLOPs by hand.
#include <catch2/catch.hpp>

#include "toy.hpp"

namespace fmsim {
namespace {

std::int64_t parameters(const std::string& preset) {
    const ParameterCounts counts = parameters_of(model_preset(preset));
    return counts.all() - counts.mtp;
}

}  // namespace

TEST_CASE("parameters are those that the models' authors count") {
    CHECK(parameters("llama3-8b") == 8030261248);
    CHECK(parameters("llama3-70b") == 70553706496);
    CHECK(parameters("llama3-405b") == 405853388800);
    CHECK(parameters("llama2-7b") == 6738415616);
    CHECK(parameters("llama2-13b") == 13015864320);
    CHECK(parameters("llama2-70b") == 68976648192);
    CHECK(parameters("mixtral-8x7b") == 46702792704);
    CHECK(parameters("qwen3-30b-a3b") == 30532122624);
    CHECK(parameters("qwen3-235b-a22b") == 235093634560);
    CHECK(parameters("qwen3-8b") == 8190735360);
    CHECK(parameters("qwen2.5-32b") == 32763876352);
    CHECK(parameters("gpt-oss-120b") == 116829156672);
    // 671,026,404,352 and, counted with the weights, a bias of the router of 256 for each of 58 layers.
    CHECK(parameters("deepseek-v3") == 671026404352);
}

TEST_CASE("a model with biases, norms with biases and learned positions") {
    // MPT-7b at 1024 positions, as its authors print it: 6,654,664,704... layers of 12 h^2 + 13 h, tables, a last norm.
    TransformerModel model = model_preset("mpt-7b");
    model.positions = 1024;
    CHECK(parameters_of(model).all() == 6654664704);
}

TEST_CASE("active parameters leave out the experts that a token does not meet") {
    // 30B-A3B: 48 layers of 128 experts of 3 x 2048 x 768, of which 8.
    const ParameterCounts counts = parameters_of(model_preset("qwen3-30b-a3b"));
    CHECK(counts.routed == std::int64_t{48} * 128 * 3 * 2048 * 768);
    CHECK(counts.all() - counts.active == std::int64_t{48} * 120 * 3 * 2048 * 768);
}

TEST_CASE("FLOPs of a token by hand") {
    // 8B: 6 (8030261248 - table 525336576 - norms 266240) of products; attention a layer and a token, forward:
    // 4 x 4096 x (8192 + 1) / 2; three times with the backward pass.
    const ModelFlops flops = flops_a_token(model_preset("llama3-8b"), 8192);
    CHECK(flops.products == Approx(6.0 * (8030261248 - 525336576 - 266240)).epsilon(1e-12));
    CHECK(flops.attention == Approx(3.0 * 32 * 4 * 4096 * 8193 / 2).epsilon(1e-12));
    CHECK(flops.attention_full == Approx(3.0 * 32 * 4 * 4096 * 8192).epsilon(1e-12));
}

TEST_CASE("DeepSeek-V3 with multi-token prediction costs what its submissions state") {
    // 260.7 GFLOP a token of 4096, causal, one block of prediction.
    CHECK(flops_a_token(model_preset("deepseek-v3"), 4096).causal() == Approx(260.7e9).epsilon(0.002));
    TransformerModel without = model_preset("deepseek-v3");
    without.mtp_layers = 0;
    CHECK(flops_a_token(without, 4096).causal() < 0.97 * 260.7e9);
}

}  // namespace fmsim
