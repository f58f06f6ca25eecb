// What a reader may do with any bytes at all: read them, or refuse them in words that can be shown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fmsim/base.hpp"

namespace fmsim::test {

inline std::string_view as_text(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

inline void require(bool promise) {
    if (!promise) std::abort();
}

// Anything but these two exceptions ends the program, which the fuzzer takes for a find.
template <class Read>
void only_refusals(Read read) {
    try {
        read();
    } catch (const InputError& error) {
        require(!error.problems.empty());
        const std::string_view message = error.what();
        require(std::all_of(message.begin(), message.end(),
                            [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }));
    } catch (const LimitReached&) {
    }
}

// The same for several readers: the first byte says which, the rest is for it.
template <class Read>
int only_refusals_of(const std::uint8_t* bytes, std::size_t size, Read read) {
    if (size > 0) only_refusals([&] { read(bytes[0], as_text(bytes + 1, size - 1)); });
    return 0;
}

}  // namespace fmsim::test
