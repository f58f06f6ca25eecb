#include <fmt/format.h>

#include "fmsim/moe.hpp"

namespace fmsim {

std::string_view name(Copies copies) {
    switch (copies) {
        case Copies::each_expert:
            return "each_expert";
        case Copies::each_rank:
            return "each_rank";
        case Copies::each_domain:
            return "each_domain";
    }
    return {};
}

const Dispatcher& find(const std::vector<Dispatcher>& dispatchers, std::string_view name) {
    std::vector<std::string> names;
    for (const Dispatcher& dispatcher : dispatchers) {
        if (dispatcher.name == name) return dispatcher;
        names.push_back(dispatcher.name);
    }
    const auto meant = nearest(name, names);
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = "/dispatcher",
                       .expected = meant ? fmt::format("expected a dispatcher; did you mean \"{}\"?", *meant)
                                         : fmt::format("expected a dispatcher: {}", fmt::join(names, ", ")),
                       .found = std::string(name)}});
}

}  // namespace fmsim
