// Published tables against the model: a prediction for each row, or why there is none.
#include <algorithm>

#include <fmt/format.h>

#include "fmsim/analysis.hpp"
#include "validate_rows.hpp"

namespace fmsim {
namespace {

constexpr std::string_view kOneWay = "sendrecv_oneway", kWriteStream = "rdma_write_stream";

// nccl-tests' words for what we call otherwise.
std::optional<Collective> collective_of(std::string_view word) {
    if (word == "alltoall") return Collective::all_to_all;
    if (word == "sendrecv") return Collective::send_recv;
    for (const Collective collective : kCollectives)
        if (name(collective) == word) return collective;
    return std::nullopt;
}

// One message from the first GPU to the second.
Workload one_way(Bytes size) {
    const auto program = [](std::uint32_t rank, Transfers transfers) {
        return Program{.role = rank == 0 ? "sender" : "receiver",
                       .ranks = {rank},
                       .operations = {{.name = "message", .action = std::move(transfers)}}};
    };
    Job job{.name = "one way"};
    job.programs.push_back(program(0, {.sends = {{.to = {false, 1}, .size = size}}, .receives = {}}));
    job.programs.push_back(program(1, {.sends = {}, .receives = {{.from = {false, 0}, .size = size}}}));
    return {.name = "one way", .jobs = {std::move(job)}};
}

class TableValidator {
public:
    TableValidator(const Measurements& table, const Topology& topology, const Nccl& nccl)
        : table_(table), topology_(topology), nccl_(nccl) {
        group_ = group_of(linear_placement(topology, table.gpus, table.per_domain));
        options_.pins = table.pins;
        const auto& nic = topology.cluster.blocks.front().type.instance.nic;
        if (group_.parts.size() > 1 && nic) over_ = nic->fabric;
        collective_ = collective_of(table.collective);
    }

    ValidatedRow predict_row(const MeasuredRow& measured) const {
        ValidatedRow row = row_of(table_, measured);
        row.over = over_;
        try {
            if (table_.collective == kWriteStream && topology_.type_of(DomainId{0}).instance.nic)
                row.predicted_us = write_stream_us(measured.size);
            else
                predict_call(row);
            row.why = why_unscored(table_, measured);
            row.scored = row.why.empty();
        } catch (const Infeasible& error) {
            row.why = error.what();
        } catch (const LimitReached& error) {
            row.why = error.what();
        }
        return row;
    }

private:
    void predict_call(ValidatedRow& row) const {
        const Workload work = collective_ ? in_turn({{to_text(row.size), *collective_, row.size}}) : one_way(row.size);
        const Prediction predicted = predict(topology_, group_, work, nccl_, options_);
        const CallPrediction& call = predicted.calls.front();
        row.predicted_us = microseconds(call.time());
        if (table_.torch) *row.predicted_us += microseconds(nccl_.shape.torch_call);
        row.algorithm = call.algorithm;
        row.protocol = name(call.protocol);
        row.channels = call.channels;
    }

    // Between writes that follow each other over all NICs of a GPU: each has a thread, which posts one while the NIC
    // sends the one before.
    double write_stream_us(Bytes size) const {
        const InstanceType& instance = topology_.type_of(DomainId{0}).instance;
        const Nic& nic = *instance.nic;
        const double nics = static_cast<double>(instance.nics) / instance.gpus;
        const double sent = static_cast<double>(size.count) / nic.carries.value;
        return std::max(sent, seconds(nic.message_cost)) / nics * 1e6;
    }

    const Measurements& table_;
    const Topology& topology_;
    const Nccl& nccl_;
    Group group_;
    PredictOptions options_;
    std::optional<Collective> collective_;
    std::string over_;  // the fabric between its domains
};

}  // namespace

ValidatedRow row_of(const Measurements& table, const MeasuredRow& measured) {
    return {.table = table.id,
            .source = table.source,
            .machine = machine_of(table.cluster),
            .collective = table.collective,
            .size = measured.size,
            .measured_us = measured.time_us};
}

std::string why_unscored(const Measurements& table, const MeasuredRow& row) {
    if (!table.healthy) return "the machine was not healthy";
    if (!table.typical) return "the table is not typical of the machine";
    if (!row.typical) return "the row is not typical of the machine";
    return {};
}

std::string machine_of(std::string_view cluster) { return std::string(cluster.substr(0, cluster.find(':'))); }

std::vector<ValidatedRow> not_predicted(const Measurements& table, const std::string& why) {
    std::vector<ValidatedRow> rows;
    for (const MeasuredRow& measured : table.rows) {
        rows.push_back(row_of(table, measured));
        rows.back().why = why;
    }
    return rows;
}

std::vector<ValidatedRow> validate(const Measurements& table, const Topology& topology, const Nccl& nccl) {
    const bool known =
        collective_of(table.collective) || table.collective == kOneWay || table.collective == kWriteStream;
    if (!known) return not_predicted(table, fmt::format("no model of {}", printable(table.collective)));
    const TableValidator validator(table, topology, nccl);
    std::vector<ValidatedRow> rows;
    for (const MeasuredRow& measured : table.rows) rows.push_back(validator.predict_row(measured));
    return rows;
}

}  // namespace fmsim
