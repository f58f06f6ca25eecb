// What the explanations of runs and of training steps share: the sources of a cluster's values, and the node asked for.
#include "training.hpp"

namespace fmsim::cli {

std::string changes_text(const ScenarioOptions& options) {
    std::string text;
    for (const std::string& words : options.what_if) text += (text.empty() ? ", what if " : ", ") + words;
    return text;
}

void check_focus(const WhyReport& report) {
    if (report.focus.empty() || find(report.tree, report.focus) != nullptr) return;
    throw InputError(
        {{"", 0, "", "ID: expected a number or a name that `fmsim explain` shows without ID", report.focus}});
}

std::vector<SourcedValue> sources_of(const Cluster& cluster) {
    std::vector<SourcedValue> all;
    const Catalogue catalogue = Catalogue::shipped();
    for (const DomainBlock& block : cluster.blocks) {
        try {
            const auto its = catalogue.sources(block.type.name);
            all.insert(all.end(), its.begin(), its.end());
        } catch (const InputError&) {
            // A machine of the user's own: his file is its source.
        }
    }
    return all;
}

}  // namespace fmsim::cli
