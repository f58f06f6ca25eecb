// Any words as a cluster, and any bytes as a file of the catalogue.
//
// The first line is the words, the second the path of the file to replace, the rest what to replace it with. What is
// read is also built, when it is small.
#include "fmsim/formats.hpp"
#include "fmsim/kernels.hpp"
#include "fmsim/topology.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

constexpr std::uint32_t kMostParts = 64;

std::string_view first_line(std::string_view& rest) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    std::string_view rest = test::as_text(bytes, size);
    const auto words = first_line(rest);
    const auto path = first_line(rest);
    auto files = Catalogue::shipped().files();
    if (!rest.empty()) files[std::string(path)] = rest;
    const Catalogue catalogue(std::move(files));
    if (path.starts_with("nccl/")) {
        test::require(catalogue.hash().size() == 16);
        test::only_refusals([&] { catalogue.nccl(); });
        return 0;
    }
    if (path.starts_with("kernels/")) {
        test::only_refusals([&] {
            const Gpu gpu = catalogue.instance("p5.48xlarge").gpu;
            try {
                const KernelFacts facts = catalogue.kernels(gpu);
                time_of(Gemm{.m = 100, .n = 200, .k = 300}, gpu, facts);
                time_of(Attention{.heads = 1, .kv_heads = 1, .queries = 100, .keys = 100, .qk_dim = 64, .v_dim = 64},
                        gpu, facts);
            } catch (const Infeasible&) {
                // The file no longer speaks of this GPU.
            }
        });
        return 0;
    }
    test::only_refusals([&] {
        Cluster cluster = catalogue.cluster(words);
        test::require(cluster.blocks.size() == 1 && cluster.blocks[0].count >= 1);
        const DomainType& type = cluster.blocks[0].type;
        if (type.gpus() > kMostParts || type.instances * type.instance.nics > kMostParts) return;
        cluster.blocks[0].count = std::min(cluster.blocks[0].count, 3u);
        build_topology(cluster);
    });
    return 0;
}
