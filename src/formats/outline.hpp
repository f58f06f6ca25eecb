// A look over a JSON text before it becomes values: how deep, which key twice, and in which line each value stands.
//
// The JSON library keeps no places, so the text is read once more, event by event, through an iterator that counts
// lines. This pass keeps no value, so a hostile text costs little.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"

namespace fmsim {

// After so many problems a file is not looked at further.
inline constexpr std::size_t kMostProblems = 100;

// What is wrong with the text as JSON: its syntax, a nesting beyond 64, more values than memory should hold, a key
// twice in one object. Empty: nothing.
std::vector<Problem> outline_problems(std::string_view text, const std::string& file);

// Gives each problem without a line the line of the value its pointer names, or of the closest one around it.
void add_lines(std::vector<Problem>& problems, std::string_view text);

}  // namespace fmsim
