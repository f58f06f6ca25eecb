// As NCCL 2.30 reads it (graph/xml.cc, topo.cc):
//
//   system > cpu > pci (bridge) > pci (GPU) > gpu > nvlink, c2c
//                               > pci (NIC) > nic > net
//
// What a pci element is follows from the prefix of its class. Files that people write leave the GPUs and NICs bare, for
// NCCL to fill in. A machine here has one level of switches: a device hangs on the lowest bridge that has both a GPU
// and a NIC below it, or where there is none on the bridge next to the CPU.
#include "nccl_xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "outline.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostDevices = 4'096;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr double kUnknownMbps = 10'000;

// GT/s of a lane, and the bytes it carries after its code: 8 of 10 bits before Gen3, 128 of 130 since. Gen6 is counted
// as twice Gen5, as NCCL does.
struct PcieGeneration {
    double transfers;
    double lane;
};
constexpr double lane_of(double giga, double share) { return giga * 1e9 * share / 8; }
constexpr std::array kGenerations{
    PcieGeneration{2.5, lane_of(2.5, 0.8)},       PcieGeneration{5, lane_of(5, 0.8)},
    PcieGeneration{8, lane_of(8, 128.0 / 130)},   PcieGeneration{16, lane_of(16, 128.0 / 130)},
    PcieGeneration{32, lane_of(32, 128.0 / 130)}, PcieGeneration{64, lane_of(64, 128.0 / 130)},
};
constexpr double kGen3Lane = kGenerations[2].lane;

enum class PciKind { gpu, nic, bridge, nvswitch, other };

struct Bridge {
    std::size_t above = kNone;
    std::uint32_t numa{};
    BytesPerSecond rate;
    bool has_gpu{}, has_nic{};
};
struct Device {
    std::size_t bridge = kNone;  // the lowest above it
    std::uint32_t numa{};
    std::int64_t order{};  // NCCL's number of it; -1: none
};

class NcclReader {
public:
    NcclReader(std::string_view text, const std::string& file) : text_(text) {
        out_.file = file;
        for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
            line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
    }
    NcclMachine read();

private:
    std::size_t line_of(std::ptrdiff_t offset) const;
    std::size_t line_of(pugi::xml_node node) const { return line_of(node.offset_debug()); }
    void refuse(pugi::xml_node node, std::string expected, std::string found);
    void note(pugi::xml_node node, std::string what);
    std::int64_t whole(pugi::xml_node node, const char* key, std::int64_t otherwise);
    PciKind kind_of(pugi::xml_node pci);
    BytesPerSecond rate_of(pugi::xml_node pci);

    void read_cpu(pugi::xml_node cpu);
    void read_below(pugi::xml_node parent, std::size_t bridge, std::uint32_t numa, std::size_t depth);
    void read_pci(pugi::xml_node pci, std::size_t bridge, std::uint32_t numa, std::size_t depth);
    void add_gpu(pugi::xml_node pci, pugi::xml_node gpu, std::size_t bridge, std::uint32_t numa);
    void add_nic(pugi::xml_node nic, BytesPerSecond rate, std::size_t bridge, std::uint32_t numa);
    void add_net(pugi::xml_node net, BytesPerSecond rate, std::size_t bridge, std::uint32_t numa);
    template <class T>
    static void sort(std::vector<T>& things, std::vector<Device>& places);
    void number_numa_nodes();
    void mark_bridges();
    std::size_t switch_of(const Device& device) const;
    void hang_on_switches();

    std::string_view text_;
    std::vector<std::ptrdiff_t> line_ends_;
    NcclMachine out_;
    std::vector<Problem> problems_;
    std::vector<Bridge> bridges_;
    std::vector<Device> gpu_places_, nic_places_;
    std::vector<std::int64_t> numa_ids_;
    std::set<std::string> hosts_;
};

std::size_t NcclReader::line_of(std::ptrdiff_t offset) const {
    return 1 + static_cast<std::size_t>(std::lower_bound(line_ends_.begin(), line_ends_.end(), offset) -
                                        line_ends_.begin());
}

