// Any bytes as a cluster file, and as a host file of a small cluster. What is read is also built, when it is small.
#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "fmsim/topology.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    static const Catalogue catalogue = Catalogue::shipped();
    static const Topology small = build_topology(catalogue.cluster("p5.48xlarge:3"));
    const auto text = test::as_text(bytes, size);
    test::only_refusals([&] { test::require(!parse_hosts(text, "hosts", small).empty()); });
    test::only_refusals([&] { test::require(!parse_placement(text, "list", small).empty()); });
    test::only_refusals([&] {
        const Cluster cluster = parse_cluster(text, "cluster.json", catalogue);
        std::uint64_t gpus = 0;
        for (const DomainBlock& block : cluster.blocks) gpus += std::uint64_t{block.count} * block.type.gpus();
        if (cluster.graph) {
            if (cluster.graph->devices.size() > 1000 || cluster.graph->links.size() > 5000) return;
            const Topology net = build_topology(cluster);
            test::require(parse_cluster(to_cluster_file(cluster, false), "again.json", catalogue).graph.has_value());
            group_of(linear_placement(net, 0, 0));
            return;
        }
        if (gpus > 1000) return;
        const Topology net = build_topology(cluster);
        const Placement everyone = linear_placement(net, 0, 0);
        test::require(everyone.size() == gpus);
        group_of(everyone);
    });
    return 0;
}
