// The catalogue's dispatchers of tokens to experts: topologies/moe/, a file each.
#include "fmsim/formats.hpp"
#include "leaves.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kFolder = "moe/";

// What a file does not say is 0: no cost, no limit.
template <class T, class Read>
BothWays<T> both(const Spot& parent, const char* key, Read read) {
    if (!parent.has(key)) return {};
    const Spot spot = parent[key];
    return {.dispatch = read(value(spot["dispatch"])), .combine = read(value(spot["combine"]))};
}
BothWays<SimTime> spans_at(const Spot& parent, const char* key) {
    return both<SimTime>(parent, key, [](const Spot& s) { return s.span(); });
}
BothWays<BytesPerSecond> rates_at(const Spot& parent, const char* key) {
    return both<BytesPerSecond>(parent, key, [](const Spot& s) { return s.rate(); });
}
BothWays<double> numbers_at(const Spot& parent, const char* key) {
    return both<double>(parent, key, [](const Spot& s) { return s.number(); });
}
std::uint32_t count_at(const Spot& parent, const char* key) { return parent.has(key) ? value(parent[key]).count() : 0; }

DispatcherNetwork network_of(const Spot& spot) {
    return {.most_ranks = count_at(spot, "most_ranks"),
            .latency = spans_at(spot, "latency"),
            .each_domain = spans_at(spot, "each_domain"),
            .each_peer = spans_at(spot, "each_peer"),
            .each_message = spans_at(spot, "each_message"),
            .share = numbers_at(spot, "share"),
            .staged_share = numbers_at(spot, "staged_share")};
}

Copies copies_of(const std::string& word) {
    Copies found{};
    for (const Copies copies : kCopies)
        if (name(copies) == word) found = copies;  // the schema lets no other word through
    return found;
}

Dispatcher dispatcher_of(const Spot& root) {
    Dispatcher dispatcher{.name = root["name"].name(),
                          .about = root["about"].text(),
                          .all_to_all = root.has("all_to_all") && value(root["all_to_all"]).json().get<bool>(),
                          .copies = copies_of(value(root["copies"]).text()),
                          .networks = {},
                          .most_domain_gpus = count_at(root, "most_domain_gpus"),
                          .sms = count_at(root, "sms"),
                          .launch = spans_at(root, "launch"),
                          .each_rank = spans_at(root, "each_rank"),
                          .nvlink_share = numbers_at(root, "nvlink_share"),
                          .each_pair = rates_at(root, "each_pair"),
                          .each_sm = rates_at(root, "each_sm"),
                          .window = root.has("window") ? value(root["window"]).number() : 0};
    if (!dispatcher.all_to_all)
        for (const char* key : {"launch", "nvlink_share", "networks"})
            if (!root.has(key)) root.refuse(std::string("expected a key \"") + key + "\"", "none");
    if (root.has("each_sm") && !root.has("sms")) root["each_sm"].refuse("expected a number of SMs beside, \"sms\"");
    if (root.has("networks")) {
        const Spot networks = root["networks"];
        for (const std::string& key : networks.keys()) dispatcher.networks.emplace(key, network_of(networks[key]));
    }
    const Spot words = root["tables"]["words"];
    for (std::size_t i = 0; i < words.size(); ++i) dispatcher.tables_words.push_back(words[i].text());
    if (root["tables"].has("most_tokens")) dispatcher.tables_most_tokens = root["tables"]["most_tokens"].count();
    return dispatcher;
}

}  // namespace

std::vector<Dispatcher> Catalogue::dispatchers() const {
    std::vector<Dispatcher> all;
    for (auto file = files_.lower_bound(std::string(kFolder)); file != files_.end() && file->first.starts_with(kFolder);
         ++file) {
        Document document(file->second, file->first, "dispatcher");
        all.push_back(dispatcher_of(document.root()));
        document.finish();
    }
    return all;
}

}  // namespace fmsim
