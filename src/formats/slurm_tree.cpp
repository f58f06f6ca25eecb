#include "slurm_tree.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "hostlist.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::string again(std::size_t line) { return line == 0 ? "it twice" : fmt::format("it in line {} too", line); }

class SlurmReader {
public:
    explicit SlurmReader(SlurmTopology topology) : in_(std::move(topology)) {
        out_.file = in_.file;
        out_.notes = std::move(in_.notes);
        out_.blocks_are_switches = true;
    }
    NetworkTree read();

private:
    void refuse(std::size_t line, std::string where, std::string expected, std::string found);
    void finish();
    std::vector<std::string> expand(const std::string& list, std::size_t line, const std::string& where);
    void name_switches();
    void hang_switches();
    std::vector<std::string> way_to(std::size_t index);
    void read_hosts();
    void put_in_block(const SlurmBlock& block, const std::string& name);
    void read_blocks();
    void check_sizes(std::size_t smallest);

    SlurmTopology in_;
    NetworkTree out_;
    std::map<std::string, std::size_t> switch_of_;  // by name
    std::vector<std::size_t> above_;                // of a switch
    std::map<std::string, std::size_t> host_of_;    // by name
    std::size_t names_left_ = kMostHosts;
};

void SlurmReader::refuse(std::size_t line, std::string where, std::string expected, std::string found) {
    in_.problems.push_back({in_.file, line, std::move(where), std::move(expected), std::move(found)});
    if (in_.problems.size() >= kMostProblems) finish();
}

void SlurmReader::finish() {
    if (!in_.problems.empty()) throw InputError(std::move(in_.problems));
}

// The names together are bounded, not only those of one list.
std::vector<std::string> SlurmReader::expand(const std::string& list, std::size_t line, const std::string& where) {
    std::vector<std::string> names;
    try {
        names = expand_hosts(list, {in_.file, line, where, "", ""}, names_left_);
    } catch (const InputError& error) {
        const Problem& problem = error.problems.front();
        refuse(line, where, problem.expected, problem.found);
    }
    names_left_ -= names.size();
    return names;
}

void SlurmReader::name_switches() {
    for (std::size_t i = 0; i < in_.switches.size(); ++i) {
        const SlurmSwitch& one = in_.switches[i];
        const auto [before, is_new] = switch_of_.try_emplace(one.name, i);
        if (!is_new) refuse(one.line, one.name, "expected each switch once", again(in_.switches[before->second].line));
        if (one.nodes.empty() == one.switches.empty())
            refuse(one.line, one.name, "expected either nodes or switches below a switch",
                   one.nodes.empty() ? "none" : "both");
    }
}

void SlurmReader::hang_switches() {
    above_.assign(in_.switches.size(), kNone);
    std::vector<std::string> known;
    for (const auto& [name, index] : switch_of_) known.push_back(name);
    for (std::size_t i = 0; i < in_.switches.size(); ++i) {
        const SlurmSwitch& one = in_.switches[i];
        if (one.switches.empty()) continue;
        for (const std::string& child : expand(one.switches, one.line, one.name)) {
            const auto found = switch_of_.find(child);
            if (found == switch_of_.end()) {
                const auto meant = nearest(child, known);
                refuse(one.line, one.name,
                       meant ? fmt::format("no such switch; did you mean \"{}\"?", *meant)
                             : "expected a switch of the file",
                       child);
            } else if (above_[found->second] != kNone) {
                refuse(one.line, one.name, fmt::format("expected switch {} below one other", child),
                       fmt::format("it below {} too", in_.switches[above_[found->second]].name));
            } else {
                above_[found->second] = i;
            }
        }
    }
}

// The names of a switch and those above it, from the top down.
std::vector<std::string> SlurmReader::way_to(std::size_t index) {
    std::vector<std::string> way;
    for (std::size_t at = index; at != kNone; at = above_[at]) {
        way.push_back(in_.switches[at].name);
        if (way.size() > kDeepest) {
            refuse(in_.switches[index].line, in_.switches[index].name,
                   fmt::format("expected at most {} switches above a node", kDeepest), "more, or a circle");
            return {};
        }
    }
    std::reverse(way.begin(), way.end());
    return way;
}

// A circle of switches has no nodes below it that lead up to an end, so it is looked for from every switch.
void SlurmReader::read_hosts() {
    for (std::size_t i = 0; i < in_.switches.size(); ++i) {
        const SlurmSwitch& one = in_.switches[i];
        const std::vector<std::string> way = way_to(i);
        if (one.nodes.empty() || way.empty()) continue;  // no way: it has been refused
        for (std::string& name : expand(one.nodes, one.line, one.name)) {
            const auto [before, is_new] = host_of_.try_emplace(name, out_.hosts.size());
            if (!is_new)
                refuse(one.line, one.name, fmt::format("expected node {} below one switch", name),
                       fmt::format("it below {} too", out_.hosts[before->second].switches.back()));
            else
                out_.hosts.push_back({.name = std::move(name), .switches = way, .line = one.line});
        }
    }
}

void SlurmReader::put_in_block(const SlurmBlock& block, const std::string& name) {
    const auto [host, is_new] = host_of_.try_emplace(name, out_.hosts.size());
    if (is_new) out_.hosts.push_back({.name = name, .switches = {}, .line = block.line});
    if (is_new && !in_.switches.empty())
        refuse(block.line, block.name, "expected nodes that are below a switch too", name);
    std::string& taken = out_.hosts[host->second].block;
    if (!taken.empty())
        refuse(block.line, block.name, fmt::format("expected node {} in one block", name),
               fmt::format("it in {} too", taken));
    taken = block.name;
}

void SlurmReader::read_blocks() {
    std::size_t smallest = kMostHosts;
    std::map<std::string, std::size_t> lines;
    names_left_ = kMostHosts;
    for (const SlurmBlock& block : in_.blocks) {
        if (const auto [before, is_new] = lines.try_emplace(block.name, block.line); !is_new)
            refuse(block.line, block.name, "expected each block once", again(before->second));
        std::size_t size = 0;
        for (const std::string& name : expand(block.nodes, block.line, block.name)) {
            put_in_block(block, name);
            ++size;
        }
        smallest = std::min(smallest, size);
    }
    if (!in_.blocks.empty()) check_sizes(smallest);
}

// The first is the base block, the others are it times powers of two.
void SlurmReader::check_sizes(std::size_t smallest) {
    if (in_.block_sizes.empty()) return;
    const std::size_t base = in_.block_sizes.front();
    for (const std::size_t size : in_.block_sizes) {
        const std::size_t times = base == 0 ? 0 : size / base;
        if (times == 0 || size % base != 0 || (times & (times - 1)) != 0)
            refuse(in_.sizes_line, "BlockSizes", fmt::format("expected the base block, {}, times a power of two", base),
                   fmt::format("{}", size));
    }
    if (smallest < base)
        out_.notes.push_back({in_.file, in_.sizes_line, "BlockSizes",
                              fmt::format("a block has {} nodes, fewer than the base block of {}", smallest, base),
                              ""});
}

NetworkTree SlurmReader::read() {
    name_switches();
    hang_switches();
    read_hosts();
    read_blocks();
    finish();
    if (out_.hosts.empty()) throw InputError({{in_.file, 0, "", "expected switches or blocks with nodes", "none"}});
    return std::move(out_);
}

}  // namespace

NetworkTree tree_of(SlurmTopology topology) { return SlurmReader(std::move(topology)).read(); }

}  // namespace fmsim
