// Any bytes as an MSCCL algorithm: what is taken has its transfers in an order that can happen.
#include "fmsim/formats.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    test::only_refusals([&] {
        const CustomAlgorithm custom = parse_msccl(test::as_text(bytes, size), "algo.xml");
        test::require(custom.blocks > 0);
        for (std::size_t t = 0; t < custom.pattern->transfers.size(); ++t) {
            test::require(custom.pattern->transfers[t].hop < custom.hops.size());
            for (const std::uint32_t need : custom.pattern->needs.of(t)) test::require(need < t);
        }
    });
    return 0;
}
