// The catalogue: what p5.48xlarge reads to, words that name no cluster, and the hash of all values.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using test::refusal;
using Files = std::map<std::string, std::string>;

json file(const std::string& path) { return json::parse(Catalogue::shipped().files().at(path)); }
std::string word(const json& spot) { return spot.at("value").get<std::string>(); }
BytesPerSecond rate(const json& spot) { return parse_rate(word(spot)).value(); }
SimTime span(const json& spot) { return parse_span(word(spot)).value(); }

TEST_CASE("the GPU and its NVLink read to the values of their files") {
    const InstanceType type = Catalogue::shipped().instance("p5.48xlarge");
    const json gpu = file("gpus/h100-sxm5-80gb.json");
    CHECK(type.gpu.name == "h100-sxm5-80gb");
    CHECK(type.gpu.compute_capability == gpu["compute_capability"]["value"]);
    CHECK(gpu["channels"]["value"] == "hopper");
    const json channels = file("channels/hopper.json");
    CHECK(type.gpu.launch == span(channels["launch"]));
    CHECK(type.gpu.receive_share == channels["receive_share"]["value"]);
    CHECK(type.gpu.tree_fan_cost[2] == channels["tree_fan_cost"]["value"][2]);
    const json nvlink = file("links/nvlink4.json");
    CHECK(type.nvlink->switch_chunk_cost == span(nvlink["switch_chunk_cost"]));
    CHECK(type.nvlink->switch_block_cost == span(nvlink["switch_block_cost"]));
    CHECK(type.nvlink->name == "nvlink4");
    CHECK(type.nvlink->rate == 450_GBps);
    CHECK(type.nvlink->efficiency == nvlink["ring_efficiency"]["value"]);
    CHECK(type.nvlink->wire_latency == span(nvlink["wire_latency"]));
    for (const Protocol protocol : kProtocols) {
        const std::string key(name(protocol));
        CHECK(type.gpu.channel_rate[protocol] == rate(channels["rate"][key]));
        CHECK(type.gpu.unit_cost[protocol] == span(channels["unit_cost"][key]));
        CHECK(type.gpu.transfer_share[protocol] == channels["transfer_share"][key]["value"]);
        CHECK(type.nvlink->hop_latency[protocol] == span(nvlink["hop_latency"][key]));
    }
}

TEST_CASE("the NIC reads to the values of its file") {
    const InstanceType type = Catalogue::shipped().instance("p5.48xlarge");
    const json nic = file("nics/efa-v2.json");
    CHECK(type.nic->name == "efa-v2");
    CHECK(type.nic->fabric == "EFA");
    CHECK(type.nic->rate == 100_Gbps);
    CHECK(type.nic->carries == rate(nic["carries"]));
    CHECK(type.nic->wire_latency == span(nic["wire_latency"]));
    CHECK(type.nic->reported_latency == span(nic["reported_latency"]));
    for (const Protocol protocol : kProtocols)
        CHECK(type.nic->hop_latency[protocol] == span(nic["hop_latency"][std::string(name(protocol))]));
}

