#include "yaml_json.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace fmsim {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = 2'000'000;  // aliases count each time: a small text can mean a large value

std::size_t line_of(const YAML::Mark& mark) { return mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1; }

class YamlReader {
public:
    explicit YamlReader(const std::string& file) : file_(file) {}

    json value(const YAML::Node& node, std::size_t depth = 0) {
        if (depth > kDeepest) refuse(node, fmt::format("expected at most {} levels", kDeepest), "");
        if (++values_ > kMostValues) refuse(node, fmt::format("expected at most {} values", kMostValues), "more");
        switch (node.Type()) {
            case YAML::NodeType::Scalar:
                return scalar(node);
            case YAML::NodeType::Sequence: {
                json list = json::array();
                for (const YAML::Node& item : node) list.push_back(value(item, depth + 1));
                return list;
            }
            case YAML::NodeType::Map:
                return object(node, depth);
            case YAML::NodeType::Null:
            case YAML::NodeType::Undefined:
                break;
        }
        return nullptr;
    }

private:
    [[noreturn]] void refuse(const YAML::Node& node, std::string expected, std::string found) const {
        throw InputError({{file_, line_of(node.Mark()), "", std::move(expected), std::move(found)}});
    }

    // A plain ~ or null is none; in quotes it is a text.
    static json scalar(const YAML::Node& node) {
        if (node.Tag() != "!" && node.IsNull()) return nullptr;
        const std::string& text = node.Scalar();
        if (node.Tag() == "?" && (text == "~" || text == "null" || text == "Null" || text == "NULL")) return nullptr;
        return text;
    }

    json object(const YAML::Node& node, std::size_t depth) {
        json object = json::object();
        for (const auto& member : node) {
            if (!member.first.IsScalar()) refuse(member.first, "expected a text as a key", "");
            const std::string& key = member.first.Scalar();
            if (object.contains(key)) refuse(member.first, "expected each key once", key);
            object[key] = value(member.second, depth + 1);
        }
        return object;
    }

    const std::string& file_;
    std::size_t values_ = 0;
};

// Looks a text over before it is loaded: yaml-cpp 0.7 takes a stray bracket or comma for an empty document that uses up
// no text, and so would load such documents for ever.
class Lookover : public YAML::EventHandler {
public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (mark.pos <= last_) throw YAML::ParserException(mark, "no value begins here");
        last_ = mark.pos;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override {
        count(mark);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        count(mark);
    }
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
        count(mark);
    }
    void OnMapEnd() override {}

private:
    void count(const YAML::Mark& mark) {
        if (++values_ > 2 * kMostValues)  // keys are counted too
            throw YAML::ParserException(mark, fmt::format("more than {} values", kMostValues));
    }

    int last_ = -1;
    std::size_t values_ = 0;
};

std::vector<YAML::Node> load(std::string_view text, const std::string& file) try {
    const std::string copy(text);
    std::istringstream in(copy);
    YAML::Parser parser(in);
    for (Lookover lookover; parser.HandleNextDocument(lookover);) {
    }
    return YAML::LoadAll(copy);
} catch (const YAML::Exception& error) {
    throw InputError({{file, line_of(error.mark), "", "expected YAML", error.msg}});
}

std::string unescaped(std::string token) {  // RFC 6901
    for (std::size_t at = 0; (at = token.find('~', at)) != std::string::npos && at + 1 < token.size(); ++at)
        token.replace(at, 2, token[at + 1] == '1' ? "/" : "~");
    return token;
}

// The node one step down a pointer; an undefined one where there is none.
YAML::Node step(const YAML::Node& node, const std::string& token) {
    if (node.IsMap()) {
        for (const auto& member : node)
            if (member.first.IsScalar() && member.first.Scalar() == token) return member.second;
    } else if (node.IsSequence() && token.find_first_not_of("0123456789") == std::string::npos) {
        std::size_t index = 0;
        for (const YAML::Node& item : node)
            if (fmt::format("{}", index++) == token) return item;
    }
    return YAML::Node(YAML::NodeType::Undefined);
}

// Where a pointer leads, or as far as it does.
YAML::Node found_at(const YAML::Node& root, const std::string& pointer) {
    std::vector<YAML::Node> way{root};
    for (std::size_t at = 0; at < pointer.size();) {
        const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
        const YAML::Node next = step(way.back(), unescaped(pointer.substr(at + 1, end - at - 1)));
        if (!next.IsDefined()) break;
        way.push_back(next);
        at = end;
    }
    return way.back();
}

}  // namespace

std::vector<json> yaml_documents(std::string_view text, const std::string& file) {
    std::vector<json> documents;
    YamlReader reader(file);
    try {
        for (const YAML::Node& node : load(text, file)) documents.push_back(reader.value(node));
    } catch (const YAML::Exception& error) {
        throw InputError({{file, line_of(error.mark), "", "expected YAML", error.msg}});
    }
    return documents;
}

void add_yaml_lines(std::vector<Problem>& problems, const std::vector<std::size_t>& documents, std::string_view text) {
    const auto roots = load(text, "");
    for (std::size_t i = 0; i < problems.size(); ++i)
        problems[i].line = line_of(found_at(roots[documents[i]], problems[i].pointer).Mark());
}

}  // namespace fmsim
