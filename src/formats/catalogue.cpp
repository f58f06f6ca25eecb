// The catalogue as a whole, and NCCL's facts in it. Its machines are read in catalogue_machines.cpp.
#include <fmt/format.h>
#include <boost/crc.hpp>

#include "embedded.hpp"
#include "fmsim/formats.hpp"
#include "leaves.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kNcclFile = "nccl/2.30.7.json";

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
    NcclShape shape{
        .protocols = {},
        .launch = spans(spot["launch"]),
        .buffer_steps = value(spot["buffer_steps"]).count(),
        .least_traffic = value(spot["split"]["least_traffic"]).bytes(),
        .ll_traffic = value(spot["split"]["ll_traffic"]).count(),
        .split_alignment = value(spot["split"]["alignment"]).bytes(),
        .slices_least_part = value(spot["least_slice"]).count(),
        .tree_up_share = per_protocol<double>(spot["tree_up_share"], [](const Spot& s) { return s.number(); }),
        .most_nvls_heads = value(spot["most_nvls_heads"]).count()};
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

}  // namespace

Catalogue Catalogue::shipped() {
    static constexpr std::string_view kFolder = "topologies/";
    std::map<std::string, std::string> files;
    for (const auto& [path, text] : embedded_files())
        if (path.starts_with(kFolder)) files.emplace(path.substr(kFolder.size()), text);
    return Catalogue(std::move(files));
}

Nccl Catalogue::nccl() const {
    const std::string path(kNcclFile);
    Document document(text_of(files_, path, path), path, "nccl");
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
