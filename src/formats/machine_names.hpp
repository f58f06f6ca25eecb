// What people type for a machine, taken apart.
//
//   split_count("p5en.48xlarge:16");                 // p5en.48xlarge, 16
//   hgx_name_of("hgx-h100-500w-8x400-roce");         // board h100-500w, 8 NICs of 400 Gb/s, RoCE
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fmsim {

// Throws InputError; the words stand where a file has its pointer.
[[noreturn]] void refuse_words(std::string_view words, std::string expected);

struct CountedName {
    std::string_view name;
    std::uint32_t count = 1;
};
// Throws InputError when what follows the colon is no whole number of 1 or more.
CountedName split_count(std::string_view words);

struct HgxName {
    std::string board;
    std::uint32_t nics{};  // 0: no network
    std::uint32_t gbps{};  // of each
    bool roce{};
};
bool is_hgx_name(std::string_view name);
// Whether there is such a board and such a NIC is not looked at. Throws InputError for numbers that no machine has.
HgxName hgx_name_of(std::string_view name);

}  // namespace fmsim
