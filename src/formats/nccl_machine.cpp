// A machine that NCCL saw, in the terms of the catalogue.
//
// NCCL's file has counts, a tree and the rates of links; what a GPU computes and how long a hop takes it does not have.
// Those come from an instance type whose GPUs have the same compute capability and whose NICs the same speed. A rate
// that is the catalogue's but for rounding stays the catalogue's.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "domain_variants.hpp"
#include "nccl_xml.hpp"

namespace fmsim {
namespace {

constexpr double kRounding = 0.02;

bool near(double a, double b) { return std::abs(a - b) <= kRounding * std::max(a, b); }

// One direction of one link, as NVIDIA publishes it; NCCL counts with less. Its count times this is a GPU's rate.
// Sources: NVIDIA's datasheets of P100 (NVLink 1), V100, A100, H100 (2 to 4) and B200 (5).
BytesPerSecond nvlink_rate(std::uint32_t compute_capability) {
    if (compute_capability >= 100) return 50_GBps;
    if (compute_capability >= 70) return 25_GBps;
    return 20_GBps;
}

// How many of the base's NICs one of NCCL's is: a plugin shows the NICs of a group as one. 0: none of that speed.
std::uint32_t nics_in(const NcclNic& nic, const InstanceType& base) {
    if (!base.nic) return 0;
    const double rate = nic.mbps * 1e6 / 8;
    if (!nic.has_speed || near(rate, base.nic->rate.value)) return 1;
    return near(rate, base.nic->rate.value * base.rails) ? base.rails : 0;
}

class Layover {
public:
    Layover(const InstanceType& base, NcclMachine& machine) : out_(base), base_(base), in_(machine) {}

    InstanceType make() {
        take_gpus();
        take_nvlink();
        take_nics();
        take_rates();
        if (!problems_.empty()) throw InputError(std::move(problems_));
        if (in_.cpu) out_.cpu = *in_.cpu;
        if (in_.gpudirect) out_.gpudirect = *in_.gpudirect;
        return std::move(out_);
    }

private:
    void refuse(std::size_t line, std::string expected, std::string found) {
        problems_.push_back({in_.file, line, base_.name, std::move(expected), std::move(found)});
    }
    void note(std::string what) { in_.notes.push_back({in_.file, 0, "", std::move(what), ""}); }

    void take_gpus() {
        out_.gpus = static_cast<std::uint32_t>(in_.gpus.size());
        out_.switches = in_.switches;
        for (const NcclGpu& gpu : in_.gpus)
            if (gpu.compute_capability != 0 && gpu.compute_capability != base_.gpu.compute_capability)
                return refuse(gpu.line, fmt::format("expected GPUs of sm {}", base_.gpu.compute_capability),
                              fmt::format("{}", gpu.compute_capability));
    }

    void take_nvlink() {
        std::uint32_t least = in_.gpus.front().nvlinks, most = least;
        for (const NcclGpu& gpu : in_.gpus) {
            least = std::min(least, gpu.nvlinks);
            most = std::max(most, gpu.nvlinks);
        }
        if (least != most)
            note(fmt::format("GPUs have {} to {} NVLinks: each is taken to have {}", least, most, least));
        if (least == 0) return;  // not said
        if (!base_.nvlink) return refuse(in_.gpus.front().line, "expected no NVLink", fmt::format("{} links", least));
        const double rate = least * nvlink_rate(base_.gpu.compute_capability).value;
        if (!near(rate, base_.nvlink->rate.value)) out_.nvlink->rate = {rate};
    }

    void take_nics() {
        std::vector<std::vector<std::uint32_t>> ours;  // of NCCL's NIC
        std::uint32_t count = 0;
        bool silent = false;
        for (const NcclNic& nic : in_.nics) {
            const std::uint32_t nics = nics_in(nic, base_);
            if (nics == 0)
                return refuse(nic.line,
                              base_.nic ? fmt::format("expected NICs of {:.0f} Mb/s", base_.nic->rate.value * 8e-6)
                                        : "expected no NICs",
                              fmt::format("one of {:.0f}", nic.mbps));
            silent = silent || !nic.has_speed;
            ours.emplace_back();
            for (std::uint32_t i = 0; i < nics; ++i) ours.back().push_back(count++);
        }
        if (silent)
            note(
                fmt::format("NICs without a speed are taken as {} (NCCL alone counts 10 Gb/s until it asks the driver)",
                            base_.nic->name));
        out_.nics = count;
        if (count == 0) out_.rails = 0;
        if (out_.rails != 0 && count % out_.rails != 0) out_.rails = 1;
        for (PcieSwitch& pcie : out_.switches) {
            std::vector<std::uint32_t> nics;
            for (const std::uint32_t nic : pcie.nics) nics.insert(nics.end(), ours[nic].begin(), ours[nic].end());
            pcie.nics = std::move(nics);
        }
    }

