// A full zone, two hosts and one route for each flow, one actor for each flow: it sleeps until the start, sends, and
// looks at the clock. Routes have no latency: a latency would become the weight of the flow (SimGrid's CM02 model).
#include "engine/simgrid_oracle.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

namespace fmsim::test {
namespace {

namespace sg = simgrid::s4u;

void set_options() {
    for (const char* option :
         {"network/model:CM02", "network/optim:Full", "network/TCP-gamma:0", "network/crosstraffic:0",
          "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0", "network/loopback-lat:0",
          "maxmin/precision:1e-12", "surf/precision:1e-12"})
        sg::Engine::set_config(option);
}

std::vector<double> simulate(const Draft& draft) {
    std::vector<std::string> arguments{"simgrid", "--log=root.thres:critical"};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    int argc = static_cast<int>(argv.size());
    sg::Engine engine(&argc, argv.data());
    set_options();

    sg::NetZone* const zone = sg::create_full_zone("zone");
    std::vector<sg::LinkInRoute> links;
    for (std::size_t r = 0; r < draft.capacity.size(); ++r)
        links.emplace_back(zone->create_link(fmt::format("l{}", r), draft.capacity[r])->set_latency(0)->seal());

    std::vector<double> ends(draft.activities.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const DraftActivity& flow = draft.activities[i];
        sg::Host* const from = zone->create_host(fmt::format("from{}", i), 1e9);
        sg::Host* const to = zone->create_host(fmt::format("to{}", i), 1e9);
        std::vector<sg::LinkInRoute> route;
        for (const Use& use : flow.uses) route.push_back(links[use.resource.value]);
        zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
        sg::Actor::create(fmt::format("{}", i), from, [&ends, &flow, i, from, to] {
            sg::this_actor::sleep_until(seconds(flow.delay));
            sg::Comm::sendto(from, to, static_cast<std::uint64_t>(flow.work));
            ends[i] = sg::Engine::get_clock();
        });
    }
    zone->seal();
    engine.run();
    return ends;
}

std::vector<double> read_all(int pipe, std::size_t count) {
    std::vector<double> values(count);
    auto* const bytes = reinterpret_cast<char*>(values.data());
    std::size_t got = 0;
    while (got < count * sizeof(double)) {
        const ssize_t more = read(pipe, bytes + got, count * sizeof(double) - got);
        if (more <= 0) break;
        got += static_cast<std::size_t>(more);
    }
    if (got != count * sizeof(double)) throw std::runtime_error("SimGrid gave no answer");
    return values;
}

}  // namespace

std::vector<double> simgrid_ends(const Draft& draft) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
        const std::vector<double> values = simulate(draft);
        const std::size_t bytes = values.size() * sizeof(double);
        _exit(write(pipe_ends[1], values.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
    }
    ::close(pipe_ends[1]);
    // Fewer bytes than a pipe holds: the child is never blocked by a late reader.
    std::vector<double> values;
    try {
        values = read_all(pipe_ends[0], draft.activities.size());
    } catch (...) {
        ::close(pipe_ends[0]);
        waitpid(child, nullptr, 0);
        throw;
    }
    ::close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    return values;
}

}  // namespace fmsim::test
