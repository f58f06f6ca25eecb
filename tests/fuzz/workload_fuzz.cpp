// Any bytes as a workload file; of what can be read also the tasks on a few ranks, and the file written again.
#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

using namespace fmsim;

std::size_t operations_of(const Job& job) {
    std::size_t operations = 0;
    for (const Program& program : job.programs) operations += program.operations.size();
    return operations;
}

void try_tasks(const Job& job, std::uint32_t ranks) {
    if (operations_of(job) * ranks > 20'000) return;  // sound, but the fuzzer has little memory and time
    test::only_refusals([&] {
        const std::vector<Task> tasks = tasks_of(job, ranks);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            test::require(tasks[i].program < job.programs.size());
            test::require(tasks[i].operation < job.programs[tasks[i].program].operations.size());
            test::require(!tasks[i].ranks.empty() && tasks[i].size.count >= 0);
            for (const std::uint32_t rank : tasks[i].ranks) test::require(rank < ranks);
            for (const std::uint32_t before : tasks[i].after) test::require(before < i);
        }
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    test::only_refusals([&] {
        const Workload work = parse_workload(test::as_text(bytes, size), "job.json");
        test::require(!work.jobs.empty());
        for (const Job& job : work.jobs)
            for (const std::uint32_t ranks : {1U, 2U, 8U, 12U}) try_tasks(job, ranks);
        std::size_t operations = 0;
        for (const Job& job : work.jobs) operations += operations_of(job);
        if (operations > 2000) return;
        const std::string text = to_workload_file(work);
        test::require(to_workload_file(parse_workload(text, "job.json")) == text);
    });
    return 0;
}
