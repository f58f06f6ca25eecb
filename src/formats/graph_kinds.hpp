// Kinds of the catalogue that a free graph names, each read once.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {

// What is meant, with the nearest word to it.
inline std::string unknown(std::string_view what, std::string_view word, const std::vector<std::string>& known) {
    const auto meant = nearest(word, known);
    return fmt::format("expected {}{}", what, meant ? fmt::format("; did you mean \"{}\"?", *meant) : "");
}

// The kinds of a folder of the catalogue, each read once.
template <class Part>
class Kinds {
public:
    Kinds(const Catalogue& catalogue, std::string folder, std::string what, std::vector<Part>& parts)
        : catalogue_(catalogue), what_(std::move(what)), parts_(parts) {
        for (const auto& [path, text] : catalogue.files())
            if (path.starts_with(folder)) known_.push_back(path.substr(folder.size(), path.size() - folder.size() - 5));
    }
    void add_word(std::string word) { known_.push_back(std::move(word)); }
    template <class Read>
    std::uint32_t at(const Document::Spot& spot, const std::string& kind, Read read) {
        const auto found = numbers_.find(kind);
        if (found != numbers_.end()) return found->second;
        if (std::find(known_.begin(), known_.end(), kind) == known_.end()) {
            spot.refuse(unknown(fmt::format("a kind of {} of the catalogue", what_), kind, known_));
            return 0;
        }
        parts_.push_back(read(catalogue_.files(), kind, "graph"));
        return numbers_[kind] = static_cast<std::uint32_t>(parts_.size() - 1);
    }

private:
    const Catalogue& catalogue_;
    std::string what_;
    std::vector<Part>& parts_;
    std::vector<std::string> known_;
    std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace fmsim
