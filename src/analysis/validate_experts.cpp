// Published tables of tokens to experts: which dispatcher a table is of, what its rows ask, and what the model says.
//
// The tables give bytes = tokens x top_k x hidden x element and say the rest in words: "top-8", "256 experts",
// "balanced routing", "top-4 groups". What they do not say is that of DeepSeek-V3, which all of them but a few are made
// for.
#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "validate_rows.hpp"

namespace fmsim {
namespace {

constexpr std::string_view kDispatch = "moe_dispatch", kCombine = "moe_combine", kBoth = "moe_dispatch_plus_combine";
constexpr std::uint32_t kTopK = 8, kExperts = 256;

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// The whole number that begins at a place of a text; nothing where none does.
std::optional<std::uint32_t> number_at(std::string_view text, std::size_t at) {
    std::uint32_t number{};
    if (std::from_chars(text.data() + at, text.data() + text.size(), number).ec != std::errc{}) return std::nullopt;
    return number;
}
// "256 experts"
std::optional<std::uint32_t> number_before(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    std::size_t first = at;
    while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
    return number_at(text, first);
}
// "top-8"
std::optional<std::uint32_t> number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    return at == std::string_view::npos ? std::nullopt : number_at(text, at + word.size());
}

// The longest of a dispatcher's words in a text.
std::size_t longest_word(const Dispatcher& dispatcher, std::string_view text) {
    std::size_t longest = 0;
    for (const std::string& word : dispatcher.tables_words)
        if (text.find(word) != std::string_view::npos) longest = std::max(longest, word.size());
    return longest;
}

// By the table's name, else its note, else its source. Of several with words as long the one for the fewest tokens that
// are enough.
const Dispatcher* dispatcher_of(const Measurements& table, std::uint32_t tokens,
                                const std::vector<Dispatcher>& dispatchers) {
    for (const std::string* text : {&table.id, &table.note, &table.source}) {
        const Dispatcher* best = nullptr;
        std::size_t longest = 0;
        const auto room = [](const Dispatcher& one) { return one.tables_most_tokens - 1u; };  // 0: the most
        for (const Dispatcher& dispatcher : dispatchers) {
            const std::size_t length = longest_word(dispatcher, lower(*text));
            const bool fits = dispatcher.tables_most_tokens == 0 || tokens <= dispatcher.tables_most_tokens;
            if (length == 0 || length < longest) continue;
            if (length > longest || best == nullptr || (fits && room(dispatcher) < room(*best)) ||
                (best->tables_most_tokens != 0 && tokens > best->tables_most_tokens))
                best = &dispatcher;
            longest = length;
        }
        if (best != nullptr) return best;
    }
    return nullptr;
}

// What the elements of a way weigh in the table's bytes: a round trip goes out in its dtype and comes back in bf16.
std::int64_t bits_of(const std::string& dtype) {
    for (const TokenType& type : kTokenTypes)
        if (type.name == dtype) return type.bits;
    return 0;
}

// The size less the part that stays in the domain, over a GPU's NICs; on one domain less what the rank keeps, over
// NVLink.
double plain_us(const Topology& topology, const Group& group, Bytes size) {
    const DomainType& type = topology.type_of(group.parts.front().domain);
    const auto parts = static_cast<double>(group.parts.size() > 1 ? group.parts.size() : group.places.size());
    const double nics = static_cast<double>(type.instance.nics) / type.instance.gpus;
    const double rate =
        group.parts.size() > 1 ? nics * type.instance.nic->carries.value : type.instance.nvlink->carries().value;
    return static_cast<double>(size.count) * (1 - 1 / parts) / rate * 1e6;
}

}  // namespace

bool is_of_experts(const Measurements& table) {
    return table.collective == kDispatch || table.collective == kCombine || table.collective == kBoth;
}

std::vector<ExpertCall> expert_calls(const Measurements& table, const MeasuredRow& row,
                                     const std::vector<Dispatcher>& dispatchers) {
    const Dispatcher* const dispatcher = dispatcher_of(table, row.tokens, dispatchers);
    const std::int64_t bits = bits_of(table.dtype);
    if (dispatcher == nullptr || row.tokens == 0 || bits == 0) return {};
    const std::string note = lower(table.note);
    ExpertCall call{.combine = table.collective == kCombine,
                    .tokens = row.tokens,
                    .top_k = number_after(note, "top-").value_or(kTopK),
                    .experts = number_before(note, " experts").value_or(kExperts),
                    .dtype = table.dtype,
                    .dispatcher = dispatcher->name,
                    .sms = row.sms};
    // As DeepEP's test does where ranks cannot share that many evenly.
    if (table.gpus != 0 && call.experts > table.gpus) call.experts = call.experts / table.gpus * table.gpus;
    if (note.find("balanced routing") != std::string::npos) call.routing = TokenRouting::balanced;
    call.limit = number_before(note, " groups").value_or(0);
    const std::int64_t elements =
        std::int64_t{call.tokens} * call.top_k * (bits + (table.collective == kBoth ? 16 : 0));
    call.hidden = static_cast<std::uint32_t>(row.size.count * 8 / elements);
    if (call.hidden == 0) return {};
    if (table.collective != kBoth) return {call};
    ExpertCall back = call;
    back.combine = true;
    back.dtype = "bf16";
    return {call, back};
}

double measured_us_of(const Measurements& table, const Group& group, const MeasuredRow& row,
                      const std::vector<Dispatcher>& dispatchers) {
    if (row.time_us > 0) return row.time_us;
    const ExpertCall call = expert_calls(table, row, dispatchers).front();
    const TokenTraffic traffic = traffic_of(group, call, find(dispatchers, call.dispatcher).copies);
    return (group.parts.size() > 1 ? traffic.staged : traffic.copied) / row.rate.value * 1e6;
}

std::vector<ValidatedRow> validate_experts(const Measurements& table, const Topology& topology, const Nccl& nccl,
                                           const std::vector<Dispatcher>& dispatchers) {
    const Group group = group_of(linear_placement(topology, table.gpus, table.per_domain));
    PredictOptions options;
    options.dispatchers = std::make_shared<const std::vector<Dispatcher>>(dispatchers);
    std::vector<ValidatedRow> rows;
    for (const MeasuredRow& measured : table.rows) {
        ValidatedRow& row = rows.emplace_back(row_of(table, measured));
        row.cluster = table.cluster;
        row.gpus = static_cast<std::uint32_t>(group.places.size());
        row.tokens = measured.tokens;
        row.plain_us = plain_us(topology, group, measured.size);
        const std::vector<ExpertCall> calls = expert_calls(table, measured, dispatchers);
        if (calls.empty()) {
            row.why = fmt::format("no dispatcher is known for this table of {}", printable(table.collective));
            continue;
        }
        try {
            row.measured_us = measured_us_of(table, group, measured, dispatchers);
            double us = 0;
            for (const ExpertCall& call : calls) {
                Workload work = in_turn({});
                work.jobs.front().programs.front().operations.push_back(
                    {.name = std::string(call.kind()), .action = call_of(call, 0)});
                const Prediction predicted = predict(topology, group, work, nccl, options);
                us += microseconds(predicted.calls.front().time());
                row.channels = predicted.calls.front().channels;
                row.algorithm = call.dispatcher;
            }
            row.predicted_us = us;
            row.why = why_unscored(table, measured);
            row.scored = row.why.empty();
        } catch (const Infeasible& error) {
            row.why = error.what();
        } catch (const InputError& error) {
            row.why = to_text(error.problems.front());
        }
    }
    return rows;
}

}  // namespace fmsim
