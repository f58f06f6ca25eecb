// The constants of the catalogue that `calibrate` fits, and which predictions rest on each.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"

namespace fmsim::cli {

struct Constant {
    std::string file, pointer, unit;
    double value{};
    FitBounds bounds;
};

// What the predictions of a table rest on.
struct TableGround {
    std::set<std::string> files;  // of the catalogue
    bool leaves_domain{};         // its ranks are in several domains
};
TableGround ground_of(const Catalogue& catalogue, const Measurements& table);

// Those of the files, in the order of the files.
std::vector<Constant> constants_of(const Catalogue& catalogue, const std::set<std::string>& files);

// The catalogue with other values for them.
Catalogue with(const Catalogue& catalogue, const std::vector<Constant>& constants, const std::vector<double>& values);

// Whether another value of the constant may change a row's time: not where its protocol, algorithm or link is another.
bool reaches(const Constant& constant, const TableGround& ground, const ValidatedRow& row);

}  // namespace fmsim::cli
