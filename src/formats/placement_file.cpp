// A placement as a list: a rank a line, with where it sits.
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (;;) {
        const auto from = line.find_first_not_of(" \t\r");
        if (from == std::string_view::npos) return words;
        line.remove_prefix(from);
        const auto end = std::min(line.find_first_of(" \t\r"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

std::optional<std::uint32_t> number(std::string_view word) {
    std::uint32_t value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

class ListReader {
public:
    explicit ListReader(const Topology& topology) : topology_(topology) {
        const auto& names = topology.cluster.instance_names;
        for (std::uint32_t i = 0; i < names.size(); ++i) instance_.emplace(names[i], InstanceId{i});
    }

    // The GPU of a line; nothing where there is no such GPU.
    std::optional<GpuPlace> gpu(const std::vector<std::string_view>& words) const {
        static constexpr std::string_view kDomain = "domain:";
        const auto index = words.size() == 2 ? number(words[1]) : std::nullopt;
        if (!index) return std::nullopt;
        if (words[0].starts_with(kDomain)) {
            const auto domain = number(words[0].substr(kDomain.size()));
            if (!domain || *domain >= topology_.domains() || *index >= topology_.type_of(DomainId{*domain}).gpus())
                return std::nullopt;
            return GpuPlace{DomainId{*domain}, *index};
        }
        const auto known = instance_.find(words[0]);
        const auto counted = number(words[0]);
        if (known == instance_.end() && (!counted || *counted >= topology_.instances.size())) return std::nullopt;
        const auto gpus = topology_.gpus_of(known == instance_.end() ? InstanceId{*counted} : known->second);
        return *index < gpus.size() ? std::optional(gpus[*index]) : std::nullopt;
    }

private:
    const Topology& topology_;
    std::map<std::string_view, InstanceId> instance_;
};

}  // namespace

Placement parse_placement(std::string_view text, const std::string& file, const Topology& topology) {
    const ListReader reader(topology);
    Placement placement;
    std::map<GpuPlace, std::size_t> line_of;
    std::vector<Problem> problems;
    std::size_t line_number = 0;
    while (!text.empty() && problems.size() < 100) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++line_number;
        const auto words = words_of(line);
        if (words.empty()) continue;
        const auto refuse = [&](std::string expected) {
            problems.push_back({.file = file,
                                .line = line_number,
                                .pointer = "",
                                .expected = std::move(expected),
                                .found = std::string(line)});
        };
        const auto gpu = reader.gpu(words);
        if (!gpu) {
            refuse("expected an instance, by name or number, or \"domain:N\", and the number of a GPU that it has");
            continue;
        }
        const auto [seen, is_new] = line_of.emplace(*gpu, line_number);
        if (is_new)
            placement.push_back(*gpu);
        else
            refuse(fmt::format("expected each GPU once, and line {} has it", seen->second));
    }
    if (placement.empty() && problems.empty())
        problems.push_back(
            {.file = file, .line = 1, .pointer = "", .expected = "expected a rank a line", .found = "none"});
    if (!problems.empty()) throw InputError(std::move(problems));
    return placement;
}

}  // namespace fmsim
