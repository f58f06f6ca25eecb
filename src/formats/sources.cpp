// All values of a machine with their sources: of its own file, of the files that its values name, and of its GPU's
// generation.
#include <set>

#include <nlohmann/json.hpp>

#include "document.hpp"
#include "fmsim/formats.hpp"
#include "leaves.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

class Collect {
public:
    explicit Collect(const std::map<std::string, std::string>& files) : files_(files) {}

    std::vector<SourcedValue> values;

    void file(const std::string& path) {
        if (!seen_.insert(path).second) return;
        walk(path, json::parse(files_.at(path)), "");
    }

private:
    void walk(const std::string& path, const json& at, const std::string& pointer) {
        if (!at.is_object()) return;
        if (at.contains("value") && at.contains("source")) return leaf(path, at, pointer);
        for (const auto& [key, child] : at.items()) walk(path, child, pointer + "/" + key);
    }

    void leaf(const std::string& path, const json& at, const std::string& pointer) {
        const json& value = at.at("value");
        values.push_back({.file = path,
                          .pointer = pointer,
                          .value = value.is_string() ? value.get<std::string>() : shown(value),
                          .confidence = at.value("confidence", ""),
                          .date = at.value("date", ""),
                          .source = at.value("source", ""),
                          .note = at.value("note", "")});
        if (!value.is_string()) return;
        for (const char* folder : {"instances/", "gpus/", "links/", "nics/", "channels/"}) {
            const std::string part = folder + value.get<std::string>() + ".json";
            if (files_.contains(part)) file(part);
        }
    }

    const std::map<std::string, std::string>& files_;
    std::set<std::string> seen_;
};

}  // namespace

std::vector<SourcedValue> Catalogue::sources(std::string_view name) const {
    const DomainType type = domain(name);  // refuses a name that there is not, and files that are wrong
    Collect collect(files_);
    const std::string file = std::string(name) + ".json";
    for (const char* folder : {"domains/", "instances/"})
        if (files_.contains(folder + file)) collect.file(folder + file);
    // A board read from its name: what all of its kind share.
    if (collect.values.empty()) collect.file("hgx.json");
    if (const auto kernels = kernels_file(files_, type.instance.gpu)) collect.file(*kernels);
    return std::move(collect.values);
}

std::vector<SourcedValue> Catalogue::file_sources(const std::string& file) const {
    Collect collect(files_);
    collect.file(file);
    return std::move(collect.values);
}

}  // namespace fmsim
