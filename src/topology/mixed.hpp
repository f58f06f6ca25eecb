// A hash of numbers, the same on every machine.
#pragma once

#include <cstdint>

namespace fmsim {

// SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of the input.
constexpr std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

}  // namespace fmsim
