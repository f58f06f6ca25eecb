// The floors: a room includes only the doors that the table in docs/ARCHITECTURE.md grants it, and no other room's
// files; a package stays in the rooms that the table names for it; no public header shows one.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = FMSIM_SOURCE_DIR;

std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');) {
        const auto from = cell.find_first_not_of(' ');
        found.push_back(from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(' ') - from + 1));
    }
    return found;
}

std::set<std::string> words(const std::string& list) {
    std::set<std::string> found;
    std::istringstream in(list);
    for (std::string word; std::getline(in, word, ',');) {
        word.erase(0, word.find_first_not_of(' '));
        if (!word.empty()) found.insert(word);
    }
    return found;
}

struct Floors {
    std::map<std::string, std::set<std::string>> doors;     // a room's
    std::map<std::string, std::set<std::string>> packages;  // include prefixes a room may use
};

// "| floor | room | may include the doors of | packages |"
Floors floors() {
    Floors table;
    std::istringstream in(read(kRoot / "docs/ARCHITECTURE.md"));
    for (std::string line; std::getline(in, line);) {
        const auto row = cells(line);
        if (row.size() < 5 || row[1].empty() || std::string("0123456789").find(row[1][0]) == std::string::npos)
            continue;
        table.doors[row[2]] = words(row[3]);
        table.packages[row[2]] = words(row[4]);
    }
    return table;
}

std::vector<std::string> includes(const fs::path& file) {
    static const std::regex kInclude(R"(^\s*#include\s*[<"]([^>"]+)[>"])");
    std::vector<std::string> found;
    std::istringstream in(read(file));
    for (std::string line; std::getline(in, line);)
        if (std::smatch match; std::regex_search(line, match, kInclude)) found.push_back(match[1]);
    return found;
}

// Of a package's header the first folder: "boost", "nlohmann".
bool is_package(const std::string& include) {
    return include.find('/') != std::string::npos && !include.starts_with("fmsim/") && !include.starts_with("sys/");
}

}  // namespace

TEST_CASE("every room of the source has a floor, and every floor a room") {
    std::set<std::string> folders, rooms;
    for (const auto& entry : fs::directory_iterator(kRoot / "src"))
        if (entry.is_directory()) folders.insert(entry.path().filename());
    for (const auto& [room, doors] : floors().doors) rooms.insert(room);
    CHECK(folders == rooms);
}

TEST_CASE("a room includes only the doors and packages that its floor grants") {
    const Floors table = floors();
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
        const fs::path file = entry.path();
        if (file.extension() != ".cpp" && file.extension() != ".hpp") continue;
        const std::string room = *fs::relative(file, kRoot / "src").begin();
        for (const std::string& include : includes(file)) {
            INFO(file << " includes " << include);
            if (include.starts_with("fmsim/")) {
                const std::string door = fs::path(include).stem();
                CHECK((door == room || table.doors.at(room).contains(door) || table.doors.at(room).contains("all")));
            } else if (is_package(include)) {
                CHECK(table.packages.at(room).contains(include.substr(0, include.find('/'))));
            } else if (include.ends_with(".hpp")) {
                // A package may be one header without a folder.
                const bool own = fs::exists(file.parent_path() / include) ||
                                 table.packages.at(room).contains(fs::path(include).stem());
                CHECK((own || include == "version.hpp"));
            }
        }
    }
}

TEST_CASE("public headers show no package and only doors below their own") {
    const Floors table = floors();
    for (const auto& entry : fs::directory_iterator(kRoot / "include/fmsim")) {
        const std::string room = entry.path().stem();
        for (const std::string& include : includes(entry.path())) {
            INFO(entry.path() << " includes " << include);
            CHECK_FALSE(is_package(include));
            if (include.starts_with("fmsim/")) CHECK(table.doors.at(room).contains(fs::path(include).stem()));
        }
    }
}
