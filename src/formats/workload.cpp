#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {

Job parse_job(std::string_view text, const std::string& file) {
    Document document(text, file, "workload");
    const Document::Spot root = document.root();
    Job job{.name = file, .calls = {}};
    const Document::Spot operations = root["operations"];
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const Document::Spot operation = operations[i];
        job.calls.push_back({.name = operation.has("name") ? operation["name"].name() : fmt::format("operation {}", i),
                             .collective = parse_collective(operation["collective"].text()),
                             .size = operation["size"].bytes()});
    }
    document.finish();
    try {
        check(job);
    } catch (const InputError& error) {
        document.refuse(error.problems);
    }
    return job;
}

}  // namespace fmsim
