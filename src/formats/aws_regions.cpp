// topologies/nccl/aws-regions.json: in which regions of bytes and ranks the AWS plugin overrules NCCL.
#include "fmsim/formats.hpp"
#include "nccl_facts.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

template <class All>
auto named(const All& all, const std::string& word) {
    for (const auto& one : all)
        if (name(one) == word) return one;
    return all.front();  // the schema knows the names
}

RegionTable table_of(const Spot& spot) {
    RegionTable table{.machine = spot["machine"].text(),
                      .ranks_a_domain = spot["ranks_a_domain"].count(),
                      .collective = named(kCollectives, spot["collective"].text()),
                      .regions = {}};
    const Spot regions = spot["regions"];
    for (std::size_t r = 0; r < regions.size(); ++r) {
        Region region{.algorithm = named(kAlgorithmKinds, regions[r]["algorithm"].text()),
                      .protocol = named(kProtocols, regions[r]["protocol"].text()),
                      .corners = {}};
        const Spot corners = regions[r]["corners"];
        for (std::size_t c = 0; c < corners.size(); ++c)
            region.corners.push_back({corners[c][std::size_t{0}].number(), corners[c][1].number()});
        table.regions.push_back(std::move(region));
    }
    return table;
}

AwsTuner::TreeChannels tree_channels_of(const Spot& spot) {
    AwsTuner::TreeChannels rule{.machine = spot["machine"].text(),
                                .ranks_a_domain = spot["ranks_a_domain"].count(),
                                .least = spot["least"].bytes(),
                                .most = spot["most"].bytes(),
                                .counts = {}};
    for (std::size_t i = 0; i < spot["counts"].size(); ++i) rule.counts.push_back(spot["counts"][i].count());
    return rule;
}

AwsTuner::PatChannels pat_channels_of(const Spot& spot) {
    AwsTuner::PatChannels rule{.machine = spot["machine"].text(),
                               .ranks_a_domain = spot["ranks_a_domain"].count(),
                               .most = spot["most"].bytes(),
                               .up_to = {}};
    const Spot rows = spot["up_to"];
    for (std::size_t i = 0; i < rows.size(); ++i)
        rule.up_to.emplace_back(rows[i][std::size_t{0}].bytes(), rows[i][1].count());
    return rule;
}

AwsTuner::Chunks chunks_of(const Spot& spot) {
    const auto whole = [&](const char* key) { return std::int64_t{spot[key].count()}; };
    return {.machine = spot["machine"].text(),
            .ranks_a_domain = spot["ranks_a_domain"].count(),
            .tree = whole("tree"),
            .tree_floor = whole("tree_floor"),
            .tree_half_depth = spot["tree_half_depth"].number(),
            .pat_many = whole("pat_many"),
            .pat_few = whole("pat_few"),
            .many_domains = whole("many_domains"),
            .pat_first_many = whole("pat_first_many"),
            .pat_first_few = whole("pat_first_few"),
            .pat_second = whole("pat_second"),
            .pat_third = whole("pat_third"),
            .pat_second_floor = whole("pat_second_floor"),
            .pat_third_floor = whole("pat_third_floor")};
}

}  // namespace

AwsTuner read_aws_tuner(const Files& files, const std::string& path, const std::string& wanted_by) {
    Document document(text_of(files, path, wanted_by), path, "aws-regions");
    const Spot root = document.root();
    AwsTuner aws{.version = root["name"].text(),
                 .machines = {},
                 .tables = {},
                 .least_domains = value(root["least_domains"]).count(),
                 .most_bytes = value(root["most_bytes"]).number(),
                 .most_ranks = value(root["most_ranks"]).number(),
                 .zero_bytes = value(root["zero_bytes"]).number(),
                 .on_edge = value(root["on_edge"]).number(),
                 .tree_channels = tree_channels_of(value(root["tree_channels"])),
                 .pat_channels = pat_channels_of(value(root["pat_channels"])),
                 .chunks = chunks_of(value(root["chunks"]))};
    const Spot machines = value(root["machines"]);
    for (const auto& [type, machine] : machines.json().items())
        aws.machines.emplace_back(type, machine.get<std::string>());
    const Spot tables = value(root["tables"]);
    for (std::size_t i = 0; i < tables.size(); ++i) aws.tables.push_back(table_of(tables[i]));
    document.finish();
    return aws;
}

}  // namespace fmsim
