// Any bytes as a workload file.
#include "fmsim/formats.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    test::only_refusals([&] {
        const Job job = parse_job(test::as_text(bytes, size), "job.json");
        test::require(!job.calls.empty());
        for (const Call& call : job.calls) test::require(call.size.count >= 0 && call.size <= kLargestSize);
    });
    return 0;
}
