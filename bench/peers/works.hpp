// The work that both sides of the comparison do: what is sent, in which order, over which links.
//
// N GPUs, 8 to an instance. A GPU has an NVLink of 450 GB/s up and one down into an ideal switch, and a NIC of 50 GB/s
// up and down into a network that never blocks; no latency, since SimGrid makes one a weight of the flow. Inside an
// instance bytes go by NVLink, else by NIC: two links a transfer.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace peers {

inline constexpr std::uint32_t kGpusPerInstance = 8;
inline constexpr double kNvlink = 450e9, kNic = 50e9;  // bytes a second
inline constexpr double kSize = 1024.0 * 1024 * 1024;  // of the ring's buffer, or what a GPU sends in an all-to-all

struct Work {
    // ring: rank r sends chunk k to r + 1 in step k; waits for its own send of step k - 1 and for what it passes on.
    // equal, unequal: every rank sends to every other, all at once; unequal: each size within half of the equal one.
    // flat_ring, flat_all: the same without NVLink, and what is sent arrives 2 us after its last byte has left.
    // rails: eight rings at once, each with an eighth of the buffer: ring c enters an instance at GPU c.
    enum class Kind { ring, equal, unequal, flat_ring, flat_all, rails } kind;
    std::uint32_t ranks;
    std::uint32_t steps;  // of a ring; all of them are 2 (N - 1)
    double size = kSize;
    bool flat() const { return kind == Kind::flat_ring || kind == Kind::flat_all; }
    bool ring() const { return kind == Kind::ring || kind == Kind::flat_ring || kind == Kind::rails; }
    std::uint32_t rings() const { return kind == Kind::rails ? kGpusPerInstance : 1; }
};

// PROGRAM WORK RANKS [STEPS [BYTES]]; 0 steps are all.
inline Work work_of(int argc, char** argv) {
    static constexpr std::pair<const char*, Work::Kind> kKinds[] = {
        {"ring", Work::Kind::ring},           {"equal", Work::Kind::equal},       {"unequal", Work::Kind::unequal},
        {"flat_ring", Work::Kind::flat_ring}, {"flat_all", Work::Kind::flat_all}, {"rails", Work::Kind::rails}};
    if (argc < 3) throw std::runtime_error("usage: PROGRAM WORK RANKS [STEPS [BYTES]]");
    const auto number = [&](int i) { return argc > i ? std::strtod(argv[i], nullptr) : 0; };
    for (const auto& [name, kind] : kKinds) {
        if (name != std::string(argv[1])) continue;
        Work work{.kind = kind,
                  .ranks = static_cast<std::uint32_t>(number(2)),
                  .steps = static_cast<std::uint32_t>(number(3))};
        if (work.ranks < 2) throw std::runtime_error("two ranks or more");
        if (work.steps == 0) work.steps = 2 * (work.ranks - 1);
        if (argc > 4) work.size = number(4);
        return work;
    }
    throw std::runtime_error(std::string("no such work: ") + argv[1]);
}

// Who stands at a place of a ring.
inline std::uint32_t rank_at(std::uint32_t place, std::uint32_t ring) {
    return place / kGpusPerInstance * kGpusPerInstance + (place + ring) % kGpusPerInstance;
}

inline bool by_nvlink(std::uint32_t from, std::uint32_t to) { return from / kGpusPerInstance == to / kGpusPerInstance; }

// Whole bytes: SimGrid takes no others. The unequal ones come from a mixing of the pair, the same on both sides.
inline std::uint64_t pair_bytes(const Work& work, std::uint32_t from, std::uint32_t to) {
    const double equal = work.size / work.ranks;
    if (work.kind != Work::Kind::unequal) return static_cast<std::uint64_t>(equal);
    std::uint64_t x = (std::uint64_t{from} << 32 | to) + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    return static_cast<std::uint64_t>(equal * (0.5 + static_cast<double>(x >> 11) * 0x1p-53));
}

}  // namespace peers
