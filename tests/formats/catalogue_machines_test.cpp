#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "fmsim/formats.hpp"

using namespace fmsim;

namespace {

const Catalogue& shipped() {
    static const Catalogue catalogue = Catalogue::shipped();
    return catalogue;
}

const std::vector<std::string> kBoards{"a100", "h100", "h100-500w", "h200", "h800", "b200", "b300"};

// All that the catalogue can name: its files, and each HGX board with each NIC.
std::vector<std::string> all_machines() {
    std::vector<std::string> names = shipped().names();
    for (const std::string& board : kBoards) {
        names.push_back("hgx-" + board);
        for (const char* nics : {"-8x100", "-16x200", "-8x400", "-4x800"})
            for (const char* fabric : {"", "-roce"}) names.push_back("hgx-" + board + nics + fabric);
    }
    return names;
}

double gib(Bytes size) { return static_cast<double>(size.count) / 0x1p30; }
double gbps(BytesPerSecond rate) { return rate.value * 8e-9; }
double gigabytes(BytesPerSecond rate) { return rate.value * 1e-9; }

bool each_once(std::vector<std::uint32_t> numbers, std::uint32_t count) {
    std::sort(numbers.begin(), numbers.end());
    std::vector<std::uint32_t> wanted(count);
    std::iota(wanted.begin(), wanted.end(), 0u);
    return numbers == wanted;
}

bool sound(const DomainType& domain, const RingSearch& search) {
    for (const RingPath& path : search.paths) {
        if (!each_once(path.gpus, domain.gpus())) return false;
        if (domain.groups() > 0 && std::max(path.enter_group, path.leave_group) >= domain.groups()) return false;
    }
    return !search.paths.empty() && search.intra.value > 0 && search.inter.value > 0;
}

std::string problem_of(const std::string& words) {
    try {
        shipped().cluster(words);
    } catch (const InputError& error) {
        return to_text(error.problems.at(0));
    }
    return "none";
}

using Rings = std::vector<std::vector<std::uint32_t>>;
Rings first_rings(const RingSearch& search, std::size_t count) {
    Rings rings;
    for (std::size_t i = 0; i < count; ++i) rings.push_back(search.paths.at(i).gpus);
    return rings;
}
// Enter and leave of each path, in turn.
std::vector<std::uint32_t> groups_of(const RingSearch& search) {
    std::vector<std::uint32_t> groups;
    for (const RingPath& path : search.paths) groups.insert(groups.end(), {path.enter_group, path.leave_group});
    return groups;
}

}  // namespace

TEST_CASE("every machine of the catalogue loads and fits together") {
    for (const std::string& name : all_machines()) {
        INFO(name);
        const DomainType domain = shipped().domain(name);
        const InstanceType& type = domain.instance;
        CHECK(domain.name == name);
        CHECK((domain.instances > 1 || type.name == name));
        std::vector<std::uint32_t> gpus, nics;
        for (const PcieSwitch& pcie : type.switches) {
            gpus.insert(gpus.end(), pcie.gpus.begin(), pcie.gpus.end());
            nics.insert(nics.end(), pcie.nics.begin(), pcie.nics.end());
        }
        CHECK(each_once(gpus, type.gpus));
        CHECK(each_once(nics, type.nics));
        CHECK(type.nic.has_value() == (type.nics > 0));
        CHECK(type.nvlink.has_value() == (type.gpus > 1));
        if (type.nics > 0) {
            CHECK(type.nics == type.groups() * type.rails);
            CHECK(type.nic->carries < type.nic->rate);
            CHECK(type.nic->rate <= type.pcie_nic);
            CHECK(type.nic->wire_latency < type.nic->hop_latency[Protocol::ll]);
        }
        CHECK(type.gpu.peak.contains("bf16"));
        CHECK(type.gpu.channel_rate[Protocol::ll] < type.gpu.channel_rate[Protocol::ll128]);
        CHECK(type.gpu.channel_rate[Protocol::ll128] < type.gpu.channel_rate[Protocol::simple]);
        CHECK(sound(domain, domain.alone));
        CHECK(sound(domain, domain.several));
    }
}

