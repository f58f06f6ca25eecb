// A prediction through the library, with every door included.
#include <cstdio>

#include <fmsim/analysis.hpp>
#include <fmsim/base.hpp>
#include <fmsim/choice.hpp>
#include <fmsim/collective.hpp>
#include <fmsim/engine.hpp>
#include <fmsim/formats.hpp>
#include <fmsim/lowering.hpp>
#include <fmsim/predict.hpp>
#include <fmsim/report.hpp>
#include <fmsim/topology.hpp>
#include <fmsim/workload.hpp>

int main() {
    using namespace fmsim;
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const Workload job = in_turn({{"gradients", Collective::all_reduce, Bytes{1 << 30}}});
    const Group group = group_of(linear_placement(net, 0, 0));
    const Prediction prediction = predict(net, group, job, catalogue.nccl(), {});
    const Findings why = explain(net, prediction);
    std::printf("all-reduce of %s on %u GPUs: %.1f us, limited by %s\n", to_text(prediction.calls[0].call.size).c_str(), net.gpus(),
                microseconds(prediction.calls[0].time()), why.calls[0].limited_by.c_str());
    return prediction.end > SimTime{} ? 0 : 1;
}
