// Training plans, models in config.json form, Megatron's flags, NeMo's YAML and measured rows.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "refusal.hpp"

namespace fmsim {
using test::refusal;

TEST_CASE("a plan file reads to its plan") {
    const TrainingFile file =
        parse_training(R"({"kind": "training", "cluster": "p5en.48xlarge:16", "model": "llama3-70b",
        "sequence": 8192, "global_batch": 256, "precision": "fp8", "recompute": ["norms", "activations"],
        "parallel": {"tensor": 4, "pipeline": 4, "chunks": 5, "schedule": "1f1b"},
        "data": {"sharding": "zero1", "gradient_bits": 16}, "overlap": {"tensor": true}})",
                       "plan.json");
    CHECK(file.cluster == "p5en.48xlarge:16");
    CHECK(file.plan.model.hidden == 8192);
    CHECK(file.plan.tensor == 4);
    CHECK(file.plan.chunks == 5);
    CHECK(file.plan.precision == Precision::fp8);
    CHECK(file.plan.recompute.norms);
    CHECK_FALSE(file.plan.recompute.all);
    CHECK(file.plan.gradient_bits == 16);
    CHECK(file.plan.overlap.tensor);
    CHECK(is_training(R"({"kind": "training"})"));
    CHECK_FALSE(is_training(R"({"operations": []})"));
}

TEST_CASE("many plans: each is the base with what it says itself laid over it") {
    const char* const text = R"({"kind": "training_plans",
        "base": {"model": "llama3-8b", "sequence": 8192, "global_batch": 64, "recompute": "full",
                 "parallel": {"tensor": 2, "pipeline": 2}},
        "plans": [{"name": "a"}, {"parallel": {"tensor": 4}}, {"recompute": null, "global_batch": 128}]})";
    CHECK(is_training_plans(text));
    CHECK_FALSE(is_training_plans(R"({"kind": "training"})"));
    const std::vector<TrainingFile> plans = parse_training_plans(text, "plans.json");
    REQUIRE(plans.size() == 3);
    CHECK(plans[0].name == "a");
    CHECK(plans[1].name == "plan 1");
    CHECK(plans[1].plan.tensor == 4);
    CHECK(plans[1].plan.pipeline == 2);
    CHECK(plans[1].plan.recompute.all);
    CHECK_FALSE(plans[2].plan.recompute.all);
    CHECK(plans[2].plan.global_batch == 128);
}

TEST_CASE("a wrong plan among many is refused where the file has the value") {
    const auto refused = [](const std::string& plans) {
        const std::string text =
            R"({"kind": "training_plans", "base": {"model": "llama3-8b", "sequence": 1}, )" + plans;
        return refusal([&] { parse_training_plans(text, "p.json"); });
    };
    CHECK(refused(R"("plans": []})").find("/plans") != std::string::npos);
    CHECK(refused(R"("plans": [{"global_batch": 8}, {}]})").find("global_batch") != std::string::npos);
    CHECK(refused(R"("plans": [{"global_batch": 8}, {"global_batch": "8"}]})").find("/plans/1/global_batch") !=
          std::string::npos);
}

TEST_CASE("plans with wrong words are refused") {
    const auto refused = [](const std::string& text) { return refusal([&] { parse_training(text, "p.json"); }); };
    CHECK(refused(R"({"kind": "training", "model": "llama3-80b", "sequence": 1, "global_batch": 1})")
              .find("such as \"llama3-70b\"") != std::string::npos);
    CHECK(refused(R"({"kind": "training", "model": "llama3-8b", "sequence": 1})").find("global_batch") !=
          std::string::npos);
    CHECK(
        refused(R"({"kind": "training", "model": "llama3-8b", "sequence": 1, "global_batch": 1, "recompute": "some"})")
            .find("expected none, full, selective") != std::string::npos);
    CHECK(refused(R"({"kind": "training", "model": {"hidden_size": 8}, "sequence": 1, "global_batch": 1})")
              .find("expected num_hidden_layers") != std::string::npos);
}

TEST_CASE("every preset reads") {
    for (const std::string& name : model_presets()) {
        INFO(name);
        CHECK(parameters_of(model_preset(name)).all() > 0);
    }
}

TEST_CASE("a config.json with experts") {
    const TransformerModel model = parse_model_config(
        R"({"model_type": "example_moe", "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 24,
            "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 100000, "num_experts": 64,
            "num_experts_per_tok": 4, "moe_intermediate_size": 768, "torch_dtype": "bfloat16", "tie_word_embeddings": false})",
        "config.json");
    CHECK(model.experts->experts == 64);
    CHECK(model.experts->ffn == 768);
    CHECK(model.head_dim == 64);
    // Routed: 24 layers of 64 experts of 3 x 2048 x 768.
    CHECK(parameters_of(model).routed == std::int64_t{24} * 64 * 3 * 2048 * 768);
}