TEST_CASE("no file of the catalogue is without a machine that uses it") {
    std::set<std::string> used{"hgx.json", "nccl/2.30.7.json", "nccl/aws-regions.json", "training.json"};
    for (const std::string& name : shipped().names())
        for (const char* folder : {"instances/", "domains/"}) used.insert(folder + name + ".json");
    for (const std::string& name : all_machines()) {
        const InstanceType type = shipped().domain(name).instance;
        const std::string gpu = "gpus/" + type.gpu.name + ".json";
        used.insert(gpu);
        const auto channels = nlohmann::json::parse(shipped().files().at(gpu))["channels"]["value"];
        used.insert("channels/" + channels.get<std::string>() + ".json");
        if (type.nvlink) used.insert("links/" + type.nvlink->name + ".json");
        if (type.nic) used.insert("nics/" + type.nic->name + ".json");
        used.insert("kernels/" + shipped().kernels(type.gpu).name + ".json");
    }
    for (const Dispatcher& dispatcher : shipped().dispatchers()) used.insert("moe/" + dispatcher.name + ".json");
    for (const auto& [path, text] : shipped().files()) {
        INFO(path);
        CHECK(used.contains(path));
    }
}

TEST_CASE("totals of AWS machines are the published ones") {
    // EFA one direction; NVLink both directions of all GPUs, as advertised; HBM in GiB.
    const auto [name, gpus, efa_gbps, nvlink_tbps, hbm_gib, host_gib] =
        GENERATE(table<std::string, std::uint32_t, double, double, double, double>({
            {"p4d.24xlarge", 8, 400, 4.8, 320, 1152},
            {"p4de.24xlarge", 8, 400, 4.8, 640, 1152},
            {"p5.4xlarge", 1, 100, 0, 80, 256},
            {"p5.48xlarge", 8, 3200, 7.2, 640, 2048},
            {"p5e.48xlarge", 8, 3200, 7.2, 1128, 2048},
            {"p5en.48xlarge", 8, 3200, 7.2, 1128, 2048},
            {"p6-b200.48xlarge", 8, 3200, 14.4, 1432, 2048},
            {"p6-b300.48xlarge", 8, 6400, 14.4, 2148.7, 4096},
            {"p6e-gb200.36xlarge", 4, 1600, 7.2, 740, 960},
            {"p6e-gb300.36xlarge", 4, 1600, 7.2, 1112, 960},
            {"u-p6e-gb200x36", 36, 14'400, 64.8, 6660, 8640},
            {"u-p6e-gb200x72", 72, 28'800, 129.6, 13'320, 17'280},
            {"u-p6e-gb300x72", 72, 28'800, 129.6, 20'016, 17'280},
        }));
    INFO(name);
    const DomainType domain = shipped().domain(name);
    const InstanceType& type = domain.instance;
    CHECK(domain.gpus() == gpus);
    CHECK(type.nics * domain.instances * gbps(type.nic->rate) == Approx(efa_gbps));
    const double nvlink = type.nvlink ? type.nvlink->rate.value : 0;
    CHECK(domain.gpus() * 2 * nvlink * 1e-12 == Approx(nvlink_tbps));
    CHECK(domain.gpus() * gib(type.gpu.memory) == Approx(hbm_gib).epsilon(5e-4));
    CHECK(domain.instances * gib(type.host_memory) == Approx(host_gib));
}

TEST_CASE("where sources disagree, the rulings hold") {
    const InstanceType p5en = shipped().instance("p5en.48xlarge");
    const InstanceType gb200 = shipped().instance("p6e-gb200.36xlarge");
    CHECK(p5en.nics == 16);                               // not 32
    CHECK(gbps(p5en.nic->rate) == Approx(200));           //
    CHECK(gigabytes(p5en.nvlink->rate) == Approx(450));   // 900 is both directions
    CHECK(gigabytes(gb200.nvlink->rate) == Approx(900));  // 1800 is both directions
    CHECK(gb200.nics == 4);                               // 8 cards, half of which may be used
    CHECK(gb200.nic->hop_latency[Protocol::ll] == p5en.nic->hop_latency[Protocol::ll]);  // EFA v3 by AWS's table
    CHECK(shipped().instance("p5.48xlarge").on_demand->usd_an_hour == 55.04);            // not 98.32
    CHECK(shipped().instance("p4d.24xlarge").on_demand->usd_an_hour == 21.957642);
    CHECK(shipped().instance("p4d.24xlarge").on_demand->date == "2026-07-20");
    CHECK(shipped().instance("p5e.48xlarge").on_demand == std::nullopt);  // capacity blocks only
    CHECK(shipped().instance("p5e.48xlarge").capacity_block->usd_an_hour == 39.799);
    CHECK(shipped().instance("p6-b300.48xlarge").gpu.peak.at("fp4").value == 13.5e15);
    CHECK(shipped().instance("p6e-gb300.36xlarge").gpu.peak.at("fp4").value == 15e15);
    CHECK(p5en.gpu.memory == Bytes{141ll << 30});  // GiB, though sold as 141 GB
    CHECK(shipped().instance("p6-b200.48xlarge").gpu.memory == Bytes{183'359ll << 20});
}

TEST_CASE("what a machine lacks is absent") {
    const InstanceType lone = shipped().instance("p5.4xlarge");
    CHECK_FALSE(lone.nvlink);
    CHECK_FALSE(lone.gpudirect);
    CHECK_FALSE(shipped().instance("hgx-h100").nic);
    CHECK(shipped().instance("hgx-h100").groups() == 0);
    CHECK_FALSE(shipped().instance("hgx-h100").on_demand);
    CHECK_FALSE(shipped().instance("p4d.24xlarge").gpu.peak.contains("fp8"));
    CHECK_FALSE(shipped().instance("p5.48xlarge").gpu.peak.contains("fp4"));
    CHECK_FALSE(shipped().instance("p4d.24xlarge").nvlink->multicast);
    CHECK(shipped().instance("p5.48xlarge").nvlink->multicast);
    CHECK(shipped().instance("p4d.24xlarge").drives == 8);
    CHECK(shipped().instance("p4d.24xlarge").drive == Bytes{1'000'000'000'000});
}

TEST_CASE("an HGX machine is read from its name") {
    // 16 NICs beside 8 GPUs: two each, one device of two ports to NCCL. 4 beside 8: every other GPU has one.
    const InstanceType a100 = shipped().instance("hgx-a100-16x100");
    CHECK(a100.nics == 16);
    CHECK(a100.rails == 2);
    CHECK(a100.switches.at(3).nics == std::vector<std::uint32_t>{6, 7});
    CHECK(a100.switches.at(3).numa == 0);
    CHECK(a100.switches.at(4).numa == 1);
    CHECK(gbps(a100.nic->rate) == Approx(100));
    CHECK(a100.cpu == CpuVendor::amd);

    const InstanceType few = shipped().instance("hgx-a100-4x200");
    CHECK(few.rails == 1);
    CHECK(few.switches.at(2).nics == std::vector<std::uint32_t>{1});
    CHECK(few.switches.at(3).nics.empty());

    const InstanceType slow = shipped().instance("hgx-h100-500w-8x400");
    CHECK(gib(slow.gpu.memory) == 96);
    CHECK(slow.nic->fabric == "InfiniBand");
    CHECK(slow.nic->spreading == Spreading::spray);
    const InstanceType roce = shipped().instance("hgx-h100-8x400-roce");
    CHECK(roce.nic->fabric == "RoCE");
    CHECK(roce.nic->spreading == Spreading::hash);
    CHECK(gigabytes(shipped().instance("hgx-h800").nvlink->rate) == Approx(200));  // 400 GB/s is both directions
}

TEST_CASE("every cluster that published measurements name resolves") {
    const auto [words, domains, gpus] = GENERATE(table<std::string, std::uint32_t, std::uint32_t>({
        {"gb200-nvl72:1", 1, 72},
        {"gb200-nvl72:20", 20, 1440},
        {"gb200-nvl72:128", 128, 9216},
        {"gb300-nvl72:2", 2, 144},
        {"gb300-nvl72:64", 64, 4608},
        {"hgx-a100-16x100:2", 2, 16},
        {"hgx-a100-1x400:16", 16, 128},
        {"hgx-a100-4x200:2", 2, 16},
        {"hgx-a100-8x200:1400", 1400, 11'200},
        {"hgx-a100:1", 1, 8},
        {"hgx-b200-8x400:67", 67, 536},
        {"hgx-b200:1", 1, 8},
        {"hgx-b300-8x800:32", 32, 256},
        {"hgx-h100-2x400:12", 12, 96},
        {"hgx-h100-500w-8x400:64", 64, 512},
        {"hgx-h100-8x400:2048", 2048, 16'384},
        {"hgx-h100:1", 1, 8},
        {"hgx-h200-8x400:64", 64, 512},
        {"hgx-h200:1", 1, 8},
        {"hgx-h800-8x400:256", 256, 2048},
        {"p4d.24xlarge:16", 16, 128},
        {"p4de.24xlarge:2", 2, 16},
        {"p5.48xlarge:64", 64, 512},
        {"p5en.48xlarge:8", 8, 64},
        {"p6-b200.48xlarge:4", 4, 32},
        {"p6-b300.48xlarge:32", 32, 256},
        {"u-p6e-gb200x72", 1, 72},
    }));
    const Cluster cluster = shipped().cluster(words);
    CHECK(cluster.name == words);
    CHECK(cluster.blocks.size() == 1);
    CHECK(cluster.blocks[0].count == domains);
    CHECK(cluster.blocks[0].count * cluster.blocks[0].type.gpus() == gpus);
}

TEST_CASE("rings are those that NCCL's own search found") {
    const RingSearch p5 = shipped().domain("p5.48xlarge").several;
    CHECK(first_rings(p5, 8) == Rings{{0, 7, 6, 5, 4, 3, 2, 1},
                                      {1, 2, 3, 4, 5, 6, 7, 0},
                                      {2, 1, 0, 7, 6, 5, 4, 3},
                                      {3, 4, 5, 6, 7, 0, 1, 2},
                                      {4, 3, 2, 1, 0, 7, 6, 5},
                                      {5, 6, 7, 0, 1, 2, 3, 4},
                                      {6, 5, 4, 3, 2, 1, 0, 7},
                                      {7, 0, 1, 2, 3, 4, 5, 6}});
    CHECK(groups_of(p5) == std::vector<std::uint32_t>{0, 1, 1, 0, 2, 3, 3, 2, 4, 5, 5, 4, 6, 7, 7, 6});

    const RingSearch p5en = shipped().domain("p5en.48xlarge").several;
    CHECK(first_rings(p5en, 2) == Rings{{1, 2, 3, 4, 5, 6, 7, 0}, {0, 7, 6, 5, 4, 3, 2, 1}});
    CHECK(groups_of(p5en) == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7});

    const RingSearch b300 = shipped().domain("p6-b300.48xlarge").several;
    CHECK(first_rings(b300, 2) == Rings{{0, 7, 6, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 0}});
    CHECK(b300.paths.at(0).leave_group == 1);
    CHECK(b300.paths.at(1).leave_group == 0);

    // 0 71 70 ... 1; 1 0 71 ... 2; 2 1 0 71 ... 3; then 3 4 ... 71 0 1 2. In and out by the NIC of the first GPU.
    for (const char* rack : {"u-p6e-gb200x72", "u-p6e-gb300x72", "gb200-nvl72", "gb300-nvl72"}) {
        const RingSearch nvl72 = shipped().domain(rack).several;
        for (std::uint32_t channel = 0; channel < 4; ++channel) {
            const RingPath& path = nvl72.paths.at(channel);
            for (std::uint32_t i = 0; i < 72; ++i) CHECK(path.gpus[i] == (channel + (channel == 3 ? i : 72 - i)) % 72);
            CHECK(path.enter_group == channel);
            CHECK(path.leave_group == channel);
        }
    }
}

TEST_CASE("speeds and numbers of paths are those that NCCL's own search found") {
    const auto [name, alone, alone_speed, several, several_speed, crosses] =
        GENERATE(table<std::string, std::size_t, double, std::size_t, double, bool>({
            {"p5.48xlarge", 12, 30, 8, 48, true},
            {"p5en.48xlarge", 12, 30, 8, 48, false},
            {"p6-b200.48xlarge", 16, 45, 8, 48, false},
            {"p6-b300.48xlarge", 16, 45, 16, 48, true},
            {"u-p6e-gb200x72", 16, 45, 16, 45.1, false},
            {"gb200-nvl72", 16, 45, 16, 45.1, false},
        }));
    INFO(name);
    const DomainType domain = shipped().domain(name);
    CHECK(domain.alone.paths.size() == alone);
    CHECK(gigabytes(domain.alone.intra) == Approx(alone_speed));
    CHECK_FALSE(domain.alone.crosses_nics);
    CHECK(domain.several.paths.size() == several);
    CHECK(gigabytes(domain.several.intra) == Approx(several_speed));
    CHECK(gigabytes(domain.several.inter) == Approx(several_speed));
    CHECK(domain.several.crosses_nics == crosses);
}

TEST_CASE("a name that cannot be meant is refused with what could be") {
    const auto [words, expected] = GENERATE(table<std::string, std::string>({
        {"p5en.48xlrage:2", "\"p5en.48xlrage\": no such machine; did you mean \"p5en.48xlarge\"?"},
        {"u-p6e-gb20x72", "\"u-p6e-gb20x72\": no such machine; did you mean \"u-p6e-gb200x72\"?"},
        {"hgx-h10-8x400", "\"hgx-h10-8x400\": no such GPU on an HGX board; did you mean \"h100\"?"},
        {"hgx-h100-8x500", "\"hgx-h100-8x500\": expected NICs of 100, 200, 400, 800 Gb/s"},
        {"hgx-h100-0x400", "\"hgx-h100-0x400\": expected 1 to 64 NICs, such as \"hgx-h100-8x400\""},
        {"hgx-h100-roce", "\"hgx-h100-roce\": expected NICs before \"-roce\", such as \"hgx-h100-8x400-roce\""},
        {"p5.48xlarge:0",
         "\"p5.48xlarge:0\": expected a cluster such as \"p5en.48xlarge:16\", with a count of 1 or more"},
        {"p5.48xlarge:125001",
         "\"p5.48xlarge:125001\": expected a cluster of at most 1000000 GPUs; this would have 1000008"},
    }));
    CHECK(problem_of(words) == expected);
}

TEST_CASE("other words are refused too, with the machines there are") {
    for (const char* words :
         {"", ":", ":2", "p5.48xlarge:", "p5.48xlarge:-1", "p5.48xlarge:2x", "p5.48xlarge:4294967296", "hgx-",
          "hgx-8x400", "hgx--8x400", "../instances/p5.48xlarge", "p5.48xlarge.json"}) {
        INFO(words);
        CHECK_THROWS_AS(shipped().cluster(words), InputError);
    }
    CHECK(problem_of("quantum").find("expected a machine: gb200-host, gb200-nvl72") != std::string::npos);
    CHECK_THROWS_AS(shipped().instance("u-p6e-gb200x72"), InputError);
    CHECK_NOTHROW(shipped().cluster("p5.48xlarge:125000"));
}

TEST_CASE("a bad value of a file is refused with its place") {
    const auto with = [](const std::string& path, const std::string& from, const std::string& to) {
        auto files = shipped().files();
        std::string& text = files.at(path);
        text.replace(text.find(from), from.size(), to);
        return Catalogue(std::move(files));
    };
    const auto problem = [](const Catalogue& catalogue) -> std::string {
        try {
            catalogue.instance("p5.48xlarge");
        } catch (const InputError& error) {
            return to_text(error.problems.at(0));
        }
        return "none";
    };
    CHECK(problem(with("gpus/h100-sxm5-80gb.json", "\"1979 TFLOP/s\"", "\"1979 TFLOPS\"")) ==
          "gpus/h100-sxm5-80gb.json:9: /peak/fp8/value: expected a speed above 0 with a unit, such as "
          "\"989 TFLOP/s\"; found \"1979 TFLOPS\"");
    CHECK(problem(with("nics/efa-v2.json", "\"spray\"", "\"sprinkle\""))
              .find("/spreading/value: expected \"spray\" or "
                    "\"hash\"") != std::string::npos);
    CHECK(problem(with("instances/p5.48xlarge.json", "\"efa-v2\"", "\"efa-v9\"")) ==
          "instances/p5.48xlarge.json: expected a file of the catalogue; found nics/efa-v9.json");
}
