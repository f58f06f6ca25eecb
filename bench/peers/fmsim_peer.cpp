// The work of works.hpp in fmsim's engine, every transfer an activity. Prints the predicted seconds, and where a sixth
// word asks for coalescing (the part of its work that an activity may leave out) what was left out.
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
    const std::uint32_t ranks = work.ranks;
    const bool one_ring = work.rings() == 1;
    const std::size_t sends = std::size_t{work.steps} * ranks * work.rings();
    builder.reserve(sends, 2 * sends, 2 * sends);
    const auto chunk = static_cast<double>(static_cast<std::uint64_t>(work.size / ranks / work.rings()));
    for (std::uint32_t step = 0; step < work.steps; ++step)
        for (std::uint32_t one = 0; one < work.rings(); ++one)
            for (std::uint32_t place = 0; place < ranks; ++place) {
                const std::uint32_t from = one_ring ? place : rank_at(place, one);
                const std::uint32_t next = (place + 1) % ranks, to = one_ring ? next : rank_at(next, one);
                const auto uses = links.between(from, to);
                const ActivityId send = builder.add({.work = chunk, .uses = uses});
                if (step == 0) continue;
                const std::uint32_t before = ((step - 1) * work.rings() + one) * ranks;
                builder.order({before + place}, send);
                builder.order({before + (place + ranks - 1) % ranks}, send, work.flat() ? kFlight : SimTime{});
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
    const double coalesce = argc > 5 ? std::strtod(argv[5], nullptr) : 0;
    const Timeline timeline = run(system, Record::ends, coalesce);
    std::printf("%.12g\n", seconds(timeline.end + (work.flat() ? kFlight : SimTime{})));
    if (coalesce > 0)
        std::printf("%llu solves, %llu ended early, %.6g s left out on one link\n",
                    static_cast<unsigned long long>(timeline.solves), static_cast<unsigned long long>(timeline.early),
                    timeline.left_out);
    return 0;
}