TEST_CASE("Megatron's flags") {
    const TrainingFile file = import_megatron(
        "torchrun --nproc_per_node 8 --nnodes 16 pretrain_gpt.py --num-layers 80 --hidden-size 8192 \\\n"
        "--num-attention-heads 64 --group-query-attention --num-query-groups 8 --ffn-hidden-size 28672 --swiglu\n"
        "--normalization RMSNorm --untie-embeddings-and-output-weights --disable-bias-linear --vocab-size 128256\n"
        "--position-embedding-type rope --seq-length 8192 --global-batch-size 128 --micro-batch-size 1\n"
        "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 5\n"
        "--sequence-parallel --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --bf16",
        "run.sh");
    CHECK(parameters_of(file.plan.model).all() == 70553706496);
    CHECK(file.plan.gpus == 128);
    CHECK(file.plan.chunks == 4);
    CHECK(file.plan.sharding == Sharding::zero1);
    CHECK(file.plan.overlap.gradients);
    CHECK_FALSE(file.plan.overlap.tensor);
    check(file.plan);
    CHECK(refusal([] { import_megatron("--num-layers 2", "run.sh"); }).find("expected hidden_size") !=
          std::string::npos);
    CHECK(refusal([] { import_megatron("--num-layers two", "run.sh"); }).find("expected a whole number") !=
          std::string::npos);
}

TEST_CASE("NeMo's YAML") {
    const TrainingFile file = import_nemo(
        "trainer: {num_nodes: 16, devices: 8}\n"
        "model:\n  micro_batch_size: 1\n  global_batch_size: 512\n  tensor_model_parallel_size: 8\n"
        "  pipeline_model_parallel_size: 4\n  virtual_pipeline_model_parallel_size: null\n  num_layers: 80\n"
        "  hidden_size: 8192\n  num_attention_heads: 64\n  encoder_seq_length: 4096\n",
        "llama.yaml");
    CHECK(file.plan.gpus == 128);
    CHECK(file.plan.tensor == 8);
    CHECK(file.plan.chunks == 1);
    CHECK(file.plan.sequence == 4096);
    CHECK(refusal([] {
              import_nemo("model: {num_layers: '${x.y}', hidden_size: 8}", "a.yaml");
          }).find("expected num_layers") != std::string::npos);
}

TEST_CASE("measured rows: a plan, or why there is none") {
    const std::vector<MeasuredStep> steps = parse_measured_steps(
        R"rows({"framework": "Megatron-Core", "defaults": "", "rows": [
            {"id": "a", "model": {"name": "m", "family": "Llama3", "type": "dense", "layers": 4, "hidden": 1024, "ffn": 4096,
              "heads": 8, "kv_heads": 8, "head_dim": 128, "vocab": 1000, "gated_mlp": true, "tied_embeddings": false},
             "hardware": {"gpu": "H100", "gpus": 8, "gpus_per_node": 8, "cluster": "hgx-h100:1"},
             "parallel": {"tp": 2, "pp": 1, "cp": 1, "ep": 1, "fsdp": "none (distributed optimizer)", "sequence_parallel": true},
             "batch": {"global_batch": 8, "micro_batch": "not stated", "seq_len": 2048}, "precision": "BF16",
             "recompute": "none", "overlap": "none", "measured": {"step_time_s": 1.5}, "confidence": "high"},
            {"id": "b", "model": {"type": "dense"}, "hardware": {"cluster": null}, "parallel": {}, "measured": {"mfu": 0.4}}]})rows",
        "dir/source.json");
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].source == "source");
    CHECK(steps[0].seconds == 1.5);
    REQUIRE(steps[0].plans.size() == 2);  // micro-batches of 1 and 2: 8 sequences over 4 ranks
    CHECK(steps[0].plans[1].micro_batch == 2);
    CHECK(steps[0].plans[0].sharding == Sharding::zero1);
    CHECK(steps[1].why == "no measured step time");
    CHECK_THROWS_AS(parse_measured_steps("{}", "x.json"), InputError);
}

TEST_CASE("measured rows: a number of chunks in quotes is a number, words leave it open") {
    const auto chunks = [](const std::string& vpp) {
        const std::string text =
            R"rows({"framework": "Megatron-Core", "defaults": "", "rows": [
            {"id": "a", "model": {"name": "m", "family": "Llama3", "type": "dense", "layers": 8, "hidden": 1024, "ffn": 4096,
              "heads": 8, "kv_heads": 8, "head_dim": 128, "vocab": 1000, "gated_mlp": true, "tied_embeddings": false},
             "hardware": {"gpu": "H100", "gpus": 8, "gpus_per_node": 8, "cluster": "hgx-h100:1"},
             "parallel": {"tp": 2, "pp": 2, "cp": 1, "ep": 1, "fsdp": "none (distributed optimizer)", "vpp": )rows" +
            vpp + R"rows(},
             "batch": {"global_batch": 8, "micro_batch": 1, "seq_len": 2048}, "precision": "BF16",
             "recompute": "none", "overlap": "none", "measured": {"step_time_s": 1.5}, "confidence": "high"}]})rows";
        std::vector<std::uint32_t> counts;
        const std::vector<MeasuredStep> steps = parse_measured_steps(text, "dir/source.json");
        for (const TrainingPlan& plan : steps.front().plans) counts.push_back(plan.chunks);
        return counts;
    };
    CHECK(chunks("4") == std::vector<std::uint32_t>{4});
    CHECK(chunks("\"4\"") == std::vector<std::uint32_t>{4});
    CHECK(chunks("\"none\"") == std::vector<std::uint32_t>{1});
    CHECK(chunks("\"not stated\"").size() > 1);
    CHECK(chunks("\"4 or so\"").size() > 1);
}

