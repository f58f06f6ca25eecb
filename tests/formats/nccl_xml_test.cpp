#include "nccl_xml.hpp"

#include <catch2/catch.hpp>

#include "formats/imports.hpp"
#include "formats/refusal.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

NcclMachine parse(const std::string& cpus) {
    return parse_nccl_xml("<system version=\"1\">" + cpus + "</system>", "topo.xml");
}
std::string cpu(const std::string& inside, const std::string& more = "numaid=\"0\"") {
    return "<cpu " + more + ">" + inside + "</cpu>";
}
std::string pci(const std::string& code, const std::string& inside, const std::string& more = "") {
    return "<pci busid=\"0\" class=\"" + code + "\" " + more + ">" + inside + "</pci>";
}
std::string gpu(int dev) {
    const std::string number = std::to_string(dev);
    return pci("0x030200", "<gpu dev=\"" + number + "\" sm=\"90\" rank=\"" + number +
                               "\" gdr=\"1\"><nvlink target=\"x\" count=\"18\" tclass=\"0x068000\"/></gpu>");
}
std::string net(int dev, const std::string& speed = "speed=\"200000\"") {
    return pci("0x020000", "<nic><net name=\"n\" dev=\"" + std::to_string(dev) + "\" " + speed + "/></nic>");
}
const std::string kBridge = "0x060400";

// "0: gpu 0 1 nic 0" a switch, with its NUMA node.
std::string tree_of(const std::vector<PcieSwitch>& switches) {
    std::string text;
    for (const PcieSwitch& pcie : switches) {
        text += (text.empty() ? "" : "; ") + std::to_string(pcie.numa) + ":";
        for (const auto index : pcie.gpus) text += " g" + std::to_string(index);
        for (const auto index : pcie.nics) text += " n" + std::to_string(index);
    }
    return text;
}
Imported import(const std::string& cpus, const std::string& type = "") {
    return import_nccl("<system version=\"1\">" + cpus + "</system>", "topo.xml", shipped(),
                       {.type = type, .layers = {}});
}

}  // namespace

