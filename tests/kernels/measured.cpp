// tests/data/kernels.json -> rows. What the sources leave open is set here, and said in docs/models/kernels.md.
#include "kernels/measured.hpp"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"

namespace fmsim::test {
namespace {

using nlohmann::json;

constexpr double kTera = 1e12;

Gpu gpu_of(const std::string& machine) {
    static std::map<std::string, Gpu> known;
    const auto found = known.find(machine);
    if (found != known.end()) return found->second;
    return known[machine] = Catalogue::shipped().instance(machine).gpu;
}

Precision precision_of(const std::string& dtype, const json& row) {
    if (dtype == "fp8")
        return row.value("shape", "").find("block") == std::string::npos ? Precision::fp8 : Precision::fp8_blockwise;
    return dtype == "fp16" ? Precision::fp16 : Precision::bf16;
}

MeasuredRow product(const json& row) {
    const std::string dtype = row.at("dtype");
    const Gpu gpu = gpu_of(row.at("machine"));
    const Precision precision = precision_of(dtype, row);
    MeasuredRow result{.table = "gemm",
                       .gpu = row.at("gpu"),
                       .kind = dtype,
                       .source = row.at("source"),
                       .what = row.value("shape", ""),
                       .model = gpu};
    result.rate = row.at("tflops").get<double>() * kTera;
    result.published = gpu.peak.at(std::string(kind(precision).peak)).value;
    if (row.contains("m")) {
        const Gemm gemm{.m = row["m"], .n = row["n"], .k = row["k"], .precision = precision};
        result.what = fmt::format("{} x {} x {}", gemm.m, gemm.n, gemm.k);
        result.kernels = {gemm};
        return result;
    }
    // Which shape was best is not said: the sweeps are of squares and near squares of up to some 20,000.
    for (const std::int64_t side : {4096, 6144, 8192, 12288, 16384, 20480})
        result.kernels.emplace_back(Gemm{.m = side, .n = side, .k = side, .precision = precision});
    result.best_of = true;
    return result;
}

// The published figures are for 16,384 tokens and 2048 / head_dim heads.
Attention attention_of(const json& row, std::int64_t length, std::int64_t batch) {
    static const std::map<std::string, std::string> kNames{
        {"FlashAttention-2", "flash_attention_2"}, {"FlashAttention-3", "flash_attention_3"}, {"cuDNN", "cudnn"}};
    const std::int64_t dim = row.at("head_dim");
    Attention attention{.batch = batch,
                        .heads = 2048 / dim,
                        .kv_heads = 2048 / dim,
                        .queries = length,
                        .keys = length,
                        .qk_dim = dim,
                        .v_dim = dim,
                        .causal = row["causal"] == true};
    if (const auto found = kNames.find(row.at("implementation")); found != kNames.end())
        attention.implementation = found->second;
    return attention;
}

// Scores written and read by a kernel each: QK', softmax, PV.
std::vector<Kernel> unfused(const Attention& a) {
    const std::int64_t batch = a.batch * a.heads;
    return {Gemm{.m = a.queries, .n = a.keys, .k = a.qk_dim, .batch = batch},
            Stream{.kernel = Streaming::copy, .elements = batch * a.queries * a.keys},
            Gemm{.m = a.queries, .n = a.v_dim, .k = a.keys, .batch = batch}};
}

void add_attention(const json& row, std::vector<MeasuredRow>& rows) {
    const std::string passes = row.at("passes");
    for (std::size_t i = 0; i < row.at("seq_len").size(); ++i) {
        if (row["tflops"][i].is_null()) continue;
        const std::int64_t length = row["seq_len"][i];
        const bool two = passes.find("batch 2") != std::string::npos;
        const Gpu gpu = gpu_of(row.at("machine"));
        Attention attention = attention_of(row, length, two ? 2 : 16384 / length);
        MeasuredRow result{.table = "attention",
                           .gpu = row.at("gpu"),
                           .kind = row.at("implementation"),
                           .source = row.at("source"),
                           .what = "",
                           .model = gpu};
        result.what =
            fmt::format("{}, head {}, {}, {}", passes, attention.qk_dim, attention.causal ? "causal" : "full", length);
        // Published rates count half of the pairs of a causal mask, not half and the diagonal.
        result.rate = row["tflops"][i].get<double>() * kTera;
        if (attention.causal) result.rate *= static_cast<double>(length + 1) / static_cast<double>(length);
        result.published = gpu.peak.at("bf16").value;
        if (result.kind == "unfused PyTorch") {
            result.kernels = unfused(attention);
        } else {
            result.kernels = {attention};
            attention.pass = Pass::backward;
            if (passes == "forward+backward") result.kernels.emplace_back(attention);
        }
        rows.push_back(result);
    }
}

// Best cases on Blackwell, beside long sequences without a mask: two passes of latent attention by FlashMLA, and the
// forward pass of FlashAttention-4. What only decodes or skips keys has no kernel here.
void add_claim(const json& row, std::vector<MeasuredRow>& rows) {
    if (row.at("gpu") != "B200" || row["implementation"].get<std::string>().find("sparse") != std::string::npos) return;
    const Gpu gpu = gpu_of(row.at("machine"));
    const bool latent = row.contains("tflops_forward");
    Attention attention{.heads = 128,
                        .kv_heads = 128,
                        .queries = 16384,
                        .keys = 16384,
                        .qk_dim = latent ? 192 : 128,
                        .v_dim = 128,
                        .causal = false};
    for (const auto& [key, pass] : {std::pair{"tflops", Pass::forward}, std::pair{"tflops_forward", Pass::forward},
                                    std::pair{"tflops_backward", Pass::backward}}) {
        if (!row.contains(key)) continue;
        attention.pass = pass;
        rows.push_back({.table = "attention_peak_claims",
                        .gpu = "B200",
                        .kind = row["implementation"],
                        .source = row["source"],
                        .what = key,
                        .model = gpu,
                        .kernels = {attention},
                        .best_of = false,
                        .setting = {},
                        .rate = row[key].get<double>() * kTera,
                        .published = gpu.peak.at("bf16").value});
    }
}

void add_bandwidth(const json& row, std::vector<MeasuredRow>& rows) {
    const Gpu gpu = gpu_of(row.at("machine"));
    // The length of BabelStream's arrays is not said: taken as so long that no ramp shows, 2^28 doubles. What is not
    // called otherwise counts as a triad.
    constexpr std::int64_t kArray = (std::int64_t{1} << 28) * 8;
    const std::map<std::string, Traffic> kStreams{{"copy_TBps", {{kArray}, {kArray}}},
                                                  {"triad_TBps", {{2 * kArray}, {kArray}}},
                                                  {"dot_TBps", {{2 * kArray}, {}}},
                                                  {"measured_TBps", {{2 * kArray}, {kArray}}}};
    for (const auto& [key, traffic] : kStreams) {
        if (!row.contains(key)) continue;
        MeasuredRow result{.table = "memory_bandwidth",
                           .gpu = row.at("gpu"),
                           .kind = "HBM",
                           .source = row.at("source"),
                           .what = key.substr(0, key.find('_')),
                           .model = gpu,
                           .kernels = {traffic}};
        result.rate = row[key].get<double>() * kTera;
        result.published = gpu.memory_rate.value;
        rows.push_back(result);
    }
}

// Kernels of DeepSeek-V3's layers: 4096 tokens a GPU, 64-way expert parallel, hidden 7168, experts of 2048, 4 of 256
// experts a GPU, 8 a token; latent attention of 128 heads, ranks 1536 and 512. The trace counts 64 dense products in
// FP8 (7 a layer, forward and input gradient; 2 of them recomputed), 16 grouped, 60 weight gradients (7 and 8 a layer).
struct Trace {
    std::vector<Kernel> dense, grouped, weights;
};

Trace trace() {
    constexpr std::int64_t kTokens = 4096, kExperts = 4, kEach = kTokens * 8 / kExperts;
    struct Weight {
        std::int64_t in, out;
        bool again;
    };
    const std::vector<Weight> dense{{7168, 1536, false},  {1536, 24576, true}, {7168, 576, false}, {512, 32768, true},
                                    {16384, 7168, false}, {7168, 4096, false}, {2048, 7168, false}};
    const std::vector<Weight> experts{{7168, 4096, false}, {2048, 7168, false}};
    constexpr Precision kBlock = Precision::fp8_blockwise;
    const auto product_of = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return Gemm{.m = m, .n = n, .k = k, .precision = kBlock};
    };
    const auto gradient = [](const Weight& w, std::int64_t tokens) {
        return Gemm{.m = w.in, .n = w.out, .k = tokens, .precision = kBlock, .output_bits = 32, .accumulates = true};
    };
    Trace all;
    for (const Weight& w : dense) {
        all.dense.insert(all.dense.end(), w.again ? 2 : 1, product_of(kTokens, w.out, w.in));
        all.dense.emplace_back(product_of(kTokens, w.in, w.out));
        all.weights.emplace_back(gradient(w, kTokens));
    }
    for (const Weight& w : experts) {
        all.grouped.emplace_back(GroupedGemm{std::vector<Gemm>(kExperts, product_of(kEach, w.out, w.in))});
        all.grouped.emplace_back(GroupedGemm{std::vector<Gemm>(kExperts, product_of(kEach, w.in, w.out))});
        all.weights.insert(all.weights.end(), kExperts, gradient(w, kEach));
    }
    return all;
}

void add_training(const json& table, std::vector<MeasuredRow>& rows) {
    const Gpu gpu = gpu_of("hgx-h800");
    const auto add = [&](const std::string& key, const std::string& kind, std::vector<Kernel> kernels) {
        double flops = 0;
        for (const Kernel& kernel : kernels) flops += flops_of(kernel);
        MeasuredRow row{.table = "gemm_in_training",
                        .gpu = "H800",
                        .kind = kind,
                        .source = "deepseek-ai/profile-data",
                        .what = key.substr(0, key.size() - 3),
                        .model = gpu,
                        .kernels = std::move(kernels),
                        .best_of = false,
                        .setting = {.sms_taken = 20}};
        const double each = table.at(key).at("mean").get<double>() * 1e-3;
        row.rate = flops / static_cast<double>(row.kernels.size()) / each;
        row.published = gpu.peak.at(kind == "fp8" ? "fp8" : "bf16").value;
        rows.push_back(row);
    };
    const Trace kernels = trace();
    add("dense_fp8_gemm_ms", "fp8", kernels.dense);
    add("grouped_expert_gemm_ms", "fp8", kernels.grouped);
    add("weight_gradient_gemm_ms", "fp8", kernels.weights);
    Attention latent{.heads = 128, .kv_heads = 128, .queries = 4096, .keys = 4096, .qk_dim = 192, .v_dim = 128};
    add("attention_forward_ms", "attention", {latent});
    latent.pass = Pass::backward;
    add("attention_backward_ms", "attention", {latent});
}

}  // namespace

std::vector<MeasuredRow> measured_rows() {
    std::ifstream file(FMSIM_SOURCE_DIR "/tests/data/kernels.json");
    const json tables = json::parse(file);
    std::vector<MeasuredRow> rows;
    for (const json& row : tables.at("gemm")) rows.push_back(product(row));
    for (const json& row : tables.at("attention")) add_attention(row, rows);
    for (const json& row : tables.at("memory_bandwidth")) add_bandwidth(row, rows);
    for (const json& row : tables.at("attention_peak_claims")) add_claim(row, rows);
    add_training(tables.at("gemm_in_training"), rows);
    return rows;
}

}  // namespace fmsim::test
