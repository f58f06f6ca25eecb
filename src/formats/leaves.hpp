// The leaves of the catalogue's files: objects with a value, where it comes from and since when.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "document.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

inline Document::Spot value(const Document::Spot& leaf) { return leaf["value"]; }

template <class T, class Read>
PerProtocol<T> per_protocol(const Document::Spot& spot, Read read) {
    PerProtocol<T> values;
    for (const Protocol protocol : kProtocols) values[protocol] = read(value(spot[std::string(name(protocol))]));
    return values;
}

inline PerProtocol<SimTime> spans(const Document::Spot& spot) {
    return per_protocol<SimTime>(spot, [](const Document::Spot& one) { return one.span(); });
}

using Files = std::map<std::string, std::string>;  // text by path, as in Catalogue::files

// Throws InputError, in the name of the file that wanted it, when there is no such file.
const std::string& text_of(const Files& files, const std::string& path, const std::string& wanted_by);

// Of the facts about kernels on a GPU's generation; nothing when no file knows it.
std::optional<std::string> kernels_file(const Files& files, const Gpu& gpu);

}  // namespace fmsim