TEST_CASE("a full dump: a bridge, a GPU and a NIC below it") {
    const NcclMachine machine =
        parse(cpu(pci(kBridge, gpu(0) + net(0), "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\""),
                  "numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\""));
    CHECK(tree_of(machine.switches) == "0: g0 n0");
    CHECK(machine.gpus[0].compute_capability == 90);
    CHECK(machine.gpus[0].nvlinks == 18);
    CHECK(machine.nics[0].mbps == 200'000);
    CHECK(machine.to_host[0].value == Approx(63.015e9).epsilon(1e-4));  // 32 GT/s x 16 x 128/130 / 8
    CHECK(machine.cpu == CpuVendor::intel);
    CHECK(machine.gpudirect == true);
}

TEST_CASE("a skeleton: bare devices, known by the class, a comment first, attributes that nobody knows") {
    const NcclMachine machine = parse_nccl_xml(
        "<!-- p4d -->\n<system version=\"1\"><cpu numaid=\"1\" keep=\"1\"><pci class=\"0x060400\"><pci "
        "class=\"0x030200\"/>"
        "<pci class=\"0x030200\"/><pci class=\"0x020000\"/></pci></cpu></system>",
        "topo.xml");
    CHECK(tree_of(machine.switches) == "0: g0 g1 n0");  // NUMA nodes count from 0
    CHECK(machine.gpus[0].compute_capability == 0);
    CHECK(machine.nics[0].mbps == 10'000);
    CHECK_FALSE(machine.nics[0].has_speed);
}

TEST_CASE("a device hangs on the lowest bridge that has both kinds, or on the one next to the CPU") {
    const auto [inside, tree] = GENERATE(table<std::string, std::string>({
        {pci(kBridge, pci(kBridge, gpu(0)) + pci(kBridge, net(0))), "0: g0 n0"},
        {pci(kBridge, pci(kBridge, gpu(0) + net(0)) + pci(kBridge, gpu(1) + net(1))), "0: g0 n0; 0: g1 n1"},
        {pci(kBridge, pci(kBridge, gpu(0))) + pci(kBridge, net(0)), "0: g0; 0: n0"},
        {gpu(0) + net(0), "0: g0; 0: n0"},
        {pci(kBridge, gpu(1) + net(1)) + pci(kBridge, gpu(0) + net(0)), "0: g0 n0; 0: g1 n1"},  // NCCL's numbers count
    }));
    CHECK(tree_of(parse(cpu(inside)).switches) == tree);
}

TEST_CASE("classes go by their prefix; NVSwitches say nothing, other devices are told") {
    const NcclMachine machine = parse(
        cpu(pci("0x060401", pci("0x030000", "") + pci("0x020700", "") + pci("0x068000", "") + pci("0x010802", ""))));
    CHECK(tree_of(machine.switches) == "0: g0 n0");
    REQUIRE(machine.notes.size() == 1);
    CHECK(has(to_text(machine.notes[0]), "topo.xml:1: pci: a device of class \"0x010802\" is left out"));
}

TEST_CASE("a link's speed is a text") {
    const auto [attributes, rate] = GENERATE(table<std::string, double>({
        {"link_speed=\"16 GT/s\" link_width=\"16\"", 31.508e9},
        {"link_speed=\"16.0 GT/s PCIe\" link_width=\"8\"", 15.754e9},
        {"link_speed=\"5 GT/s\" link_width=\"0\"", 8e9},  // no width counts as 16 lanes
        {"link_speed=\"64.0 GT/s PCIe\"", 126.03e9},
        {"link_speed=\"Unknown\" link_width=\"16\"", 15.754e9},  // counts as Gen3
        {"", 0},
    }));
    CHECK(parse(cpu(pci(kBridge, gpu(0) + net(0), attributes))).to_host[0].value == Approx(rate).epsilon(1e-3));
}

TEST_CASE("a missing or negative network speed counts as 10 Gb/s, and the type's NIC is taken for it") {
    const std::string speed = GENERATE("", "speed=\"-1\"");
    CHECK(parse(cpu(pci(kBridge, gpu(0) + net(0, speed)))).nics[0].mbps == 10'000);
    const Imported read = import(cpu(pci(kBridge, gpu(0) + net(0, speed))), "p5en.48xlarge");
    CHECK(has(notes_of(read), "NICs without a speed are taken as efa-v3"));
}

TEST_CASE("a machine is laid over the type whose GPUs and NICs it has") {
    const Imported read = import(cpu(pci(kBridge, gpu(0) + gpu(1) + net(0) + net(1))));
    const InstanceType& type = read.cluster.blocks[0].type.instance;
    CHECK(type.name == "p5en.48xlarge");
    CHECK(type.gpus == 2);
    CHECK(type.nics == 2);
    CHECK(type.nvlink->rate.value == 450e9);  // 18 links of 25 GB/s
    CHECK(type.pcie_gpu.value == 63e9);       // not said: the type's
    CHECK(has(notes_of(read), "what the file does not say is taken from p5en.48xlarge"));
    CHECK(build_topology(read.cluster).gpus() == 2);
}

TEST_CASE("fewer NVLinks are a lower rate") {
    std::string text = gpu(0) + net(0);
    text.replace(text.find("18"), 2, "8");
    CHECK(import(cpu(pci(kBridge, text)), "p5en.48xlarge").cluster.blocks[0].type.instance.nvlink->rate.value == 200e9);
}

TEST_CASE("a network plugin shows the NICs of a group as one") {
    const Imported read = import(cpu(pci(kBridge, gpu(0) + net(0, "speed=\"400000\""))), "p5.48xlarge");
    const InstanceType& type = read.cluster.blocks[0].type.instance;
    CHECK(type.nics == 4);
    CHECK(tree_of(type.switches) == "0: g0 n0 n1 n2 n3");
}

TEST_CASE("what is no topology of one machine is refused with its line") {
    const std::string good = cpu(pci(kBridge, gpu(0) + net(0)));
    const auto [text, message] = GENERATE_COPY(table<std::string, std::string>({
        {"", "topo.xml:1: expected XML; found No document element found"},
        {"<system version=\"1\">\n<cpu>\n</system>", "topo.xml:3: expected XML; found Start-end tags mismatch"},
        {"<system version=\"2\">" + good + "</system>", "topo.xml:1: system: expected version \"1\"; found 2"},
        {"<graphs version=\"1\"/>", "topo.xml:1: graphs: expected a <system>, NCCL's topology; found a <graphs>"},
        {"<system version=\"1\">" + cpu("") + "</system>", "topo.xml:1: system: expected GPUs; found none"},
        {"<system version=\"1\">\n" + cpu(pci(kBridge, pci("0x03", "<gpu sm=\"ninety\"/>"))) + "</system>",
         "topo.xml:2: gpu: expected a whole number as sm; found ninety"},
        {"<system version=\"1\">" + cpu(gpu(0), "numaid=\"0\" host_hash=\"0x1\"") +
             cpu(gpu(1), "numaid=\"0\" host_hash=\"0x2\"") + "</system>",
         "system: expected one machine; found 2 different host_hash"},
    }));
    INFO(text);
    CHECK_THAT(refusal([t = text] { parse_nccl_xml(t, "topo.xml"); }), Catch::Matchers::Contains(message));
}

TEST_CASE("bridges below bridges end at a bound") {
    std::string text = gpu(0);
    for (int i = 0; i < 100; ++i) text = pci(kBridge, text);
    CHECK(has(refusal([&] { parse(cpu(text)); }), "expected at most 32 levels"));
}

TEST_CASE("GPUs or NICs of another kind are refused") {
    // A type with more NICs than the file has, and of other GPUs: both are looked at before either is refused.
    CHECK(has(refusal([] { import(cpu(pci(kBridge, gpu(0) + net(0, ""))), "p6e-gb200.36xlarge"); }),
              "p6e-gb200.36xlarge: expected GPUs of sm 100; found 90"));
    CHECK(has(refusal([] { import(cpu(pci(kBridge, gpu(0) + net(0))), "p5.48xlarge"); }),
              "topo.xml:1: p5.48xlarge: expected NICs of 100000 Mb/s; found one of 200000"));
    CHECK(has(refusal([] { import(cpu(pci(kBridge, gpu(0) + net(0))), "p4d.24xlarge"); }),
              "p4d.24xlarge: expected GPUs of sm 80; found 90"));
    CHECK(has(refusal([] { import(cpu(pci(kBridge, gpu(0) + net(0, "speed=\"25000\"")))); }),
              "expected GPUs and NICs of an instance type of the catalogue, or one to lay them over (--type); found "
              "GPUs of sm 90, NICs of 25000 Mb/s"));
}
