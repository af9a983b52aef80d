#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/store/merge.h"

namespace qfs::cli {
namespace {

using nlohmann::json;
using store::MergeConflict;
using store::MergeOutcome;

struct MergeCommandOptions {
  std::string destination;
  std::vector<std::string> sources;
  bool strict = false;
};

constexpr size_t kMostWarned = 10;

/// What is new, with its counts: "3 results, 12 outputs".
std::string new_rows(const MergeOutcome& outcome) {
  const std::pair<int64_t, const char*> counts[] = {{outcome.sweeps, "sweep"},
                                                    {outcome.cells, "cell"},
                                                    {outcome.results, "result"},
                                                    {outcome.outputs, "output"},
                                                    {outcome.artifacts, "trained file"},
                                                    {outcome.repetitions, "timed repetition"},
                                                    {outcome.scores, "score"}};
  std::string text;
  for (const auto& [count, name] : counts) {
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + counted(static_cast<size_t>(count), name);
  }
  if (outcome.conflicts > 0) {
    text += (text.empty() ? "" : ", ") +
            counted(static_cast<size_t>(outcome.conflicts), "contradiction");
  }
  if (!outcome.begun) return "never begun: an empty file";
  return text.empty() ? "nothing new" : text;
}

/// Both sides and where each was computed: what somebody needs who wants to know why.
std::string conflict_text(const MergeConflict& conflict) {
  std::string text =
      fmt::format("not deterministic: cell {} ({}), {}: '{}' and '{}'", conflict.cell.short_hex(),
                  conflict.method, conflict.subject, conflict.kept, conflict.other);
  if (conflict.kept_environment.empty()) return text;
  return text +
         (conflict.kept_environment == conflict.other_environment
              ? fmt::format(", both in environment {}", conflict.kept_environment.short_hex())
              : fmt::format(", in environments {} and {}", conflict.kept_environment.short_hex(),
                            conflict.other_environment.short_hex()));
}

void warn(const std::string& source, const MergeOutcome& outcome) {
  for (size_t i = 0; i < outcome.shown.size() && i < kMostWarned; ++i) {
    log_warning(source + ": " + conflict_text(outcome.shown[i]));
  }
  if (outcome.conflicts > static_cast<int64_t>(kMostWarned)) {
    log_warning(fmt::format("{}: {} more contradictions", source,
                            outcome.conflicts - static_cast<int64_t>(kMostWarned)));
  }
  if (outcome.scores_left > 0) {
    log_warning(fmt::format(
        "{}: {} not taken, for outputs that differ from those here; 'score' "
        "makes them anew",
        source, counted(static_cast<size_t>(outcome.scores_left), "score was", "scores were")));
  }
  if (outcome.missing_files > 0) {
    log_warning(fmt::format("{}: {} not beside it; what predicts with them trains again", source,
                            counted(static_cast<size_t>(outcome.missing_files), "trained file is",
                                    "trained files are")));
  }
}

json outcome_json(const std::string& source, const MergeOutcome& outcome) {
  json conflicts = json::array();
  for (const MergeConflict& conflict : outcome.shown) {
    json& object = conflicts.emplace_back(json{{"cell_id", conflict.cell.hex()},
                                               {"numerics_id", conflict.numerics.hex()},
                                               {"method", conflict.method},
                                               {"subject", conflict.subject},
                                               {"kept", conflict.kept},
                                               {"other", conflict.other}});
    if (conflict.kept_environment.empty()) continue;
    object["kept_environment"] = conflict.kept_environment.hex();
    object["other_environment"] = conflict.other_environment.hex();
  }
  return {{"source", source},
          {"new",
           {{"datasets", outcome.datasets},
            {"cells", outcome.cells},
            {"sweeps", outcome.sweeps},
            {"results", outcome.results},
            {"attempts", outcome.attempts},
            {"outputs", outcome.outputs},
            {"repetitions", outcome.repetitions},
            {"artifacts", outcome.artifacts},
            {"scores", outcome.scores}}},
          {"scores_left", outcome.scores_left},
          {"missing_files", outcome.missing_files},
          {"conflicts", outcome.conflicts},
          {"shown_conflicts", std::move(conflicts)}};
}

Result<ExitCode> run_merge(const MergeCommandOptions& options, const GlobalOptions& global) {
  if (!global.store.empty()) {
    return invalid_argument("merge names its destination first: qfs-bench merge " + global.store +
                            " SOURCE…; it takes no --store");
  }
  json list = json::array();
  std::string text;
  std::optional<Error> failed;
  for (const std::string& source : options.sources) {
    const Result<MergeOutcome> outcome =
        store::merge_store(options.destination, source, {.strict = options.strict});
    if (!outcome) {
      failed = outcome.error();
      break;
    }
    warn(source, *outcome);
    list.push_back(outcome_json(source, *outcome));
    text += fmt::format("{}: {}\n", source, new_rows(*outcome));
  }
  // What was taken before is taken.
  const Status printed = print_result(
      global.json
          ? json_document("merge", {{"store", options.destination}, {"sources", std::move(list)}})
          : terminal_safe(text));
  if (failed) return *failed;
  if (!printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace

void add_merge_command(const CommandLine& line) {
  CLI::App& command =
      add_subcommand(line.app, "merge", "Takes what other stores hold into one; idempotent",
                     "qfs-bench merge lc_sweep.sqlite lc_sweep.shards/*.sqlite");
  auto options = std::make_shared<MergeCommandOptions>();
  command.add_option("DEST", options->destination, "The store that is written; made if need be")
      ->required();
  command.add_option("SOURCE", options->sources, "Stores that are read, as somebody else's")
      ->required();
  command.add_flag("--strict", options->strict,
                   "Take nothing of a store that contradicts what is there");
  add_json_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_merge(*options, global); };
  });
}

}  // namespace qfs::cli
