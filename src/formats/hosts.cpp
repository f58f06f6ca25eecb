// Host files, as mpirun and schedulers write them.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

std::string_view first_word(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const auto from = line.find_first_not_of(" \t\r");
    if (from == std::string_view::npos) return {};
    line.remove_prefix(from);
    return line.substr(0, line.find_first_of(" \t\r:"));
}

std::optional<InstanceId> instance_named(std::string_view word, const Topology& topology) {
    const auto& names = topology.cluster.instance_names;
    const auto known = std::find(names.begin(), names.end(), word);
    if (known != names.end()) return InstanceId{static_cast<std::uint32_t>(known - names.begin())};
    std::uint32_t number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number >= topology.instances.size())
        return std::nullopt;
    return InstanceId{number};
}

}  // namespace

std::vector<InstanceId> parse_hosts(std::string_view text, const std::string& file, const Topology& topology) {
    std::vector<InstanceId> hosts;
    std::vector<Problem> problems;
    std::size_t line_number = 0;
    while (!text.empty() && problems.size() < 100) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view word = first_word(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++line_number;
        if (word.empty()) continue;
        const auto host = instance_named(word, topology);
        if (!host || std::find(hosts.begin(), hosts.end(), *host) != hosts.end())
            problems.push_back(
                {.file = file,
                 .line = line_number,
                 .pointer = "",
                 .expected = fmt::format("expected each instance once, by name or by number from 0 to {}",
                                         topology.instances.size() - 1),
                 .found = std::string(word)});
        else
            hosts.push_back(*host);
    }
    if (hosts.empty() && problems.empty())
        problems.push_back(
            {.file = file, .line = 1, .pointer = "", .expected = "expected a host a line", .found = "none"});
    if (!problems.empty()) throw InputError(std::move(problems));
    return hosts;
}

}  // namespace fmsim
