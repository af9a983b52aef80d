#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/store/archive.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

struct ArchiveOptions {
  std::string folder;
  bool strip_texts = false;
  bool strict = false;
};

Result<ExitCode> run_export(const ArchiveOptions& options, const GlobalOptions& global) {
  const Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  const Result<store::ExportSummary> summary = store::export_store(
      *path, options.folder, {.strip_texts = options.strip_texts, .foreign = global.foreign});
  if (!summary) return summary.error();
  const auto rows = [&summary](const char* table) {
    const auto it = summary->rows.find(table);
    return it == summary->rows.end() ? int64_t{0} : it->second;
  };
  if (rows("artifact") > 0) {
    log_warning(fmt::format("{} of the archive by digest only; keep the files of {} beside it",
                            counted(rows("artifact"), "trained file is", "trained files are"),
                            *path));
  }
  const Status printed = print_result(
      global.json ? json_document("export", {{"archive", options.folder},
                                             {"rows", summary->rows},
                                             {"bytes", summary->bytes},
                                             {"texts", options.strip_texts ? "stripped" : "whole"}})
                  : terminal_safe(fmt::format(
                        "{}: {}, {}, {} in {} bytes of JSON lines\n", options.folder,
                        counted(rows("cell"), "cell"), counted(rows("output"), "output"),
                        counted(rows("score_job"), "score"), summary->bytes)));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

Result<ExitCode> run_import(const ArchiveOptions& options, const GlobalOptions& global) {
  if (global.store.empty()) {
    return invalid_argument("import needs the store that it writes: --store FILE");
  }
  const Result<store::MergeOutcome> outcome =
      store::import_archive(options.folder, global.store, {.strict = options.strict});
  if (!outcome) return outcome.error();
  if (outcome->conflicts > 0) {
    log_warning(fmt::format(
        "{} what {} holds of equal cells; 'doctor' lists them",
        counted(outcome->conflicts, "output or score contradicts", "outputs or scores contradict"),
        global.store));
  }
  if (outcome->missing_files > 0) {
    log_warning(counted(outcome->missing_files, "trained file is", "trained files are") +
                " known by digest only; what predicts with them trains again");
  }
  const Status printed = print_result(
      global.json ? json_document("import", {{"archive", options.folder},
                                             {"store", global.store},
                                             {"cells", outcome->cells},
                                             {"outputs", outcome->outputs},
                                             {"scores", outcome->scores},
                                             {"conflicts", outcome->conflicts},
                                             {"missing_files", outcome->missing_files}})
                  : terminal_safe(fmt::format(
                        "{}: {}, {}, {} new\n", global.store, counted(outcome->cells, "cell"),
                        counted(outcome->outputs, "output"), counted(outcome->scores, "score"))));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace

void add_archive_commands(const CommandLine& line) {
  auto options = std::make_shared<ArchiveOptions>();
  CLI::App& exporting = add_subcommand(
      line.app, "export", "Writes a store as JSON lines with digests, for git and for publication",
      "qfs-bench export archive --store lc_sweep.sqlite");
  exporting.add_option("ARCHIVE", options->folder, "A folder; its archive is replaced")->required();
  exporting.add_flag("--strip-texts", options->strip_texts,
                     "Keep documents, queries, references and prompts as hashes only");
  add_json_option(exporting, line.global);
  add_foreign_option(exporting, line.global);
  exporting.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_export(*options, global); };
  });

  CLI::App& importing =
      add_subcommand(line.app, "import", "Checks an archive and takes it into a store",
                     "qfs-bench import archive --store lc_sweep.sqlite");
  importing.add_option("ARCHIVE", options->folder, "A folder that 'export' wrote")->required();
  importing.add_flag("--strict", options->strict,
                     "Take nothing of an archive that contradicts what is there");
  add_json_option(importing, line.global);
  importing.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_import(*options, global); };
  });
}

}  // namespace qfs::cli
