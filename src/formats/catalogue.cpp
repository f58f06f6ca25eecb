// The catalogue as a whole. Its machines are read in catalogue_machines.cpp, NCCL's facts in nccl_facts.cpp.
#include <fmt/format.h>
#include <boost/crc.hpp>
#include <nlohmann/json.hpp>

#include "embedded.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
Catalogue Catalogue::shipped() {
    static constexpr std::string_view kFolder = "topologies/";
    std::map<std::string, std::string> files;
    for (const auto& [path, text] : embedded_files())
        if (path.starts_with(kFolder)) files.emplace(path.substr(kFolder.size()), text);
    return Catalogue(std::move(files));
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
