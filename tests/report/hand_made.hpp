// Findings with round numbers, for reports that can be checked in the head.
#pragma once

#include "fmsim/report.hpp"

namespace fmsim::test {

// A call of `size` that takes `time`: 10 us to launch, 40 % of the rest waiting.
inline ReportedCall call(const std::string& name, Bytes size, SimTime started, SimTime time) {
    const SimTime rest = time - 10_us;
    const SimTime waiting{rest.fs * 2 / 5};
    return {.predicted = {.call = {name, Collective::all_reduce, size},
                          .collective = Collective::all_reduce,
                          .kind = "all_reduce",
                          .job = {},
                          .role = {},
                          .ranks = 4,
                          .times = 1,
                          .algorithm = "Ring",
                          .protocol = Protocol::ll128,
                          .channels = 16,
                          .started = started,
                          .ended = started + time,
                          .closed_form = {time.fs / 2}},
            .finding = {.limited_by = "EFA",
                        .busiest = "toy[0]/nic0 -> fabric",
                        .launch = 10_us,
                        .waiting = waiting,
                        .working = rest - waiting},
            .measured_us = {}};
}

inline Provenance provenance() {
    return {.fmsim_version = "9.9.9",
            .constants_hash = "0123456789abcdef",
            .inputs_hash = "fedcba9876543210",
            .assumptions = {"nothing else runs", "a \"quoted\" one, with a comma"},
            .warnings = {}};
}

}  // namespace fmsim::test