    void take_rates() {
        std::vector<double> gpus, nics, hosts;
        for (const NcclGpu& gpu : in_.gpus) gpus.push_back(gpu.c2c.value > 0 ? gpu.c2c.value : gpu.pcie.value);
        for (const NcclNic& nic : in_.nics) nics.push_back(nic.pcie.value / std::max(1u, nics_in(nic, base_)));
        for (const BytesPerSecond rate : in_.to_host) hosts.push_back(rate.value);
        // Where GPUs have NVLink to the CPU, PCIe is not their way there.
        const bool has_c2c = in_.gpus.front().c2c.value > 0;
        take("a GPU's PCIe link", gpus, out_.pcie_gpu);
        take("a NIC's PCIe link", nics, out_.pcie_nic);
        take("a PCIe switch's uplink", has_c2c ? gpus : hosts, out_.pcie_host);
    }

    void take(const char* what, const std::vector<double>& rates, BytesPerSecond& ours) {
        if (rates.empty()) return;
        const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
        if (*least == 0) return;  // not said
        if (!near(*least, *most))
            note(fmt::format("{} is {:.4g} to {:.4g} GB/s: all are taken as {:.4g}", what, *least * 1e-9, *most * 1e-9,
                             *least * 1e-9));
        if (!near(*least, ours.value)) ours = {*least};
    }

    InstanceType out_;
    const InstanceType& base_;
    NcclMachine& in_;
    std::vector<Problem> problems_;
};

// The catalogue's type with such GPUs and NICs, best with as many of them.
std::string type_for(const NcclMachine& machine, const Catalogue& catalogue) {
    std::string best;
    int best_score = 0;
    for (const std::string& name : catalogue.names()) {
        const DomainType domain = catalogue.domain(name);
        const InstanceType& type = domain.instance;
        const bool fits =
            domain.instances == 1 && machine.gpus.front().compute_capability == type.gpu.compute_capability &&
            std::all_of(machine.nics.begin(), machine.nics.end(), [&](auto& nic) { return nics_in(nic, type) > 0; });
        if (!fits) continue;
        const std::size_t nics = machine.nics.empty() ? 0 : machine.nics.size() * nics_in(machine.nics.front(), type);
        const int score = 1 + (machine.gpus.size() == type.gpus ? 2 : 0) + (nics == type.nics ? 1 : 0);
        if (score > best_score) best = name;
        best_score = std::max(best_score, score);
    }
    if (best.empty())
        throw InputError(
            {{machine.file, machine.gpus.front().line, "",
              "expected GPUs and NICs of an instance type of the catalogue, or one to lay them over (--type)",
              fmt::format("GPUs of sm {}, NICs of {:.0f} Mb/s", machine.gpus.front().compute_capability,
                          machine.nics.empty() ? 0 : machine.nics.front().mbps)}});
    return best;
}

}  // namespace

InstanceType laid_over(const InstanceType& base, NcclMachine& machine) { return Layover(base, machine).make(); }

Imported import_nccl(std::string_view text, const std::string& file, const Catalogue& catalogue,
                     const ImportOptions& options) {
    NcclMachine machine = parse_nccl_xml(text, file);
    std::string type = options.type;
    if (type.empty()) {
        type = type_for(machine, catalogue);
        machine.notes.push_back({file, 0, "", fmt::format("what the file does not say is taken from {}", type), ""});
    }
    DomainType domain = catalogue.domain(type);
    domain = domain_of(catalogue, domain.instance.name, 1);
    InstanceType instance = laid_over(domain.instance, machine);
    return {.cluster = {.name = file, .blocks = {{with_instance(std::move(domain), std::move(instance)), 1}}},
            .notes = std::move(machine.notes)};
}

}  // namespace fmsim
