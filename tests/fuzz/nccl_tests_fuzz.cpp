// Any bytes as what nccl-tests printed.
#include "fmsim/formats.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    test::only_refusals([&] {
        const Measurements table = parse_nccl_tests(test::as_text(bytes, size), "run.log");
        test::require(!table.rows.empty());
        for (const MeasuredRow& row : table.rows) test::require(row.time_us > 0 && row.size.count >= 0);
    });
    return 0;
}
