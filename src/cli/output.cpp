#include "output.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "fmsim/base.hpp"

namespace fmsim::cli {

void add_options(CLI::App& command, Output& output) {
    static const std::map<std::string, Format> kFormats{
        {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};
    command.add_option("--format", output.format, "text (default), json or csv")
        ->transform(CLI::CheckedTransformer(kFormats))
        ->option_text("FORMAT");
    command.add_option("-o,--output", output.file, "write the result to FILE instead of stdout")->option_text("FILE");
    command.add_flag("-q,--quiet", output.quiet, "no notes or warnings on stderr, only errors");
}

void start_notes(bool quiet) {
    const bool plain = std::getenv("NO_COLOR") != nullptr;
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(plain ? spdlog::color_mode::never
                                                                            : spdlog::color_mode::automatic);
    auto logger = std::make_shared<spdlog::logger>("fmsim", std::move(sink));
    logger->set_pattern("fmsim: %^%l%$: %v");
    logger->set_level(quiet ? spdlog::level::err : spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
}

namespace {

[[noreturn]] void cannot_write(const std::string& file) {
    throw InputError(
        {{.file = file, .line = 0, .pointer = "", .expected = "expected a file that can be written", .found = ""}});
}

}  // namespace

void emit(const Output& output, const std::string& result) {
    if (output.file.empty() || output.file == "-") {
        if (std::fwrite(result.data(), 1, result.size(), stdout) != result.size() || std::fflush(stdout) != 0)
            cannot_write("standard output");
        return;
    }
    // A pipe or a device is written as it is; a file is replaced when the new one is complete.
    const std::filesystem::path path(output.file);
    const bool special = std::filesystem::exists(path) && !std::filesystem::is_regular_file(path);
    const std::filesystem::path written = special ? path : std::filesystem::path(output.file + ".part");
    std::ofstream file(written, std::ios::binary);
    if (!file.write(result.data(), static_cast<std::streamsize>(result.size())) || !file.flush())
        cannot_write(output.file);
    file.close();
    std::error_code error;
    if (!special) std::filesystem::rename(written, path, error);
    if (error) cannot_write(output.file);
}

}  // namespace fmsim::cli
