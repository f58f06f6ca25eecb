#include <catch2/catch.hpp>

#include "formats/imports.hpp"
#include "formats/refusal.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

Imported ec2(std::string_view text) { return import_ec2(text, "ec2.json", shipped(), {}); }

std::string instance(const std::string& id, const std::string& nodes, const std::string& type = "p5en.48xlarge",
                     const std::string& more = "") {
    return "{\"InstanceId\": \"" + id + "\", \"InstanceType\": \"" + type + "\", \"NetworkNodes\": " + nodes + more +
           "}";
}
std::string page(const std::string& instances, const std::string& more = "") {
    return "{\"Instances\": [" + instances + "]" + more + "}\n";
}

const std::string kA = instance("i-a", R"(["t1", "m1", "l1"])");
const std::string kB = instance("i-b", R"(["t1", "m1", "l2"])");
const std::string kC = instance("i-c", R"(["t1", "m2", "l3"])");

}  // namespace

TEST_CASE("network nodes go from the top down, and one for all is the fabric") {
    // t1: m1 (l1: a d, l2: b), m2 (l3: c)
    const Imported read = ec2(page(kA + "," + kB + "," + kC + "," + instance("i-d", R"(["t1", "m1", "l1"])")));
    CHECK(names_of(read.cluster) == "i-a i-d i-b i-c");
    CHECK(layers_of(read.cluster) == "network-node-layer-3. 2,1,1 | network-node-layer-2. 2");
    CHECK(build_topology(read.cluster).domains() == 4);
}

TEST_CASE("pages follow one another or stand in a list; a last token means that some are missing") {
    const std::string pages = page(kA, ", \"NextToken\": \"x\"") + page(kB);
    CHECK(names_of(ec2(pages).cluster) == "i-a i-b");
    CHECK_FALSE(has(notes_of(ec2(pages)), "NextToken"));
    CHECK(names_of(ec2("[" + page(kA) + "," + page(kB) + "]").cluster) == "i-a i-b");
    CHECK(has(notes_of(ec2(page(kA, ", \"NextToken\": \"x\""))), "the last page has a NextToken"));
}

TEST_CASE("types with four nodes and types with three live in one file") {
    const Imported read =
        ec2(page(kA + "," + kB + "," + instance("i-q", R"(["t1", "m2", "l3", "x1"])", "p6-b200.48xlarge")));
    CHECK(layers_of(read.cluster) == "network-node-layer-4. 1 | network-node-layer-3. 1 | network-node-layer-2. 2");
    CHECK(has(notes_of(read), "2 hosts have fewer than 4 switches above"));
}

TEST_CASE("a capacity block id marks an UltraServer; null is none yet") {
    std::string list;
    for (int i = 0; i < 18; ++i)
        list += instance("i-" + std::to_string(i), R"(["t", "m", "l"])", "p6e-gb200.36xlarge",
                         ", \"CapacityBlockId\": \"cb-1\"") +
                ",";
    const Imported read =
        ec2(page(list + instance("i-x", R"(["t", "m", "l"])", "p6e-gb200.36xlarge", ", \"CapacityBlockId\": null")));
    CHECK(domains_of(read.cluster) == "1 u-p6e-gb200x72 of 18, 1 p6e-gb200.36xlarge");
    CHECK(has(notes_of(read), "1 of p6e-gb200.36xlarge in no block"));
}

TEST_CASE("capacity reservations know the first nodes only") {
    const Imported read = ec2(
        R"({"CapacityReservations": [
            {"CapacityReservationId": "cr-1", "InstanceType": "p5.48xlarge", "NetworkNodes": ["t1"]},
            {"CapacityReservationId": "cr-2", "InstanceType": "p5.48xlarge", "NetworkNodes": ["t2", "m1"]}]})");
    CHECK(layers_of(read.cluster) == "network-node-layer-2. 1 | network-node-layer-1. 1");
    CHECK(has(notes_of(read), "2 capacity reservations counted as one instance each"));
}

TEST_CASE("what is no running instance, no type or no answer is refused with its place") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {page(instance("i", "null")),
         "ec2.json:1: /Instances/0/NetworkNodes: expected network nodes, which only a running instance has; found "
         "none"},
        {page(kA) + page(instance("i", "[]")), "ec2.json:2: /Instances/0/NetworkNodes: expected network nodes"},
        {page(instance("i", "[7]")), "/Instances/0/NetworkNodes/0: expected a text; found 7"},
        {page(instance("i", "[\"t\"]", "p5.47xlarge")),
         "ec2.json: host i: no such machine; did you mean \"p5.48xlarge\"?"},
        {page("{}"), "/Instances/0/InstanceId: expected a text; found none"},
        {page(kA + "," + kA), "ec2.json: host i-a: expected each host once"},
        {page(kA + "," + instance("i-e", R"(["t2", "m1", "l9"])")),
         "expected switch m1 below t1, as for the hosts before; found t2"},
        {"{\"Reservations\": []}",
         "ec2.json:1: expected an answer with Instances, CapacityReservations or InstanceTypes"},
        {"{\"Instances\": []}", "ec2.json: expected hosts; found none"},
        {page(kA) + "{\"Instances\": [", "ec2.json:2: "},
        {"", "ec2.json: expected hosts; found none"},
    }));
    INFO(text);
    CHECK_THAT(refusal([t = text] { ec2(t); }), Catch::Matchers::Contains(message));
}

TEST_CASE("what DescribeInstanceTypes counts must be what the catalogue says") {
    const auto types = [](const std::string& name, int gpus, int efas, int gbps) {
        return "{\"InstanceTypes\": [{\"InstanceType\": \"" + name +
               "\", \"GpuInfo\": {\"Gpus\": [{\"Name\": \"H200\", \"Count\": " + std::to_string(gpus) +
               "}]}, \"NetworkInfo\": {\"NetworkPerformance\": \"3200 Gigabit\", \"MaximumNetworkCards\": 16, " +
               "\"EfaInfo\": {\"MaximumEfaInterfaces\": " + std::to_string(efas) +
               "}, \"NetworkCards\": [{\"NetworkCardIndex\": 0, \"PeakBandwidthInGbps\": " + std::to_string(gbps) +
               ".0}]}}]}";
    };
    CHECK(domains_of(ec2(types("p5en.48xlarge", 8, 16, 200)).cluster) == "1 p5en.48xlarge");
    const std::string message = refusal([&] { ec2(types("p5en.48xlarge", 4, 8, 100)); });
    CHECK(has(message, "ec2.json: p5en.48xlarge: expected 8 GPUs, as in the catalogue; found 4"));
    CHECK(has(message, "expected 16 EFA interfaces, as in the catalogue; found 8"));
    CHECK(has(message, "expected 200 Gb/s a network card, as in the catalogue; found 100"));
    CHECK(has(notes_of(ec2(page(kA) + types("m5.large", 0, 0, 10))),
              "m5.large: the catalogue has no such type: it is left out"));
}
