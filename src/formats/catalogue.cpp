// The catalogue's files -> instance types and NCCL's facts. Each value stands in an object with its source.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <boost/crc.hpp>

#include "document.hpp"
#include "embedded.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kInstances = "instances/";
constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kNcclFile = "nccl/2.30.7.json";
constexpr std::uint32_t kMostInstances = 20'000;

Spot value(const Spot& spot) { return spot["value"]; }

template <class T, class Read>
PerProtocol<T> per_protocol(const Spot& spot, Read read) {
    PerProtocol<T> values;
    for (const Protocol protocol : kProtocols) values[protocol] = read(value(spot[std::string(name(protocol))]));
    return values;
}
PerProtocol<SimTime> spans(const Spot& spot) {
    return per_protocol<SimTime>(spot, [](const Spot& one) { return one.span(); });
}

std::vector<std::uint32_t> counts(const Spot& list) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < list.size(); ++i) numbers.push_back(list[i].count());
    return numbers;
}

Gpu gpu_of(const Spot& root) {
    return {.name = root["name"].text(),
            .compute_capability = value(root["compute_capability"]).count(),
            .channel_rate = per_protocol<BytesPerSecond>(root["channel_rate"], [](const Spot& s) { return s.rate(); })};
}

NvLink nvlink_of(const Spot& root) {
    return {.name = root["name"].text(),
            .rate = value(root["rate"]).rate(),
            .efficiency = value(root["ring_efficiency"]).number(),
            .hop_latency = spans(root["hop_latency"]),
            .wire_latency = value(root["wire_latency"]).span()};
}

Nic nic_of(const Spot& root) {
    return {.name = root["name"].text(),
            .fabric = value(root["fabric"]).text(),
            .rate = value(root["rate"]).rate(),
            .carries = value(root["carries"]).rate(),
            .hop_latency = spans(root["hop_latency"]),
            .wire_latency = value(root["wire_latency"]).span(),
            .reported_latency = value(root["reported_latency"]).span()};
}

RingSearch search_of(const Spot& spot) {
    RingSearch search{.paths = {},
                      .crosses_nics = value(spot["crosses_nics"]).json().get<bool>(),
                      .intra = value(spot["path_intra_rate"]).rate(),
                      .inter = value(spot["path_inter_rate"]).rate()};
    const Spot paths = value(spot["paths"]);
    for (std::size_t i = 0; i < paths.size(); ++i)
        search.paths.push_back({counts(paths[i]["gpus"]), paths[i]["enter"].count(), paths[i]["leave"].count()});
    return search;
}

CpuVendor cpu_of(const std::string& word) {
    return word == "amd" ? CpuVendor::amd : word == "intel" ? CpuVendor::intel : CpuVendor::arm;
}

ProtocolShape shape_of(const Spot& spot) {
    const double data = value(spot["data_bytes"]).number();
    return {.wire_per_data = value(spot["wire_bytes"]).number() / data,
            .buffer = spot.has("buffer") ? value(spot["buffer"]).bytes() : Bytes{},
            .steps_a_chunk = value(spot["ring_steps_a_chunk"]).count(),
            .slices_a_chunk = value(spot["ring_slices_a_chunk"]).count(),
            .alignment = value(spot["alignment"]).bytes(),
            .unit = spot.has("unit") ? value(spot["unit"]).bytes() : Bytes{}};
}

NcclShape nccl_shape_of(const Spot& spot) {
    NcclShape shape{.protocols = {},
                    .launch = spans(spot["launch"]),
                    .buffer_steps = value(spot["buffer_steps"]).count(),
                    .least_traffic = value(spot["split"]["least_traffic"]).bytes(),
                    .ll_traffic = value(spot["split"]["ll_traffic"]).count(),
                    .split_alignment = value(spot["split"]["alignment"]).bytes(),
                    .slices_least_part = value(spot["least_slice"]).count()};
    for (const Protocol protocol : kProtocols)
        shape.protocols[protocol] = shape_of(spot["protocols"][std::string(name(protocol))]);
    return shape;
}

std::array<ByDomains, kGenerations> by_generation(const Spot& table) {
    std::array<ByDomains, kGenerations> rows{};
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t column = 0; column < kDomainColumns; ++column) rows[row][column] = table[row][column].number();
    return rows;
}

NcclTuning tuning_of(const Spot& spot) {
    const auto whole = [](const Spot& s) { return static_cast<std::int64_t>(s.count()); };
    return {.ring_base = spans(spot["ring_base"]),
            .ring_nvlink_hop = spans(spot["ring_nvlink_hop"]),
            .ring_net_hop = spans(spot["ring_net_hop"]),
            .ll_most_gbps = by_generation(value(spot["ll_most_GBps"])),
            .ll128_path_most_gbps = by_generation(value(spot["ll128_path_most_GBps"])),
            .ll_factor = value(spot["ll_factor"]).number(),
            .ll128_factor = value(spot["ll128_factor"]).number(),
            .plateau = value(spot["plateau"]).number(),
            .plateau_bytes = whole(value(spot["plateau_bytes"])),
            .net_overhead_amd = value(spot["net_overhead_amd"]).span(),
            .net_overhead_other = value(spot["net_overhead_other"]).span(),
            .simple_overheads = value(spot["simple_overheads"]).number(),
            .most_threads = per_protocol<std::uint32_t>(spot["most_threads"], [](const Spot& s) { return s.count(); }),
            .bytes_a_thread = per_protocol<std::int64_t>(spot["bytes_a_thread"], whole)};
}

