#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {

Measurements parse_measurements(std::string_view text, const std::string& file) {
    Document document(text, file, "measurements");
    const Document::Spot root = document.root();
    Measurements measurements{.id = root["id"].name(),
                              .cluster = root["cluster"].name(),
                              .collective = root["collective"].name(),
                              .source = root["source"].text(),
                              .rows = {}};
    const Document::Spot rows = root["rows"];
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].has("time_us") && !rows[i]["time_us"].json().is_null())
            measurements.rows.push_back({rows[i]["bytes"].bytes(), rows[i]["time_us"].number()});
    if (measurements.rows.empty()) rows.refuse("expected a row with a time");
    document.finish();
    return measurements;
}

}  // namespace fmsim
