// A prediction -> why: what bound each call, how busy each kind of link was, and how far a measurement is.
//
//   const Findings why = explain(net, prediction);
//   why.calls[0].limited_by;                       // "EFA"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// Where the time of a call went. The three add up to it.
struct CallFinding {
    std::string limited_by;  // "EFA", "NVLink", "PCIe", "channels" (the copy rate of their SMs),
                             // "latency" where less than half the time goes to bytes, "nothing" for 0 bytes,
                             // "compute" and "delay" of operations that are no communication
    std::string busiest;     // the link that held it, by name; empty when none did
    SimTime launch;          // of the kernel
    SimTime waiting;         // latencies, filling and draining of the pipeline
    SimTime working;         // the busiest stage moves bytes; of compute all of it
};

// The busiest link of each kind, over the whole run.
struct LinkFinding {
    std::string kind;
    std::string busiest;
    std::size_t links{};
    double bytes{};        // over the busiest
    double utilisation{};  // of the busiest: bytes / (rate x run)
};

struct Findings {
    std::vector<CallFinding> calls;
    std::vector<LinkFinding> links;
};

Findings explain(const Topology& topology, const Prediction& prediction);

// A published table of one collective on one cluster.
struct MeasuredRow {
    Bytes size;
    double time_us{};
};
struct Measurements {
    std::string id;
    std::string cluster;  // in our short form
    std::string collective;
    std::string source;
    std::vector<MeasuredRow> rows;
};

// The measured time of a size, if the table has it.
std::optional<double> measured_us(const Measurements& measurements, Bytes size);

// predicted / measured - 1, in percent.
double error_percent(SimTime predicted, double measured_us);

// The mean of |error| over the rows that both have.
struct ErrorSummary {
    std::size_t rows{};
    double mean_percent{};
    double worst_percent{};
};
ErrorSummary summarise(const std::vector<double>& error_percents);

}  // namespace fmsim