// The words stand where a file has its pointer.
[[noreturn]] void refuse(std::string_view words, std::string expected) {
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = fmt::format("\"{}\"", words),
                       .expected = std::move(expected),
                       .found = ""}});
}

}  // namespace

Catalogue Catalogue::shipped() {
    static constexpr std::string_view kFolder = "topologies/";
    std::map<std::string, std::string> files;
    for (const auto& [path, text] : embedded_files())
        if (path.starts_with(kFolder)) files.emplace(path.substr(kFolder.size()), text);
    return Catalogue(std::move(files));
}

std::vector<std::string> Catalogue::instance_names() const {
    std::vector<std::string> names;
    for (const auto& [path, text] : files_)
        if (path.starts_with(kInstances))
            names.push_back(path.substr(kInstances.size(), path.size() - kInstances.size() - kSuffix.size()));
    return names;
}

const std::string& Catalogue::text(const std::string& path, std::string_view wanted_by) const {
    const auto found = files_.find(path);
    if (found == files_.end())
        throw InputError({{.file = std::string(wanted_by),
                           .line = 0,
                           .pointer = "",
                           .expected = "expected a file of the catalogue",
                           .found = path}});
    return found->second;
}

InstanceType Catalogue::instance(std::string_view wanted) const {
    const std::string path = fmt::format("{}{}{}", kInstances, wanted, kSuffix);
    if (!files_.contains(path)) {
        const auto names = instance_names();
        const auto meant = nearest(wanted, names);
        refuse(wanted, meant ? fmt::format("no such instance type; did you mean \"{}\"?", *meant)
                             : fmt::format("expected an instance type: {}", fmt::join(names, ", ")));
    }
    Document document(text(path, path), path, "instance");
    const Spot root = document.root();
    const auto part = [&](const std::string& folder, const Spot& spot) {
        return folder + "/" + value(spot).text() + std::string(kSuffix);
    };
    const std::string gpu_path = part("gpus", root["gpu"]);
    Document gpu(text(gpu_path, path), gpu_path, "gpu");
    const std::string nvlink_path = part("links", gpu.root()["nvlink"]);
    Document nvlink(text(nvlink_path, gpu_path), nvlink_path, "nvlink");
    const std::string nic_path = part("nics", root["nic"]);
    Document nic(text(nic_path, path), nic_path, "nic");

    const Spot pcie = root["pcie"];
    InstanceType type{.name = root["name"].text(),
                      .gpu = gpu_of(gpu.root()),
                      .gpus = value(root["gpus"]).count(),
                      .nvlink = nvlink_of(nvlink.root()),
                      .nic = nic_of(nic.root()),
                      .nics = value(root["nics"]).count(),
                      .rails = value(root["rails"]).count(),
                      .pcie_gpu = value(pcie["gpu_rate"]).rate(),
                      .pcie_nic = value(pcie["nic_rate"]).rate(),
                      .pcie_host = value(pcie["host_rate"]).rate(),
                      .numa = value(pcie["numa_rate"]).rate(),
                      .switches = {},
                      .cpu = cpu_of(value(root["cpu"]).text()),
                      .simple_buffer = value(root["nccl"]["buffer"]).bytes(),
                      .one_domain = search_of(root["nccl"]["one_domain"]),
                      .several_domains = search_of(root["nccl"]["several_domains"])};
    const Spot switches = value(pcie["switches"]);
    for (std::size_t i = 0; i < switches.size(); ++i)
        type.switches.push_back(
            {switches[i]["numa"].count(), counts(switches[i]["gpus"]), counts(switches[i]["nics"])});
    for (Document* part_read : {&document, &gpu, &nvlink, &nic}) part_read->finish();
    return type;
}

Cluster Catalogue::cluster(std::string_view words) const {
    Cluster cluster{.name = std::string(words), .instance = {}, .count = 1};
    const auto colon = words.rfind(':');
    if (colon != std::string_view::npos) {
        const std::string_view count = words.substr(colon + 1);
        const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), cluster.count);
        if (error != std::errc{} || end != count.data() + count.size() || cluster.count == 0 ||
            cluster.count > kMostInstances)
            refuse(words,
                   fmt::format("expected a cluster such as \"p5.48xlarge:2\", of 1 to {} instances", kMostInstances));
    }
    cluster.instance = instance(words.substr(0, colon));
    return cluster;
}

Nccl Catalogue::nccl() const {
    const std::string path(kNcclFile);
    Document document(text(path, path), path, "nccl");
    Nccl nccl{.version = document.root()["name"].text(),
              .shape = nccl_shape_of(document.root()["execution"]),
              .tuning = tuning_of(document.root()["tuning"])};
    document.finish();
    return nccl;
}

std::string Catalogue::hash() const {
    std::string all;
    for (const auto& [path, text] : files_) {
        const auto json = nlohmann::json::parse(text, nullptr, false);
        all += path + "\n" + (json.is_discarded() ? text : json.dump()) + "\n";  // no JSON: as it stands
    }
    return hash_of(all);
}

std::string hash_of(std::string_view text) {
    // CRC-64/XZ.
    boost::crc_optimal<64, 0x42F0E1EBA9EA3693, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, true, true> crc;
    crc.process_bytes(text.data(), text.size());
    return fmt::format("{:016x}", crc.checksum());
}

}  // namespace fmsim
