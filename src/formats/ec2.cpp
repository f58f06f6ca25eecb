// As the EC2 API reference and user guide have it:
//
//   NetworkNodes     from the top of the network down, of any length; the last is nearest to the instance. Null or
//   empty
//                    while the instance does not run. A capacity reservation may know only the first of them.
//   CapacityBlockId  of UltraServer instances only: those of one UltraServer, which is one NVLink domain
//   NextToken        there are more pages
#include "ec2.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "foreign_file.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

using Spot = ForeignFile::Spot;

class Ec2Reader {
public:
    Ec2Reader(std::string_view text, const std::string& file) : file_(text, file) { out_.tree.file = file; }

    Ec2Answers read() {
        bool more = false;
        for (const Spot& page : file_.pages()) {
            if (!page.has("Instances") && !page.has("CapacityReservations") && !page.has("InstanceTypes"))
                page.refuse("expected an answer with Instances, CapacityReservations or InstanceTypes");
            for (const Spot& one : page["Instances"].items()) add_instance(one);
            for (const Spot& one : page["CapacityReservations"].items()) add_reservation(one);
            for (const Spot& one : page["InstanceTypes"].items()) add_type(one);
            more = page.has("NextToken");
        }
        file_.finish();
        if (more) note("the last page has a NextToken: there are instances that this file does not have");
        if (reservations_ > 0)
            note(fmt::format("{} capacity reservation{} counted as one instance each: the answer has no sizes",
                             reservations_, reservations_ == 1 ? "" : "s"));
        name_layers();
        return std::move(out_);
    }

private:
    void note(std::string what) { out_.tree.notes.push_back({file_.name(), 0, "", std::move(what), ""}); }

    void add_host(const Spot& spot, const char* id, const std::string& block) {
        TreeHost host{.name = spot[id].text(), .type = spot["InstanceType"].text(), .block = block, .switches = {}};
        for (const Spot& node : spot["NetworkNodes"].items()) host.switches.push_back(node.text());
        if (host.switches.empty())
            spot["NetworkNodes"].refuse("expected network nodes, which only a running instance has");
        out_.tree.hosts.push_back(std::move(host));
    }

    void add_instance(const Spot& spot) {
        // Null for a while after the launch, and for all but UltraServers; some versions of the CLI print the word.
        const std::string block = spot["CapacityBlockId"].text_or_none();
        add_host(spot, "InstanceId", block == "null" ? "" : block);
    }

    void add_reservation(const Spot& spot) {
        ++reservations_;
        const std::string block = spot["CapacityBlockId"].text_or_none();
        add_host(spot, "CapacityReservationId", block == "null" ? "" : block);
    }

    void add_type(const Spot& spot) {
        Ec2Type type{.name = spot["InstanceType"].text()};
        for (const Spot& gpu : spot["GpuInfo"]["Gpus"].items()) type.gpus += gpu["Count"].count().value_or(0);
        const Spot network = spot["NetworkInfo"];
        if (network["EfaInfo"].has("MaximumEfaInterfaces"))
            type.efas = network["EfaInfo"]["MaximumEfaInterfaces"].count().value_or(0);
        if (network.has("MaximumNetworkCards")) type.cards = network["MaximumNetworkCards"].count().value_or(0);
        for (const Spot& card : network["NetworkCards"].items())
            if (const Spot peak = card["PeakBandwidthInGbps"]; !peak.is_null())
                type.card_gbps.push_back(peak.number().value_or(0));
        out_.types.push_back(std::move(type));
    }

    // Counted from the top, as the labels of Kubernetes count them; a cluster's layers begin at the bottom.
    void name_layers() {
        std::size_t deepest = 0;
        for (const TreeHost& host : out_.tree.hosts) deepest = std::max(deepest, host.switches.size());
        for (std::size_t layer = deepest; layer > 0; --layer)
            out_.tree.layers.push_back(fmt::format("network-node-layer-{}.", layer));
    }

    ForeignFile file_;
    Ec2Answers out_;
    std::size_t reservations_ = 0;
};

}  // namespace

Ec2Answers parse_ec2(std::string_view text, const std::string& file) { return Ec2Reader(text, file).read(); }

std::vector<Problem> differences(const std::vector<Ec2Type>& types, const std::string& file, const Catalogue& catalogue,
                                 std::vector<Problem>& notes) {
    std::vector<Problem> problems;
    const auto names = catalogue.names();
    for (const Ec2Type& type : types) {
        if (std::find(names.begin(), names.end(), type.name) == names.end()) {
            notes.push_back({file, 0, type.name, "the catalogue has no such type: it is left out", ""});
            continue;
        }
        const InstanceType ours = catalogue.instance(type.name);
        const auto differ = [&](const char* what, auto expected, auto found) {
            if (expected == found) return;
            problems.push_back({file, 0, type.name, fmt::format("expected {} {}, as in the catalogue", expected, what),
                                fmt::format("{}", found)});
        };
        differ("GPUs", std::uint64_t{ours.gpus}, type.gpus);
        differ("EFA interfaces", std::uint64_t{ours.nics}, type.efas);
        if (type.card_gbps.empty() || !ours.nic) continue;
        const double gbps = ours.nic->rate.value * 8e-9;
        if (type.card_gbps.size() == type.cards)
            differ("Gb/s of network in all", std::round(ours.nics * gbps),
                   std::round(std::accumulate(type.card_gbps.begin(), type.card_gbps.end(), 0.0)));
        else
            differ("Gb/s a network card", std::round(gbps),
                   std::round(*std::max_element(type.card_gbps.begin(), type.card_gbps.end())));
    }
    return problems;
}

Imported import_ec2(std::string_view text, const std::string& file, const Catalogue& catalogue,
                    const ImportOptions& options) {
    Ec2Answers answers = parse_ec2(text, file);
    std::vector<Problem> problems = differences(answers.types, file, catalogue, answers.tree.notes);
    if (!problems.empty()) throw InputError(std::move(problems));
    // Types alone are a cluster of one of each.
    const auto names = catalogue.names();
    if (answers.tree.hosts.empty())
        for (const Ec2Type& type : answers.types)
            if (std::find(names.begin(), names.end(), type.name) != names.end())
                answers.tree.hosts.push_back({.name = type.name, .type = type.name});
    return to_cluster(std::move(answers.tree), catalogue, options.type);
}

}  // namespace fmsim
