// Regular expressions as our schemas have them, without a machine made of them first.
#pragma once

#include <string_view>

namespace fmsim {

// True: `text` matches `pattern` from end to end. False: it does not, or the pattern has more than ^ and $ around
// characters, [classes] and (groups), each once or as often as ?, *, + or {counts} say.
bool surely_matches(std::string_view text, std::string_view pattern);

}  // namespace fmsim
