// An instance type as NCCL's topology XML (NCCL_TOPO_FILE): CPUs, a bridge for each PCIe switch, GPUs with their
// NVLinks, NICs. What NCCL asks the machine for where a file does not say it (affinities, CPU models) is left out.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "fmsim/report.hpp"

namespace fmsim {
namespace {

// GT/s of a lane, and the GB/s it carries: 8 of 10 bits before Gen3, 128 of 130 since; Gen6 is twice Gen5.
struct PcieLink {
    double transfers;
    double lane_gbps;
};
constexpr std::array kGenerations{PcieLink{2.5, 0.25},           PcieLink{5, 0.5},
                                  PcieLink{8, 8 * 16 / 130.0},   PcieLink{16, 16 * 16 / 130.0},
                                  PcieLink{32, 32 * 16 / 130.0}, PcieLink{64, 64 * 16 / 130.0}};
constexpr double kRounding = 1.02;

// The link that carries a rate, as attributes: of 16 lanes where one does, else the fastest that is not faster. None
// where the rate is beyond PCIe.
std::string link_attributes(BytesPerSecond rate) {
    const double wanted = rate.value * 1e-9;
    if (wanted > kGenerations.back().lane_gbps * 16 * kRounding) return "";
    double transfers = 0, best = 0;
    int lanes = 0;
    for (const int width : {16, 8, 4, 2, 1})
        for (const PcieLink& link : kGenerations) {
            const double carries = link.lane_gbps * width;
            if (carries > wanted * kRounding || carries <= best * kRounding) continue;
            best = carries;
            transfers = link.transfers;
            lanes = width;
        }
    if (lanes == 0) return "";
    return fmt::format(" link_speed=\"{:.1f} GT/s PCIe\" link_width=\"{}\"", transfers, lanes);
}

// Links of a GPU, from its published rate in one direction: 20 GB/s a link on Pascal, 25 from Volta to Hopper, 50
// since.
long nvlinks_of(const InstanceType& type) {
    if (!type.nvlink) return 0;
    const double each = type.gpu.compute_capability >= 100 ? 50e9 : type.gpu.compute_capability >= 70 ? 25e9 : 20e9;
    return std::lround(type.nvlink->rate.value / each);
}

std::string cpu_attributes(CpuVendor vendor) {
    switch (vendor) {
        case CpuVendor::amd:
            return " arch=\"x86_64\" vendor=\"AuthenticAMD\"";
        case CpuVendor::intel:
            return " arch=\"x86_64\" vendor=\"GenuineIntel\"";
        case CpuVendor::arm:
            break;
    }
    return " arch=\"arm64\"";
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
        out += plain ? std::string(1, c) : c == '-' && !out.ends_with('-') ? "-" : "_";
    }
    return out;
}

class NcclWriter {
public:
    explicit NcclWriter(const InstanceType& type) : type_(type) {}

    std::string write() {
        text_ = fmt::format("<!-- One {}. The bus ids are made up. -->\n<system version=\"1\">\n", escaped(type_.name));
        std::uint32_t nodes = 0;
        for (const PcieSwitch& pcie : type_.switches) nodes = std::max(nodes, pcie.numa + 1);
        for (std::uint32_t numa = 0; numa < nodes; ++numa) {
            text_ += fmt::format("  <cpu numaid=\"{}\"{}>\n", numa, cpu_attributes(type_.cpu));
            for (const PcieSwitch& pcie : type_.switches)
                if (pcie.numa == numa) add(pcie);
            text_ += "  </cpu>\n";
        }
        return text_ + "</system>\n";
    }

private:
    std::string pci(const char* code, BytesPerSecond rate) {
        std::string text = fmt::format("<pci busid=\"{:04x}:{:02x}:00.0\" class=\"{}\"{}>\n", bus_ >> 8, bus_ & 0xff,
                                       code, link_attributes(rate));
        ++bus_;
        return text;
    }

    void add(const PcieSwitch& pcie) {
        text_ += "    " + pci("0x060400", type_.pcie_host);
        for (const std::uint32_t gpu : pcie.gpus) add_gpu(gpu);
        for (const std::uint32_t nic : pcie.nics) add_nic(nic);
        text_ += "    </pci>\n";
    }

    void add_gpu(std::uint32_t gpu) {
        text_ += "      " + pci("0x030200", type_.pcie_gpu);
        text_ += fmt::format("        <gpu dev=\"{0}\" sm=\"{1}\" rank=\"{0}\" gdr=\"{2}\">\n", gpu,
                             type_.gpu.compute_capability, type_.gpudirect ? 1 : 0);
        if (const long links = nvlinks_of(type_); links > 0)
            text_ +=
                fmt::format("          <nvlink target=\"ffff:f0:00.0\" count=\"{}\" tclass=\"0x068000\"/>\n", links);
        // Beyond PCIe it is an NVLink to the CPU, in MB/s.
        if (link_attributes(type_.pcie_gpu).empty())
            text_ += fmt::format("          <c2c bw=\"{:.0f}\" count=\"1\"/>\n", type_.pcie_gpu.value * 1e-6);
        text_ += "        </gpu>\n      </pci>\n";
    }

    void add_nic(std::uint32_t nic) {
        text_ += "      " + pci("0x020000", type_.pcie_nic);
        text_ += fmt::format(
            "        <nic>\n          <net name=\"net{0}\" dev=\"{0}\" speed=\"{1:.0f}\" port=\"1\" "
            "latency=\"{2:.6f}\" guid=\"0x{3:x}\" maxconn=\"128\" gdr=\"{4}\"/>\n        </nic>\n      </pci>\n",
            nic, type_.nic ? type_.nic->rate.value * 8e-6 : 0,
            type_.nic ? microseconds(type_.nic->reported_latency) : 0, nic + 1, type_.gpudirect ? 1 : 0);
    }

    const InstanceType& type_;
    std::string text_;
    unsigned bus_ = 0x10;
};

}  // namespace

std::string to_nccl_xml(const InstanceType& type) { return NcclWriter(type).write(); }

}  // namespace fmsim
