// The work of works.hpp in SimGrid 3.32, in the fastest way that was found for each.
//
// Ring: a Comm is made in the completion callback of the one before it, without an actor a flow or a mailbox.
// All-to-all: actors of 32 peers each, or 64 of 1,024; at every end this version searches a list of all that the same
// actor has started (and a Comm without an actor is in one list with all the others), so that larger actors are slower,
// and smaller ones need more memory. Prints the predicted seconds.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <simgrid/s4u.hpp>

#include "works.hpp"

namespace {

using namespace peers;
namespace sg = simgrid::s4u;

// More than 30,000 actors and their stacks are more mappings than a process may have.
std::uint32_t peers_of_an_actor(const Work& work) { return std::max(32U, work.ranks / 16); }

// A host for each GPU's side to NVLink and one for its side to the network: a route is then two links.
struct Hosts {
    std::vector<sg::Host*> nvlink, nic;

    explicit Hosts(std::uint32_t ranks) {
        auto* const star = sg::create_star_zone("star");
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            nvlink.push_back(add(star, "v" + std::to_string(rank), kNvlink));
            nic.push_back(add(star, "n" + std::to_string(rank), kNic));
        }
        star->seal();
    }

    static sg::Host* add(sg::NetZone* star, const std::string& name, double bandwidth) {
        auto* const host = star->create_host(name, 1e9);
        const auto* const up = star->create_link(name + "u", bandwidth)->set_latency(0)->seal();
        const auto* const down = star->create_link(name + "d", bandwidth)->set_latency(0)->seal();
        star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg::LinkInRoute(up)}, false);
        star->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(down)}, false);
        return host;
    }
};

sg::CommPtr send(const Hosts& hosts, std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    const auto& side = by_nvlink(from, to) ? hosts.nvlink : hosts.nic;
    return sg::Comm::sendto_init(side[from], side[to])->set_payload_size(bytes);
}

sg::Mailbox* box(const std::vector<sg::Host*>& side, std::uint32_t rank) {
    return sg::Mailbox::by_name(side[rank]->get_name());
}

class Ring {
public:
    Ring(const Work& work, const Hosts& hosts)
        : hosts_(hosts), ranks_(work.ranks), steps_(work.steps), ended_(work.ranks), live_(2 * work.ranks) {}

    void begin() {
        sg::Activity::on_completion_cb([this](const sg::Activity& activity) { ended(activity); });
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) start(rank, 0);
    }

private:
    void start(std::uint32_t rank, std::uint32_t step) {
        const sg::CommPtr comm = send(hosts_, rank, (rank + 1) % ranks_, static_cast<std::uint64_t>(kSize / ranks_));
        comm->set_data(reinterpret_cast<void*>(std::uintptr_t{step} * ranks_ + rank));
        live_[2 * rank + step % 2] = comm;  // not that of the send before, whose callback this may be
        comm->start();
    }
    // A send goes when the rank's own one and the one it passes on, both of the step before, have ended.
    void ended(const sg::Activity& activity) {
        const auto key = reinterpret_cast<std::uintptr_t>(activity.get_data<void>());
        const auto rank = static_cast<std::uint32_t>(key % ranks_), step = static_cast<std::uint32_t>(key / ranks_);
        ended_[rank] = step + 1;
        if (step + 1 == steps_) return;
        const std::uint32_t next = (rank + 1) % ranks_, last = (rank + ranks_ - 1) % ranks_;
        if (ended_[last] > step) start(rank, step + 1);
        if (ended_[next] > step) start(next, step + 1);
    }

    const Hosts& hosts_;
    std::uint32_t ranks_, steps_;
    std::vector<std::uint32_t> ended_;  // sends of a rank
    std::vector<sg::CommPtr> live_;     // SimGrid keeps no reference of its own
};

// An actor posts all its receives, then all its sends, to and from one host's `peers`, and waits for all.
void exchange(const Work& work, const std::vector<sg::Host*>& side, std::uint32_t rank,
              const std::vector<std::uint32_t>& peers) {
    static int payload;
    std::vector<sg::CommPtr> comms;
    std::vector<int*> received(peers.size());
    for (std::size_t i = 0; i < peers.size(); ++i) comms.push_back(box(side, rank)->get_async(&received[i]));
    sg::this_actor::yield();
    for (const std::uint32_t to : peers)
        comms.push_back(box(side, to)->put_async(&payload, pair_bytes(work, rank, to)));
    for (const auto& comm : comms) comm->wait();
}

void all_to_all(const Work& work, const Hosts& hosts) {
    const std::uint32_t most = peers_of_an_actor(work);
    for (std::uint32_t rank = 0; rank < work.ranks; ++rank)
        for (std::uint32_t first = 0; first < work.ranks; first += most) {
            std::vector<std::uint32_t> nvlink, nic;
            for (std::uint32_t to = first; to < std::min(first + most, work.ranks); ++to)
                if (to != rank) (by_nvlink(rank, to) ? nvlink : nic).push_back(to);
            for (const auto& [side, peers] : {std::pair{&hosts.nvlink, nvlink}, std::pair{&hosts.nic, nic}})
                if (!peers.empty())
                    sg::Actor::create("r", (*side)[rank],
                                      [&work, side, rank, peers] { exchange(work, *side, rank, peers); });
        }
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> words{"simgrid", "--log=root.thres:critical", "--cfg=contexts/stack-size:32"};
    std::vector<char*> options;
    for (std::string& word : words) options.push_back(word.data());
    int count = static_cast<int>(options.size());
    sg::Engine engine(&count, options.data());
    for (const char* option : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                               "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0"})
        sg::Engine::set_config(option);

    const Work work = work_of(argc, argv);
    if (work.flat()) throw std::runtime_error("the flat works are for others");
    const Hosts hosts(work.ranks);
    Ring ring(work, hosts);
    if (work.kind == Work::Kind::ring)
        ring.begin();
    else
        all_to_all(work, hosts);
    engine.run();
    std::printf("%.12g\n", sg::Engine::get_clock());
    return 0;
}
