// What a reader says when it refuses.
#pragma once

#include <string>

#include "fmsim/base.hpp"

namespace fmsim::test {

// The message of the InputError that `read` throws; empty when it throws none.
template <class Read>
std::string refusal(Read read) {
    try {
        read();
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace fmsim::test
