// The work of works.hpp in fmsim's engine, every transfer an activity. Prints the predicted seconds.
#include <array>
#include <cstdio>

#include "fmsim/engine.hpp"
#include "works.hpp"

namespace {

using namespace fmsim;
using namespace peers;

constexpr SimTime kFlight{2'000'000'000};  // of the last byte, on the flat network

// Of each rank: NVLink up and down, NIC up and down.
struct Links {
    std::uint32_t ranks;
    bool flat;

    Links(SystemBuilder& builder, const Work& work) : ranks(work.ranks), flat(work.flat()) {
        for (std::uint32_t i = 0; i < 4 * ranks; ++i) builder.add_resource(i < 2 * ranks ? kNvlink : kNic);
    }
    std::array<Use, 2> between(std::uint32_t from, std::uint32_t to) const {
        const std::uint32_t side = !flat && by_nvlink(from, to) ? 0 : 2 * ranks;
        return {Use{{side + from}, 1}, Use{{side + ranks + to}, 1}};
    }
};

System ring(const Work& work) {
    SystemBuilder builder;
    const Links links(builder, work);
    const std::size_t sends = std::size_t{work.steps} * work.ranks;
    builder.reserve(sends, 2 * sends, 2 * sends);
    const auto chunk = static_cast<double>(static_cast<std::uint64_t>(work.size / work.ranks));
    for (std::uint32_t step = 0; step < work.steps; ++step)
        for (std::uint32_t rank = 0; rank < work.ranks; ++rank) {
            const auto uses = links.between(rank, (rank + 1) % work.ranks);
            const ActivityId send = builder.add({.work = chunk, .uses = uses});
            if (step == 0) continue;
            builder.order({(step - 1) * work.ranks + rank}, send);
            builder.order({(step - 1) * work.ranks + (rank + work.ranks - 1) % work.ranks}, send,
                          work.flat() ? kFlight : SimTime{});
        }
    return std::move(builder).build();
}

System all_to_all(const Work& work) {
    SystemBuilder builder;
    const Links links(builder, work);
    const std::size_t sends = std::size_t{work.ranks} * (work.ranks - 1);
    builder.reserve(sends, 2 * sends, 0);
    for (std::uint32_t from = 0; from < work.ranks; ++from)
        for (std::uint32_t to = 0; to < work.ranks; ++to) {
            if (from == to) continue;
            const auto uses = links.between(from, to);
            builder.add({.work = static_cast<double>(pair_bytes(work, from, to)), .uses = uses});
        }
    return std::move(builder).build();
}

}  // namespace

int main(int argc, char** argv) {
    const Work work = work_of(argc, argv);
    const System system = work.ring() ? ring(work) : all_to_all(work);
    const SimTime end = run(system).end + (work.flat() ? kFlight : SimTime{});
    std::printf("%.12g\n", seconds(end));
    return 0;
}
