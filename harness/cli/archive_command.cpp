#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/report_metrics.h"
#include "harness/cli/report_output.h"
#include "harness/cli/store_path.h"
#include "harness/core/build_info.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/store/archive.h"
#include "reports/flat_tables.h"
#include "reports/sweep_facts.h"
#include "reports/writers/site.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

struct ArchiveOptions {
  std::string folder;
  bool strip_texts = false;
  bool strict = false;
  bool site = false;
  std::vector<std::string> authors;  ///< with --site; none: no citations are written
  std::string flat;                  ///< "jsonl" or "csv": plain tables in place of an archive
  std::string run;
};

/// --flat: the tables of one run, a file each.
Result<ExitCode> export_flat(const ArchiveOptions& options, const GlobalOptions& global) {
  if (options.strip_texts) {
    return invalid_argument("--strip-texts is for archives; tables of --flat have the outputs");
  }
  Result<store::Reader> reader = open_existing_store(global);
  if (!reader) return reader.error();
  const Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.run);
  if (!facts) return facts.error();
  const bool csv = options.flat == "csv";
  const Result<reports::FlatTables> tables = reports::flat_tables(
      *reader, *facts, csv ? reports::FlatFormat::csv : reports::FlatFormat::jsonl);
  if (!tables) return tables.error();
  if (Status made = make_directories(options.folder); !made) return made.error();
  json files = json::array();
  std::string text;
  for (const auto& [name, bytes] : {std::pair{"cells", &tables->cells},
                                    {"scores", &tables->scores},
                                    {"examples", &tables->examples}}) {
    const std::string path = fmt::format("{}/{}.{}", options.folder, name, options.flat);
    if (Status written = write_result(*bytes, path); !written) return written.error();
    files.push_back({{"file", path}, {"bytes", bytes->size()}});
    text += terminal_safe(fmt::format("{}: {} bytes\n", path, bytes->size()));
  }
  if (global.json) {
    text = json_document("export-flat", {{"sweep", facts->sweep.name}, {"files", files}});
  }
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

constexpr const char* kIndex = "index.html";
constexpr uint64_t kLongestIndex = uint64_t{16} << 20;

/// What of a run's name may be a file's, different from those that are taken.
std::string file_stem(const std::string& name, std::set<std::string>& taken) {
  std::string stem;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    stem += plain ? c : '_';
  }
  std::string free = stem;
  for (int number = 2; free == "index" || !taken.insert(free).second; ++number) {
    free = fmt::format("{}-{}", stem, number);
  }
  return free;
}

/// `invalid_argument` for a folder whose index.html somebody else wrote.
Status check_folder(const std::string& folder) {
  const std::string index = folder + "/" + kIndex;
  std::error_code absent;
  if (!std::filesystem::exists(index, absent)) return {};
  const Result<std::string> text = read_file(index, kLongestIndex);
  if (text && reports::is_site_index(*text)) return {};
  return invalid_argument(
      fmt::format("the folder has an {} of something else, which would be lost: name another",
                  kIndex),
      index);
}

class SiteWriter {
 public:
  SiteWriter(store::Reader& reader, const std::string& store_path, const ArchiveOptions& options,
             bool foreign)
      : reader_(reader), store_path_(store_path), options_(options), foreign_(foreign) {}

  Status add(const store::SweepInfo& info) {
    Result<reports::SweepFacts> facts =
        reports::load_sweep_facts(reader_, std::to_string(info.number));
    if (!facts) return facts.error();
    reports::ReportRequest request;
    request.program = program_;
    Result<std::vector<reports::MetricChoice>> metrics =
        metrics_of_sweep(*facts, catalogs_.metrics());
    if (!metrics) return metrics.error();
    request.metrics = *std::move(metrics);
    const std::string stem = file_stem(info.name, taken_);
    reports::SiteRun run{info.name,
                         facts->description,
                         info.created_at,
                         info.cells,
                         stem + ".html",
                         stem + ".md",
                         options_.authors.empty() ? "" : stem + ".cff"};
    for (const auto& [file, format] :
         {std::pair{run.page, "html"}, std::pair{run.table, "markdown"}}) {
      const auto text = report_text(reader_, store_path_, *facts, request,
                                    {.format = format, .foreign = foreign_});
      if (!text) return text.error();
      if (Status written = write(*text, file); !written) return written;
    }
    if (!run.citation.empty()) {
      const auto table = reports::build_table(reader_, *std::move(facts), request);
      if (!table) return table.error();
      const std::string text = reports::write_citation(*table, info.created_at, options_.authors,
                                                       std::string(build_info().version));
      if (Status written = write(text, run.citation); !written) return written;
    }
    runs_.push_back(std::move(run));
    return {};
  }

