// What a file may still give of something that a few letters can make much of: ranges, repetitions.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "document.hpp"

namespace fmsim {

class Allowance {
public:
    Allowance(std::size_t most, std::string expected) : left_(most), expected_(std::move(expected)) {}

    // Whether there was so much left. The first who asks for too much is refused; nothing is left then.
    bool take(std::size_t count, const Document::Spot& spot) {
        if (!spent_ && count <= left_) {
            left_ -= count;
            return true;
        }
        if (!spent_) spot.refuse(expected_, "");
        spent_ = true;
        return false;
    }

private:
    std::size_t left_;
    std::string expected_;
    bool spent_ = false;
};

}  // namespace fmsim
