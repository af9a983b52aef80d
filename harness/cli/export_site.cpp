#include "harness/cli/export_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/catalogs.h"
#include "harness/cli/output.h"
#include "harness/cli/report_metrics.h"
#include "harness/cli/report_output.h"
#include "harness/cli/store_path.h"
#include "harness/core/build_info.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "reports/sweep_facts.h"
#include "reports/writers/site.h"

namespace qfs::cli {
namespace {

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
  SiteWriter(store::Reader& reader, const std::string& store_path, const SiteOptions& options,
             bool foreign)
      : reader_(reader), store_path_(store_path), options_(options), foreign_(foreign) {}

  Status add(const store::SweepInfo& info) {
    Result<reports::SweepFacts> facts =
        reports::load_sweep_facts(reader_, std::to_string(info.number));
    if (!facts) return facts.error();
    reports::ReportRequest request;
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
    return write(
        reports::write_site_index(runs_, std::filesystem::path(store_path_).filename().string(),
                                  "qfs-bench v" + std::string(build_info().version)),
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
  const SiteOptions& options_;
  bool foreign_;
  Catalogs catalogs_;
  std::set<std::string> taken_;
  std::vector<reports::SiteRun> runs_;
  std::vector<std::string> files_;
};

}  // namespace

Result<ExitCode> export_site(const SiteOptions& options, const GlobalOptions& global) {
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

}  // namespace qfs::cli
