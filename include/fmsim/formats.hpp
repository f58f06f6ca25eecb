// Files and words in -> the values of the other rooms, or all problems at once.
//
//   const Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
//   const Job job = parse_job(read_file("job.json"), "job.json");
//
// Every function here throws InputError with all problems it found, each with file, line and JSON pointer. Nothing
// else of the library reads a file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/analysis.hpp"
#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

// The data files about machines and NCCL, by path ("instances/p5.48xlarge.json").
class Catalogue {
public:
    static Catalogue shipped();  // as compiled in
    explicit Catalogue(std::map<std::string, std::string> files) : files_(std::move(files)) {}

    std::vector<std::string> instance_names() const;
    InstanceType instance(std::string_view name) const;
    Cluster cluster(std::string_view words) const;  // "p5.48xlarge:2", or "p5.48xlarge" for one
    Nccl nccl() const;
    // Changes when any value of any file does; layout and key order do not count.
    std::string hash() const;
    const std::map<std::string, std::string>& files() const { return files_; }

private:
    const std::string& text(const std::string& path, std::string_view wanted_by) const;
    std::map<std::string, std::string> files_;
};

// The whole file; "-" is standard input. Throws InputError when it cannot be read or is larger than 256 MiB.
std::string read_file(const std::string& path);

// Beyond it a size is refused: no machine moves as much in the 2.56 hours that a run can last.
inline constexpr Bytes kLargestSize{std::int64_t{1} << 50};

Job parse_job(std::string_view text, const std::string& file);
Measurements parse_measurements(std::string_view text, const std::string& file);

// A bare system of the schema in schemas/system.json. Activities come in the order of its flows.
struct SolveCase {
    std::string id;
    std::vector<std::string> flows;
    System system;
};
std::vector<SolveCase> parse_solve(std::string_view text, const std::string& file);

// "8..16GiB" with a factor, or "1 MiB,4MiB,1000". In the order given; throws for none.
std::vector<Bytes> parse_sizes(std::string_view words, double factor);

Collective parse_collective(std::string_view word);
Protocol parse_protocol(std::string_view word);  // in any case of letters

// CRC-64 of a text, as 16 hexadecimal digits.
std::string hash_of(std::string_view text);

}  // namespace fmsim
