#include "output.hpp"

#include <unistd.h>

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
    add_file_options(command, output);
}

void add_file_options(CLI::App& command, Output& output) {
    command.add_option("-o,--output", output.file, "write the result to FILE instead of stdout")->option_text("FILE");
    command.add_flag("-q,--quiet", output.quiet, "no notes or warnings on stderr, only errors");
}

void start_notes(bool quiet) {
    const char* const no_color = std::getenv("NO_COLOR");  // counts when it is not empty: https://no-color.org
    const bool plain = no_color != nullptr && *no_color != '\0';
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

bool write_whole(const std::filesystem::path& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    return static_cast<bool>(file);
}

}  // namespace

void emit(const Output& output, const std::string& result) {
    if (output.file.empty() || output.file == "-") {
        if (std::fwrite(result.data(), 1, result.size(), stdout) != result.size() || std::fflush(stdout) != 0)
            cannot_write("standard output");
        return;
    }
    // A pipe or a device is written as it is; a file is replaced when the new one is complete.
    std::error_code error;
    std::filesystem::path target = std::filesystem::canonical(output.file, error);  // where a link leads
    if (error) target = output.file;
    const auto status = std::filesystem::status(target, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        if (!write_whole(target, result)) cannot_write(output.file);
        return;
    }
    std::filesystem::path part = target;
    part += fmt::format(".{}.part", getpid());
    bool written = write_whole(part, result);
    if (written) {
        std::filesystem::rename(part, target, error);
        written = !error;
    }
    if (written) return;
    std::filesystem::remove(part, error);
    cannot_write(output.file);
}

}  // namespace fmsim::cli
