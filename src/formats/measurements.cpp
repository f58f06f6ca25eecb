// A published table of measured times: what ran where, with which of NCCL's knobs fixed, and the times.
#include <charconv>

#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

bool given(const Document::Spot& spot, const std::string& key) { return spot.has(key) && !spot[key].json().is_null(); }

// A variable of NCCL's that shapes the choice; the others (queue pairs, service levels) are left alone.
void set_variable(const Document::Spot& spot, const std::string& name, const std::string& value, Pins& pins) {
    if (!has_nccl_knob(name)) return;
    try {
        set_nccl_variable(fmt::format("{}={}", name, value), pins);
    } catch (const InputError& error) {
        spot.refuse(error.problems.front().expected, value);
    }
}

// A table that does not say is older: NCCL 2.29 came out when most of them had been published.
bool is_before_2_29(const std::string& version) {
    static constexpr int kMajor = 2, kMinor = 29;
    int major = 0, minor = 0;
    const char* const end = version.data() + version.size();
    const auto [dot, error] = std::from_chars(version.data(), end, major);
    if (error != std::errc{} || dot == end || *dot != '.') return true;
    std::from_chars(dot + 1, end, minor);
    return major < kMajor || (major == kMajor && minor < kMinor);
}

// "benchmark" beside the variables says what was run, where it was not nccl-tests.
bool is_by_torch(const Document::Spot& root) {
    return given(root, "env") && root["env"].has("benchmark") && root["env"]["benchmark"].text().starts_with("torch");
}

Pins pins_of(const Document::Spot& root) {
    Pins pins;
    pins.transfers_before_2_29 = is_before_2_29(given(root, "nccl_version") ? root["nccl_version"].text() : "");
    bool algorithm = false, protocol = false;
    if (given(root, "env"))
        for (const auto& [name, value] : root["env"].json().items()) {
            set_variable(root["env"], name, value.get<std::string>(), pins);
            algorithm = algorithm || name == "NCCL_ALGO";
            protocol = protocol || name == "NCCL_PROTO";
        }
    if (!algorithm && given(root, "algorithm"))
        set_variable(root["algorithm"], "NCCL_ALGO", root["algorithm"].text(), pins);
    if (!protocol && given(root, "protocol"))
        set_variable(root["protocol"], "NCCL_PROTO", root["protocol"].text(), pins);
    return pins;
}

}  // namespace

Measurements parse_measurements(std::string_view text, const std::string& file) {
    Document document(text, file, "measurements");
    const Document::Spot root = document.root();
    Measurements measurements{.id = root["id"].name(),
                              .cluster = given(root, "cluster") ? root["cluster"].name() : "",
                              .collective = root["collective"].name(),
                              .source = root["source"].text(),
                              .rows = {},
                              .healthy = !root.has("healthy") || root["healthy"].json().get<bool>(),
                              .typical = !root.has("typical") || root["typical"].json().get<bool>(),
                              .gpus = given(root, "gpus") ? root["gpus"].count() : 0,
                              .per_domain = given(root, "gpus_per_domain") ? root["gpus_per_domain"].count() : 0,
                              .nccl_version = given(root, "nccl_version") ? root["nccl_version"].text() : "",
                              .torch = is_by_torch(root),
                              .pins = pins_of(root),
                              .dtype = given(root, "dtype") ? root["dtype"].text() : "",
                              .note = given(root, "note") ? root["note"].text() : ""};
    const Document::Spot rows = root["rows"];
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (given(rows[i], "time_us"))
            measurements.rows.push_back(
                {.size = rows[i]["bytes"].bytes(),
                 .time_us = rows[i]["time_us"].number(),
                 .typical = !rows[i].has("typical") || rows[i]["typical"].json().get<bool>(),
                 .tokens = given(rows[i], "tokens_per_rank") ? rows[i]["tokens_per_rank"].count() : 0,
                 .sms = given(rows[i], "sms") ? rows[i]["sms"].count() : 0});
    if (measurements.rows.empty()) rows.refuse("expected a row with a time");
    document.finish();
    return measurements;
}

}  // namespace fmsim