void NcclReader::refuse(pugi::xml_node node, std::string expected, std::string found) {
    problems_.push_back({out_.file, line_of(node), node.name(), std::move(expected), std::move(found)});
    if (problems_.size() >= kMostProblems) throw InputError(std::move(problems_));
}

void NcclReader::note(pugi::xml_node node, std::string what) {
    if (out_.notes.size() < kMostProblems)
        out_.notes.push_back({out_.file, line_of(node), node.name(), std::move(what), ""});
}

std::int64_t NcclReader::whole(pugi::xml_node node, const char* key, std::int64_t otherwise) {
    const std::string_view text = node.attribute(key).value();
    if (text.empty()) return otherwise;
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && rest == text.data() + text.size() && value >= -1 &&
        value <= std::numeric_limits<std::int32_t>::max())
        return value;
    refuse(node, fmt::format("expected a whole number as {}", key), std::string(text));
    return otherwise;
}

// By the class, and where there is none by what is inside.
PciKind NcclReader::kind_of(pugi::xml_node pci) {
    const std::string_view code = pci.attribute("class").value();
    if (code.starts_with("0x0604")) return PciKind::bridge;
    if (code.starts_with("0x03")) return PciKind::gpu;
    if (code.starts_with("0x02")) return PciKind::nic;
    if (code.starts_with("0x0680")) return PciKind::nvswitch;  // 0x068001: a CPU at the end of an NVLink
    if (pci.child("gpu")) return PciKind::gpu;
    if (pci.child("nic")) return PciKind::nic;
    if (code.empty() && pci.child("pci")) return PciKind::bridge;
    return PciKind::other;
}

// 0 where the file leaves it to NCCL. Unknown text counts as Gen3 and no width as 16 lanes, as in NCCL.
BytesPerSecond NcclReader::rate_of(pugi::xml_node pci) {
    const std::string_view text = pci.attribute("link_speed").value();
    if (text.empty()) return {};
    double transfers = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), transfers);
    const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    const auto* const found = std::find_if(kGenerations.begin(), kGenerations.end(),
                                           [&](const PcieGeneration& g) { return g.transfers == transfers; });
    const bool known = error == std::errc{} && unit.starts_with(" GT/s") && found != kGenerations.end();
    if (!known) note(pci, fmt::format("link_speed \"{}\" is unknown and counts as 8 GT/s", printable(text)));
    const std::int64_t width = whole(pci, "link_width", 0);
    return {(known ? found->lane : kGen3Lane) * static_cast<double>(width <= 0 ? 16 : width)};
}

void NcclReader::read_cpu(pugi::xml_node cpu) {
    const std::int64_t id = whole(cpu, "numaid", 0);
    numa_ids_.push_back(id);
    if (const std::string host = cpu.attribute("host_hash").value(); !host.empty()) hosts_.insert(host);
    const std::string_view arch = cpu.attribute("arch").value();
    const std::string_view vendor = cpu.attribute("vendor").value();
    if (arch == "arm64" || arch == "aarch64") out_.cpu = CpuVendor::arm;
    if (vendor == "GenuineIntel") out_.cpu = CpuVendor::intel;
    if (vendor == "AuthenticAMD") out_.cpu = CpuVendor::amd;
    read_below(cpu, kNone, static_cast<std::uint32_t>(numa_ids_.size() - 1), 0);
}

void NcclReader::read_below(pugi::xml_node parent, std::size_t bridge, std::uint32_t numa, std::size_t depth) {
    if (depth > kDeepest) return refuse(parent, fmt::format("expected at most {} levels", kDeepest), "more");
    for (const pugi::xml_node child : parent.children()) {
        const std::string_view name = child.name();
        if (name == "pci")
            read_pci(child, bridge, numa, depth);
        else if (name == "nic")
            add_nic(child, {}, bridge, numa);
        else if (child.type() == pugi::node_element)
            note(child, "no such element: it is left out");
    }
}

