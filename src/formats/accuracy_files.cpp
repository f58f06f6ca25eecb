// What a page on accuracy rests on beside the tables: why some are out of reach, and the errors of sources left out.
#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kUnseen = "fitted without the source";  // as report writes it: calibration.cpp

}  // namespace

std::vector<OutOfReach> parse_out_of_reach(std::string_view text, const std::string& file) {
    Document document(text, file, "out_of_reach");
    const Spot list = document.root()["out_of_reach"];
    std::vector<OutOfReach> all;
    for (std::size_t i = 0; i < list.size(); ++i) {
        OutOfReach one{.what = list[i]["what"].name(), .tables = {}, .collective = {}, .why = list[i]["why"].name()};
        for (std::size_t t = 0; t < list[i]["tables"].size(); ++t) one.tables.push_back(list[i]["tables"][t].name());
        if (list[i].has("collective")) one.collective = list[i]["collective"].name();
        if (list[i].has("from")) one.from = list[i]["from"].bytes();
        if (list[i].has("below")) one.below = list[i]["below"].bytes();
        all.push_back(std::move(one));
    }
    document.finish();
    return all;
}

std::vector<UnseenErrors> parse_unseen(std::string_view text, const std::string& file,
                                       const std::string& constants_hash, const std::string& inputs_hash) {
    Document document(text, file, "calibration");
    const Spot root = document.root();
    for (const auto& [key, wanted] : {std::pair("constants_hash", constants_hash), {"inputs_hash", inputs_hash}})
        if (root[key].text() != wanted) root[key].refuse("expected a fit of the same constants and tables: " + wanted);
    std::vector<UnseenErrors> all;
    for (std::size_t i = 0; i < root["errors"].size(); ++i) {
        const Spot row = root["errors"][i];
        if (row["constants"].text() == kUnseen)
            all.push_back({.median = row["median_percent"].number(),
                           .p90 = row["p90_percent"].number(),
                           .large = row["sizes"].text() == ">= 1 MiB"});
    }
    document.finish();
    return all;
}

}  // namespace fmsim
