// fmsim validate-training: predicted beside measured training steps.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "fmsim/training.hpp"
#include "training.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string folder;
    bool pairs = false;
    Output output;
};

std::vector<std::string> files_of(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    if (error || files.empty())
        throw InputError(
            {{folder, 0, "", "expected a folder with files of measured steps", error ? "none" : "no .json file"}});
    std::sort(files.begin(), files.end());
    return files;
}

// One of each cluster, so that times of collectives are kept from row to row.
class Machines {
public:
    ComparedStep compared(MeasuredStep step) {
        if (!step.why.empty()) return compare(step, {}, none_);
        try {
            const auto [gpu, exchanges] = machine(step);
            return compare(step, Trainer{gpu, catalogue_.kernels(gpu), constants_}, *exchanges);
        } catch (const InputError& error) {
            step.why = to_text(error.problems.front());
        } catch (const Infeasible& error) {
            step.why = error.what();
        }
        return compare(step, {}, none_);
    }

private:
    std::pair<Gpu, Exchanges*> machine(const MeasuredStep& step) {
        const Cluster cluster = catalogue_.cluster(step.cluster);
        const Gpu gpu = cluster.blocks.front().type.instance.gpu;
        const std::string key = fmt::format("{} {}", step.cluster, step.per_domain);
        auto found = known_.find(key);
        if (found == known_.end())
            found = known_.emplace(key, Exchanges(cluster, step.per_domain, catalogue_.nccl())).first;
        return {gpu, &found->second};
    }

    Catalogue catalogue_ = Catalogue::shipped();
    TrainingConstants constants_ = catalogue_.training();
    Exchanges none_{catalogue_.cluster("p5.48xlarge:1"), 0, catalogue_.nccl()};
    std::map<std::string, Exchanges> known_;
};

std::vector<ComparedStep> validate_training(const std::string& folder) {
    Machines machines;
    std::vector<ComparedStep> rows;
    for (const std::string& file : files_of(folder))
        for (MeasuredStep& step : parse_measured_steps(read_file(file), file))
            rows.push_back(machines.compared(std::move(step)));
    add_baselines(rows);
    return rows;
}

int run_validation(const Options& options) {
    const std::vector<ComparedStep> rows = validate_training(options.folder);
    TrainingValidation report{.rows = &rows, .pairs = options.pairs, .provenance = training_provenance(options.folder, Catalogue::shipped())};
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_validate_training(CLI::App& program, Action& action) {
    CLI::App& command =
        *program.add_subcommand("validate-training", "Predict measured training steps, and show the errors");
    const auto options = std::make_shared<Options>();
    command.add_option("folder", options->folder, "a folder with files of measured steps")
        ->required()
        ->option_text("DIR");
    command.add_flag("--pairs", options->pairs, "rows of a source that differ in one thing: their order and ratio");
    add_options(command, options->output);
    when_chosen(command, options, run_validation, action);
}

}  // namespace fmsim::cli