TEST_CASE("torchtitan's TOML") {
    TrainingFile file = import_torchtitan(
        "[model]\nname = \"llama3\"\nflavor = \"70B\"\n"
        "[training]\nlocal_batch_size = 2\nseq_len = 8192\n"
        "[parallelism]\ndata_parallel_replicate_degree = 2\ntensor_parallel_degree = 8\n"
        "[activation_checkpoint]\nmode = \"full\"\n[compile]\nenable = true\n",
        "a.toml");
    file.plan.gpus = 64;
    complete(file, {});
    const TrainingPlan& plan = file.plan;
    CHECK(plan.model.name == "llama3-70b");
    CHECK((plan.tensor == 8 && plan.sharding == Sharding::zero3 && plan.shard_group == 4));
    CHECK((plan.global_batch == 16 && plan.micro_batch == 2 && plan.sequence == 8192));
    CHECK((plan.recompute.all && plan.fused));
    check(plan);
}

TEST_CASE("torchtitan's older names, and what is refused") {
    const TrainingFile file = import_torchtitan(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n"
        "[training]\nbatch_size = 4\nseq_len = 4096\ndata_parallel_shard_degree = 8\n"
        "[experimental]\npipeline_parallel_degree = 2\n",
        "b.toml");
    CHECK((file.plan.gpus == 16 && file.plan.pipeline == 2 && file.plan.micro_batch == 1 && file.copy_batch == 4));
    CHECK(file.plan.sharding == Sharding::fsdp_whole);
    const auto refused = [](const char* text) { return refusal([&] { import_torchtitan(text, "c.toml"); }); };
    CHECK(refused("[model\n").find("c.toml:1") != std::string::npos);
    CHECK(refused("[model]\nname = \"llama3\"\nflavor = \"9B\"\n").find("/model/flavor") != std::string::npos);
    const std::string schedule = refused(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\npipeline_parallel_degree = 2\n"
        "pipeline_parallel_schedule = \"ZBVZeroBubble\"\n");
    CHECK(schedule.find("expected a schedule that is modelled") != std::string::npos);
    CHECK(schedule.find("c.toml:6") != std::string::npos);
    for (const char* text : {"6[\u0177\n", "\u0177 = 1\n", "[model]\n= 1\n", "[model]\n;a = 1\n"})
        CHECK(refused(text).find("expected TOML") != std::string::npos);
    CHECK(refused("[model]\nname = \"l\tl\"\nflavor = \"70B\"\n").find('\t') == std::string::npos);
    const TrainingFile commented = import_torchtitan(
        "\xEF\xBB\xBF# fran\u00e7ais \u0177\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n"
        "[training]\nbatch_size = 4\nseq_len = 4096\ndata_parallel_shard_degree = 8\n",
        "d.toml");
    CHECK(commented.plan.gpus == 8);
}

TEST_CASE("Megatron's flags of DeepSeek-V3, and layers that are not modelled") {
    const std::string text =
        "torchrun pretrain_gpt.py --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 "
        "--seq-length 4096 --global-batch-size 8192 --micro-batch-size 1 --multi-latent-attention --q-lora-rank 1536 "
        "--kv-lora-rank 512 --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --mtp-num-layers 1 "
        "--moe-layer-freq '([0]*3+[1]*58)' --recompute-granularity selective --recompute-modules mla_up_proj moe_act "
        "--expert-model-parallel-size 64 --bf16";
    const TrainingFile file = import_megatron(text, "run.sh");
    REQUIRE(file.plan.model.latent);
    CHECK((file.plan.model.latent->kv_rank == 512 && file.plan.model.latent->rope == 64));
    CHECK((file.plan.model.experts->first_dense == 3 && file.plan.model.mtp_layers == 1));
    CHECK((file.plan.recompute.latent_up && file.plan.recompute.activations && !file.plan.recompute.attention));
    CHECK_FALSE(file.plan.recompute.experts);
    CHECK(refusal([&] {
              import_megatron(text + " --hybrid-override-pattern M-M*", "run.sh");
          }).find("/hybrid_override_pattern") != std::string::npos);
}

}  // namespace fmsim