void NcclReader::read_pci(pugi::xml_node pci, std::size_t bridge, std::uint32_t numa, std::size_t depth) {
    switch (kind_of(pci)) {
        case PciKind::bridge:
            if (bridges_.size() >= kMostDevices)
                return refuse(pci, fmt::format("expected at most {} bridges", kMostDevices), "more");
            bridges_.push_back({.above = bridge, .numa = numa, .rate = rate_of(pci)});
            return read_below(pci, bridges_.size() - 1, numa, depth + 1);
        case PciKind::gpu:
            return add_gpu(pci, pci.child("gpu"), bridge, numa);
        case PciKind::nic:
            if (pci.child("nic")) return add_nic(pci.child("nic"), rate_of(pci), bridge, numa);
            return add_net(pci, rate_of(pci), bridge, numa);
        case PciKind::nvswitch:
            return;  // which NVSwitches there are says nothing that the links do not
        case PciKind::other:
            note(pci, fmt::format("a device of class \"{}\" is left out", printable(pci.attribute("class").value())));
    }
}

void NcclReader::add_gpu(pugi::xml_node pci, pugi::xml_node gpu, std::size_t bridge, std::uint32_t numa) {
    if (out_.gpus.size() >= kMostDevices)
        return refuse(pci, fmt::format("expected at most {} GPUs", kMostDevices), "more");
    NcclGpu read{.compute_capability = static_cast<std::uint32_t>(std::max<std::int64_t>(whole(gpu, "sm", 0), 0)),
                 .pcie = rate_of(pci),
                 .line = line_of(pci)};
    for (const pugi::xml_node link : gpu.children("nvlink")) {
        const std::string_view target = link.attribute("tclass").value();
        const std::int64_t count = whole(link, "count", 0);
        if (!target.starts_with("0x068001") && count > 0)
            read.nvlinks += static_cast<std::uint32_t>(std::min<std::int64_t>(count, 1024));
    }
    for (const pugi::xml_node c2c : gpu.children("c2c"))
        read.c2c.value += static_cast<double>(std::max<std::int64_t>(whole(c2c, "bw", 0), 0) *
                                              std::clamp<std::int64_t>(whole(c2c, "count", 1), 0, 1024)) *
                          1e6;
    if (const auto gdr = gpu.attribute("gdr")) out_.gpudirect = out_.gpudirect.value_or(true) && gdr.as_int() != 0;
    out_.gpus.push_back(read);
    gpu_places_.push_back({bridge, numa, whole(gpu, "dev", -1)});
}

// A NIC with several ports has a net for each, and NCCL takes each as one.
void NcclReader::add_nic(pugi::xml_node nic, BytesPerSecond rate, std::size_t bridge, std::uint32_t numa) {
    if (!nic.child("net")) return add_net(nic, rate, bridge, numa);
    for (const pugi::xml_node net : nic.children("net")) add_net(net, rate, bridge, numa);
}

void NcclReader::add_net(pugi::xml_node net, BytesPerSecond rate, std::size_t bridge, std::uint32_t numa) {
    if (out_.nics.size() >= kMostDevices)
        return refuse(net, fmt::format("expected at most {} NICs", kMostDevices), "more");
    const std::int64_t speed = whole(net, "speed", -1);
    out_.nics.push_back({.mbps = speed > 0 ? static_cast<double>(speed) : kUnknownMbps,
                         .has_speed = speed > 0,
                         .pcie = rate,
                         .line = line_of(net)});
    nic_places_.push_back({bridge, numa, whole(net, "dev", -1)});
}

// In NCCL's order where it has one for all; else in that of the file.
template <class T>
void NcclReader::sort(std::vector<T>& things, std::vector<Device>& places) {
    if (std::any_of(places.begin(), places.end(), [](const Device& place) { return place.order < 0; })) return;
    std::vector<std::size_t> order(things.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return places[a].order < places[b].order; });
    std::vector<T> sorted;
    std::vector<Device> sorted_places;
    for (const std::size_t i : order) {
        sorted.push_back(things[i]);
        sorted_places.push_back(places[i]);
    }
    things = std::move(sorted);
    places = std::move(sorted_places);
}

