// All-to-all, and rings of sends: NCCL has no algorithm for them but sends and receives that run together.
//
//   all_to_all   each rank sends size / R to every other; what it keeps moves nowhere
//   send_recv    rank r sends to r + 1, the last to the first (as nccl-tests has it)
//
// By PXN a message between domains goes over NVLink to the neighbour whose number the receiver has, and leaves by that
// one's NIC, so that it meets no other rail. Source: NCCL 2.30 (enqueue.cc, device/sendrecv.h; graph/paths.cc, PXN).
#include "exchange.hpp"

#include "cut.hpp"

namespace fmsim {
namespace {

Schedule plan_exchange(Collective collective, const PlanRequest& request, Exchange exchange) {
    Schedule schedule = begin_schedule(collective, "SendRecv", request);
    exchange.pxn = request.pxn;
    exchange.channels = request.channels;
    exchange.inside = request.inside;
    exchange.between = request.between;
    schedule.launch = request.launch + request.shape->transfer_launch;
    schedule.exchange = std::move(exchange);
    if (request.size.count == 0) {  // no kernel, as of any operation of no bytes
        schedule.launch = {};
        schedule.exchange->messages.clear();
        schedule.exchange->host = {};
    }
    return schedule;
}

}  // namespace

Schedule plan_all_to_all(const Topology&, const Group& group, const PlanRequest& request) {
    const auto ranks = static_cast<std::int64_t>(group.places.size());
    const double each = static_cast<double>(request.size.count) / static_cast<double>(ranks);
    return plan_exchange(
        Collective::all_to_all, request,
        {.each = each, .messages = {}, .host = {request.shape->transfer_host.fs * ranks}, .kept = each});
}

Schedule plan_send_recv(const Topology&, const Group& group, const PlanRequest& request) {
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    Exchange exchange;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        exchange.messages.push_back({rank, (rank + 1) % ranks, static_cast<double>(request.size.count)});
    return plan_exchange(Collective::send_recv, request, std::move(exchange));
}

}  // namespace fmsim