TEST_CASE("p5.48xlarge has 8 GPUs and 32 NICs, four a GPU on one switch") {
    const InstanceType type = Catalogue::shipped().instance("p5.48xlarge");
    const json instance = file("instances/p5.48xlarge.json");
    CHECK(type.name == "p5.48xlarge");
    CHECK(type.gpus == 8);
    CHECK(type.nics == 32);
    CHECK(type.rails == 4);
    CHECK(type.cpu == CpuVendor::amd);
    CHECK(type.pcie_gpu == rate(instance["pcie"]["gpu_rate"]));
    CHECK(type.pcie_nic == rate(instance["nics"]["pcie_rate"]));
    CHECK(type.pcie_host == rate(instance["pcie"]["host_rate"]));
    CHECK(type.numa == rate(instance["pcie"]["numa_rate"]));
    CHECK(type.pcie_root == rate(instance["pcie"]["root_rate"]));
    CHECK(type.numa_memory == rate(instance["pcie"]["memory_rate"]));
    REQUIRE(type.switches.size() == 8);
    for (std::uint32_t i = 0; i < 8; ++i) {
        CHECK(type.switches[i].numa == i / 4);
        CHECK(type.switches[i].gpus == std::vector{i});
        CHECK(type.switches[i].nics == std::vector{4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
    }
}

TEST_CASE("what NCCL makes of p5.48xlarge reads to the values of its file") {
    const DomainType domain = Catalogue::shipped().domain("p5.48xlarge");
    const json nccl = file("instances/p5.48xlarge.json")["nccl"];
    CHECK(domain.instance.simple_buffer == parse_bytes(word(nccl["buffer"])));
    const auto check_search = [](const RingSearch& search, const json& in) {
        CHECK(search.crosses_nics == in["crosses_nics"]["value"]);
        CHECK(search.intra == rate(in["path_intra_rate"]));
        CHECK(search.inter == rate(in["path_inter_rate"]));
        const json& paths = in["paths"]["value"];
        REQUIRE(search.paths.size() == paths.size());
        for (std::size_t i = 0; i < paths.size(); ++i) {
            CHECK(search.paths[i].gpus == paths[i]["gpus"].get<std::vector<std::uint32_t>>());
            CHECK(search.paths[i].enter_group == paths[i]["enter"]);
            CHECK(search.paths[i].leave_group == paths[i]["leave"]);
        }
    };
    check_search(domain.alone, nccl["alone"]);
    check_search(domain.several, nccl["several"]);
}

TEST_CASE("NCCL's facts read to the values of its file") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const json in = file("nccl/2.30.7.json");
    CHECK(nccl.version == "2.30.7");
    CHECK(nccl.shape.buffer_steps == in["execution"]["buffer_steps"]["value"]);
    CHECK(nccl.shape.launch[Protocol::ll] == span(in["execution"]["launch"]["LL"]));
    CHECK(nccl.shape.protocols[Protocol::ll].wire_per_data == 2);
    CHECK(nccl.shape.protocols[Protocol::ll128].wire_per_data == 128.0 / 120);
    CHECK(nccl.shape.protocols[Protocol::simple].wire_per_data == 1);
    CHECK(nccl.shape.protocols[Protocol::simple].buffer == Bytes{0});  // the platform's
    CHECK(nccl.shape.least_traffic == parse_bytes(word(in["execution"]["split"]["least_traffic"])));
    CHECK(nccl.tuning.ll_most_gbps[2][1] == in["tuning"]["ll_most_GBps"]["value"][2][1]);
    CHECK(nccl.tuning.plateau_bytes == in["tuning"]["plateau_bytes"]["value"]);
    CHECK(nccl.tuning.base_us[AlgorithmKind::ring][Protocol::ll128] == in["tuning"]["base_us"]["value"]["Ring"][1]);
    CHECK(nccl.tuning.tree_correction[Protocol::simple].size() == 24);
    CHECK(nccl.threads.most[Protocol::ll128] == in["threads"]["most"]["value"]["LL128"]);
    CHECK(nccl.search.inter_gbps[3].front() == 96);
    CHECK(nccl.channels.nvls_blackwell_between.front().chunk == Bytes{256 << 10});
    CHECK(nccl.chunks.nvls_tree.size() == 4);
    CHECK(nccl.transfers.nvlink_chunk == Bytes{512 << 10});
    CHECK(nccl.aws.tables.size() == 23);
    CHECK(nccl.aws.tables.front().regions.front().corners.front()[0] == 4194304);
}

TEST_CASE("every instance type of the catalogue reads and builds") {
    const auto names = Catalogue::shipped().names();
    REQUIRE_FALSE(names.empty());
    for (const std::string& name : names) CHECK(build_topology(Catalogue::shipped().cluster(name)).gpus() > 0);
}

TEST_CASE("a cluster is an instance type and a count, one if there is none") {
    const auto [words, count] = GENERATE(table<std::string, std::uint32_t>({
        {"p5.48xlarge", 1},
        {"p5.48xlarge:1", 1},
        {"p5.48xlarge:2", 2},
        {"p5.48xlarge:20000", 20'000},
    }));
    const Cluster cluster = Catalogue::shipped().cluster(words);
    REQUIRE(cluster.blocks.size() == 1);
    CHECK(cluster.blocks[0].count == count);
    CHECK(cluster.name == words);
    CHECK(cluster.blocks[0].type.instance.name == "p5.48xlarge");
}

TEST_CASE("an instance type that does not exist is refused, with the nearest that does") {
    const auto [words, message] = GENERATE(table<std::string, std::string>({
        {"p5.48xlrage", R"("p5.48xlrage": no such machine; did you mean "p5.48xlarge"?)"},
        {"p5.48xlarg:2", R"("p5.48xlarg": no such machine; did you mean "p5.48xlarge"?)"},
    }));
    CHECK(refusal([&] { Catalogue::shipped().cluster(words); }) == message);
    const std::string other = GENERATE("m7i.large", "", ":2", "../gpus/h100-sxm5-80gb", "p5.48xlarge.json");
    CHECK_THAT(refusal([&] { Catalogue::shipped().cluster(other); }), Catch::Matchers::Contains("machine"));
}

TEST_CASE("a count that is no number of machines is refused") {
    const std::string words =
        GENERATE("p5.48xlarge:0", "p5.48xlarge:-1", "p5.48xlarge:1e9", "p5.48xlarge:4294967297",
                 "p5.48xlarge:99999999999999999999", "p5.48xlarge:", "p5.48xlarge: 2", "p5.48xlarge:2 ",
                 "p5.48xlarge:two", "p5.48xlarge:+2", "::", ":", "p5.48xlarge:2:");
    CHECK(refusal([&] { Catalogue::shipped().cluster(words); }) ==
          "\"" + words + "\": expected a cluster such as \"p5en.48xlarge:16\", with a count of 1 or more");
}

TEST_CASE("more than a million GPUs are refused") {
    CHECK(Catalogue::shipped().cluster("p5.48xlarge:125000").blocks[0].count == 125'000);
    CHECK_THAT(refusal([&] { Catalogue::shipped().cluster("p5.48xlarge:125001"); }), Catch::Matchers::Contains("GPUs"));
}

TEST_CASE("a part that the catalogue lacks, or that is wrong, is refused with its file") {
    Files files = Catalogue::shipped().files();
    files.erase("nics/efa-v2.json");
    CHECK(refusal([&] { Catalogue(files).instance("p5.48xlarge"); }) ==
          "instances/p5.48xlarge.json: expected a file of the catalogue; found nics/efa-v2.json");

    files = Catalogue::shipped().files();
    json nic = file("nics/efa-v2.json");
    nic["rate"]["value"] = "100 Gigs";
    nic["carries"]["value"] = "0 GB/s";
    nic["wire_latency"]["value"] = "9";
    files["nics/efa-v2.json"] = nic.dump(1);
    const std::string message = refusal([&] { Catalogue(files).instance("p5.48xlarge"); });
    CHECK_THAT(message, Catch::Matchers::Contains("/rate/value: expected a rate above 0"));
    CHECK_THAT(message, Catch::Matchers::Contains("/carries/value: expected a rate above 0"));
    CHECK_THAT(message, Catch::Matchers::Contains("/wire_latency/value: expected a time with a unit"));

    files = Catalogue::shipped().files();
    json instance = file("instances/p5.48xlarge.json");
    instance["pcie"]["switches"]["value"][0]["gpus"][0] = 4'294'967'296;  // 0, were it cut to 32 bits
    files["instances/p5.48xlarge.json"] = instance.dump();
    CHECK_THAT(refusal([&] { Catalogue(files).instance("p5.48xlarge"); }),
               Catch::Matchers::Contains("/pcie/switches/value/0/gpus/0: expected a whole number"));
}

// Each value of `root` in turn is changed, `check` called, and the value put back.
template <class Check>
void change_each(json& root, json& at, Check check) {
    if (at.is_structured()) {
        for (json& child : at) change_each(root, child, check);
        return;
    }
    const json before = at;
    at = before.is_number()    ? json(before.get<double>() + 1)
         : before.is_boolean() ? json(!before.get<bool>())
                               : json("other");
    check(root);
    at = before;
}

TEST_CASE("the hash changes with any value of any file") {
    const Files files = Catalogue::shipped().files();
    const std::string hash = Catalogue(files).hash();
    std::size_t changes = 0;
    for (const auto& [path, text] : files) {
        json root = json::parse(text);
        change_each(root, root, [&](const json& changed) {
            Files other{{path, changed.dump()}};
            CHECK(Catalogue(other).hash() != Catalogue(Files{{path, text}}).hash());
            ++changes;
        });
        Files renamed = files;
        renamed.erase(path);
        CHECK(Catalogue(renamed).hash() != hash);
        renamed["other/" + path] = text;
        CHECK(Catalogue(renamed).hash() != hash);
    }
    CHECK(changes > 400);
}

TEST_CASE("the hash does not change with layout or the order of keys") {
    Files files = Catalogue::shipped().files();
    const std::string hash = Catalogue(files).hash();
    for (auto& [path, text] : files) text = json::parse(text).dump(7) + "\n\n";
    CHECK(Catalogue(files).hash() == hash);
    CHECK(Catalogue(Files{{"a", R"({"b": 1, "c": 2})"}}).hash() == Catalogue(Files{{"a", R"({"c":2,"b":1})"}}).hash());
}

TEST_CASE("a file that is no JSON has a hash too, and is refused when it is read") {
    const Files one{{"instances/a.json", "{"}}, other{{"instances/a.json", "{ "}};
    CHECK(Catalogue(one).hash() != Catalogue(other).hash());
    CHECK_THAT(refusal([&] { Catalogue(one).instance("a"); }), Catch::Matchers::Contains("expected JSON"));
}

TEST_CASE("the hash is CRC-64/XZ") { CHECK(hash_of("123456789") == "995dc9bbdf1939fa"); }

}  // namespace
}  // namespace fmsim
