// Independent pieces of work on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace fmsim::cli {

// Does work(i) for each i below `count`, in any order, on as many threads as there are processors. Afterwards throws
// what the first of them threw, by i.
template <class Work>
void side_by_side(std::size_t count, Work work) {
    std::vector<std::exception_ptr> failed(count);
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                failed[i] = std::current_exception();
            }
        }
    };
    std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()) - 1);
    for (std::thread& thread : threads) thread = std::thread(run);
    run();
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failed)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace fmsim::cli
