// The catalogue: machines a line each, and the values of one with their sources.
#include <fmt/format.h>

#include "fmsim/report.hpp"
#include "table.hpp"

namespace fmsim {
namespace {

std::string in(const Table& table, Format format, const char* key) {
    if (format == Format::text) return to_text(table);
    if (format == Format::csv) return to_csv(table);
    return nlohmann::ordered_json{{key, to_json(table)}}.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
           "\n";
}

}  // namespace

std::string write(const std::vector<DomainType>& machines, Format format) {
    Table table;
    table.columns = {{.key = "name", .head = "machine"},
                     {.key = "instances", .head = "instances"},
                     {.key = "gpus", .head = "GPUs"},
                     {.key = "gpu", .head = "GPU"},
                     {.key = "hbm_GiB", .head = "HBM", .unit = "(GiB)"},
                     {.key = "nvlink_GBps", .head = "NVLink", .unit = "(GB/s)"},
                     {.key = "nics", .head = "NICs"},
                     {.key = "network_Gbps", .head = "network", .unit = "(Gb/s)"},
                     {.key = "fabric", .head = "fabric"},
                     {.key = "on_demand_usd_per_hour", .head = "on demand", .unit = "($/h)", .digits = 6}};
    for (const DomainType& machine : machines) {
        const InstanceType& one = machine.instance;
        const std::uint32_t nics = machine.instances * one.nics;
        table.rows.push_back({machine.name, std::int64_t{machine.instances}, std::int64_t{machine.gpus()}, one.gpu.name,
                              std::int64_t{machine.gpus()} * (one.gpu.memory.count >> 30),
                              one.nvlink ? TableCell{one.nvlink->rate.value * 1e-9} : TableCell{}, std::int64_t{nics},
                              one.nic ? TableCell{nics * one.nic->rate.value * 8e-9} : TableCell{},
                              one.nic ? TableCell{one.nic->fabric} : TableCell{},
                              one.on_demand ? TableCell{machine.instances * one.on_demand->usd_an_hour} : TableCell{}});
    }
    return in(table, format, "machines");
}

std::string write(const std::vector<SourcedValue>& values, Format format) {
    Table table;
    table.columns = {{.key = "file", .head = "file"},
                     {.key = "pointer", .head = "value of"},
                     {.key = "value", .head = "value"},
                     {.key = "confidence", .head = "confidence"},
                     {.key = "date", .head = "date"},
                     {.key = "source", .head = "source"},
                     {.key = "note", .head = "", .in_text = false}};
    for (const SourcedValue& value : values)
        table.rows.push_back({value.file, value.pointer, value.value, value.confidence, value.date, value.source,
                              value.note.empty() ? TableCell{} : TableCell{value.note}});
    return in(table, format, "values");
}

}  // namespace fmsim
