// Any bytes as a file of another tool: the first byte says which. What becomes a small cluster is written as a file of
// ours and read again.
#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

using namespace fmsim;

Imported import(std::uint8_t kind, std::string_view text, const Catalogue& catalogue) {
    ImportOptions options;
    options.type = "p5en.48xlarge";
    switch (kind % 5) {
        case 0:
            return import_slurm_conf(text, "file", catalogue, options);
        case 1:
            return import_slurm_yaml(text, "file", catalogue, options);
        case 2:
            return import_ec2(text, "file", catalogue, options);
        case 3:
            return import_kubernetes(text, "file", catalogue, options);
        default:
            return import_nccl(text, "file", catalogue, options);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const Catalogue catalogue = Catalogue::shipped();
    return test::only_refusals_of(bytes, size, [](std::uint8_t kind, std::string_view text) {
        const Imported imported = import(kind, text, catalogue);
        std::uint64_t instances = 0;
        for (const DomainBlock& block : imported.cluster.blocks) instances += block.count;
        if (instances > 100) return;
        const std::string ours = to_cluster_file(imported.cluster, true);
        const Cluster again = parse_cluster(ours, "again.json", catalogue);
        test::require(again.blocks.size() == imported.cluster.blocks.size());
    });
}
