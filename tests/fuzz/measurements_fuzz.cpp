// Any bytes as a table of measured times.
#include "fmsim/formats.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    test::only_refusals([&] {
        const Measurements table = parse_measurements(test::as_text(bytes, size), "table.json");
        test::require(!table.rows.empty());
        for (const MeasuredRow& row : table.rows) test::require(row.time_us > 0);
    });
    return 0;
}
