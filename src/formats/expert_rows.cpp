// A collection of measured exchanges of tokens, a row each, of many libraries -> tables of one row.
//
// Some rows have a time, some only a rate. What a rate counts is its library's way: of kernels that send a copy to each
// domain the bytes for all domains, the own included; within one domain those for all ranks; of a copy for each expert
// all of them (analysis turns it into a time).
#include <algorithm>

#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

constexpr double kMib = 1 << 20;
constexpr double kMost = 1e6;  // of any number here: beyond it nothing is meant

std::string text_at(const json& at, const char* key) {
    return at.contains(key) && at[key].is_string() ? at[key].get<std::string>() : "";
}

double number_at(const json& at, const char* key) {
    return at.contains(key) && at[key].is_number() ? std::clamp(at[key].get<double>(), 0.0, kMost) : 0;
}

// NCCL's own all-to-all, as nccl-tests has it.
Measurements all_to_all(const json& row, Measurements table) {
    const double ranks = number_at(row.at("hardware"), "gpus");
    const double bytes = number_at(row.at("batch"), "bytes_per_rank_mib") * kMib;
    const double busbw = number_at(row.at("measured"), "busbw_GBps_at_size");
    table.collective = "alltoall";
    if (busbw > 0)
        table.rows.push_back(
            {.size = Bytes{static_cast<std::int64_t>(bytes)}, .time_us = bytes * (ranks - 1) / ranks / busbw * 1e-3});
    return table;
}

Measurements table_of(const json& row) {
    const json &hardware = row.at("hardware"), &measured = row.at("measured");
    Measurements table{.id = printable(text_at(row, "id")),
                       .cluster = printable(text_at(hardware, "cluster")),
                       .collective = "",
                       .source = printable(text_at(row, "library")),
                       .rows = {},
                       .typical = !row.contains("typical") || row.at("typical") != false,
                       .gpus = static_cast<std::uint32_t>(number_at(hardware, "gpus"))};
    table.note = text_at(row, "notes") + " " + table.source;
    const std::string phase = text_at(row, "phase");
    if (phase == "all-to-all") return all_to_all(row, std::move(table));
    table.collective = "moe_" + phase;
    // Another library than the one of that name which came after it.
    if (table.source.starts_with("pplx-kernels")) table.collective += " by pplx-kernels";
    table.dtype = phase == "dispatch" && text_at(row, "precision").starts_with("FP8") ? "fp8" : "bf16";
    MeasuredRow one{.tokens = static_cast<std::uint32_t>(number_at(row.at("batch"), "tokens_per_rank"))};
    one.time_us = number_at(measured, "latency_us");
    if (one.time_us <= 0) one.rate = {number_at(measured, "bandwidth_GBps") * 1e9};
    const double elements = number_at(row.at("model"), "hidden") * number_at(row.at("model"), "topk") * one.tokens;
    one.size = Bytes{static_cast<std::int64_t>(std::min(elements, 1e15) * (table.dtype == "fp8" ? 1 : 2))};
    if (const std::size_t at = table.note.find(" SMs"); at != std::string::npos && at >= 2)
        one.sms = static_cast<std::uint32_t>(std::stoul("0" + table.note.substr(at - 2, 2)));
    if (one.time_us > 0 || one.rate.value > 0) table.rows.push_back(one);
    return table;
}

bool is_row(const json& row) {
    for (const char* key : {"hardware", "measured", "model", "batch"})
        if (!row.is_object() || !row.contains(key) || !row[key].is_object()) return false;
    return row.contains("phase") && row.contains("library");
}

}  // namespace

bool is_expert_rows(std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    return document.is_object() && document.contains("rows") && document.at("rows").is_array() &&
           !document.at("rows").empty() && is_row(document.at("rows").front());
}

std::vector<Measurements> parse_expert_rows(std::string_view text, const std::string& file) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("rows") || !document.at("rows").is_array())
        throw InputError({{file, 0, "/rows", "expected a list of measured exchanges", "none"}});
    std::vector<Measurements> tables;
    for (std::size_t i = 0; i < document.at("rows").size(); ++i) {
        const json& row = document.at("rows")[i];
        if (!is_row(row))
            throw InputError({{.file = file,
                               .line = 0,
                               .pointer = "/rows/" + std::to_string(i),
                               .expected = "expected a row with hardware, measured, model, batch, phase and library",
                               .found = ""}});
        try {
            Measurements table = table_of(row);
            if (!table.rows.empty()) tables.push_back(std::move(table));
        } catch (const json::exception& error) {
            throw InputError(
                {{file, 0, "/rows/" + std::to_string(i), "expected a measured exchange", printable(error.what())}});
        }
    }
    return tables;
}

}  // namespace fmsim