  Status finish() {
    return write(reports::write_site_index(
                     runs_, std::filesystem::path(store_path_).filename().string(), program_),
                 kIndex);
  }

  const std::vector<std::string>& files() const { return files_; }
  size_t runs() const { return runs_.size(); }

 private:
  Status write(const std::string& text, const std::string& file) {
    files_.push_back(options_.folder + "/" + file);
    return write_result(text, files_.back());
  }

  store::Reader& reader_;
  const std::string& store_path_;
  const ArchiveOptions& options_;
  bool foreign_;
  Catalogs catalogs_;
  std::set<std::string> taken_;
  const std::string program_ = "qfs-bench v" + std::string(build_info().version);
  std::vector<reports::SiteRun> runs_;
  std::vector<std::string> files_;
};

/// --site: the latest run of each name: a page, its table as Markdown and, with authors, how it is
/// cited; and index.html, the list of them, which comes last.
Result<ExitCode> export_site(const ArchiveOptions& options, const GlobalOptions& global) {
  const Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  Result<store::Reader> reader = store::Reader::open(*path, {.foreign = global.foreign});
  if (!reader) return reader.error();
  const Result<std::vector<store::SweepInfo>> sweeps = reader->sweeps();
  if (!sweeps) return sweeps.error();
  if (sweeps->empty()) return not_found("the store has no run", *path);
  if (Status made = make_directories(options.folder); !made) return made.error();
  if (Status free = check_folder(options.folder); !free) return free.error();
  SiteWriter site(*reader, *path, options, global.foreign);
  std::set<std::string> names;
  for (const store::SweepInfo& info : *sweeps) {  // the latest first
    if (!names.insert(info.name).second) continue;
    if (Status added = site.add(info); !added) return added.error();
  }
  if (Status finished = site.finish(); !finished) return finished.error();
  const Status printed =
      print_result(global.json ? json_document("export-site", {{"files", site.files()}})
                               : terminal_safe(fmt::format("{}/{}: {}\n", options.folder, kIndex,
                                                           counted(site.runs(), "run"))));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

Result<ExitCode> run_export(const ArchiveOptions& options, const GlobalOptions& global) {
  if (!options.authors.empty() && !options.site) {
    return invalid_argument("--author is for --site, which says how its runs are cited");
  }
  if (options.site && (options.strip_texts || !options.flat.empty() || !options.run.empty())) {
    return invalid_argument(
        "--site is pages of every run; --strip-texts, --flat and --run are not for it");
  }
  if (options.site) return export_site(options, global);
  if (!options.flat.empty()) return export_flat(options, global);
  if (!options.run.empty()) return invalid_argument("--run is for --flat; archives hold every run");
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
                        "{}: an archive of {}, {}, {} in {} bytes of JSON lines\n", options.folder,
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
  if (outcome->scores_left > 0) {
    log_warning(fmt::format(
        "{} not taken: outputs that they are of are not in the archive, or differ from those here",
        counted(outcome->scores_left, "score was", "scores were")));
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
      "qfs-bench export archive --store lc_sweep.sqlite\n"
      "  qfs-bench export tables --flat csv --store lc_sweep.sqlite\n"
      "  qfs-bench export site --site --author 'Ada Lovelace' --store lc_sweep.sqlite");
  exporting.add_option("ARCHIVE", options->folder, "A folder; its archive or tables are replaced")
      ->required();
  exporting.add_flag(
      "--strip-texts", options->strip_texts,
      "Keep documents, queries, references and prompts as hashes only, and of failures "
      "the kind; outputs stay");
  exporting
      .add_option("--flat", options->flat,
                  "In place of an archive three tables of one run: cells, scores, examples")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"jsonl", "csv"}));
  exporting.add_flag("--site", options->site,
                     "In place of an archive pages: every run's report and table, and their list");
  repeatable(exporting.add_option("--author", options->authors,
                                  "With --site, who is cited for the results; repeatable"))
      ->type_name("NAME");
  add_run_option(exporting, options->run);
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