// From 0, in the order of their ids.
void NcclReader::number_numa_nodes() {
    const std::set<std::int64_t> ids(numa_ids_.begin(), numa_ids_.end());
    const auto number = [&](std::uint32_t cpu) {
        return static_cast<std::uint32_t>(std::distance(ids.begin(), ids.find(numa_ids_[cpu])));
    };
    for (Bridge& bridge : bridges_) bridge.numa = number(bridge.numa);
    for (auto* places : {&gpu_places_, &nic_places_})
        for (Device& place : *places) place.numa = number(place.numa);
}

void NcclReader::mark_bridges() {
    for (const Device& gpu : gpu_places_)
        for (std::size_t at = gpu.bridge; at != kNone; at = bridges_[at].above) bridges_[at].has_gpu = true;
    for (const Device& nic : nic_places_)
        for (std::size_t at = nic.bridge; at != kNone; at = bridges_[at].above) bridges_[at].has_nic = true;
}

std::size_t NcclReader::switch_of(const Device& device) const {
    std::size_t top = kNone;
    for (std::size_t at = device.bridge; at != kNone; at = bridges_[at].above) {
        if (bridges_[at].has_gpu && bridges_[at].has_nic) return at;
        top = at;
    }
    return top;
}

// A device on the CPU's own lanes gets a switch for itself.
void NcclReader::hang_on_switches() {
    std::map<std::size_t, std::size_t> switch_at;  // of a bridge
    const auto hang = [&](const Device& place, BytesPerSecond own_rate, std::uint32_t index,
                          std::vector<std::uint32_t> PcieSwitch::*member) {
        const std::size_t bridge = switch_of(place);
        std::size_t at = out_.switches.size();
        if (bridge != kNone) at = switch_at.try_emplace(bridge, at).first->second;
        if (at == out_.switches.size()) {
            out_.switches.push_back(
                {.numa = bridge == kNone ? place.numa : bridges_[bridge].numa, .gpus = {}, .nics = {}});
            out_.to_host.push_back(bridge == kNone ? own_rate : bridges_[bridge].rate);
        }
        (out_.switches[at].*member).push_back(index);
    };
    for (std::uint32_t i = 0; i < gpu_places_.size(); ++i)
        hang(gpu_places_[i], out_.gpus[i].pcie, i, &PcieSwitch::gpus);
    for (std::uint32_t i = 0; i < nic_places_.size(); ++i)
        hang(nic_places_[i], out_.nics[i].pcie, i, &PcieSwitch::nics);
}

NcclMachine NcclReader::read() {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size());
    const pugi::xml_node system = document.document_element();
    if (!result) throw InputError({{out_.file, line_of(result.offset), "", "expected XML", result.description()}});
    if (std::string_view(system.name()) != "system")
        refuse(system, "expected a <system>, NCCL's topology", fmt::format("a <{}>", system.name()));
    else if (std::string_view(system.attribute("version").value()) != "1")
        refuse(system, "expected version \"1\"", system.attribute("version").value());
    for (const pugi::xml_node child : system.children()) {
        if (std::string_view(child.name()) == "cpu")
            read_cpu(child);
        else if (child.type() == pugi::node_element)
            note(child, "no such element: it is left out");
    }
    if (hosts_.size() > 1) refuse(system, "expected one machine", fmt::format("{} different host_hash", hosts_.size()));
    if (out_.gpus.empty() && problems_.empty()) refuse(system, "expected GPUs", "none");
    if (!problems_.empty()) throw InputError(std::move(problems_));
    sort(out_.gpus, gpu_places_);
    sort(out_.nics, nic_places_);
    number_numa_nodes();
    mark_bridges();
    hang_on_switches();
    return std::move(out_);
}

}  // namespace

NcclMachine parse_nccl_xml(std::string_view text, const std::string& file) { return NcclReader(text, file).read(); }

}  // namespace fmsim
