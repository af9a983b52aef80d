#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/api/metric_columns.h"
#include "harness/api/metric_entry.h"
#include "harness/claims/decode.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/sweep_input.h"
#include "harness/config/document.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/core/suggest.h"
#include "harness/gate/baseline.h"
#include "harness/gate/policy.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> set;
  bool allow_external = false;
};

/// What a file turned out to be, in words.
using Found = Result<std::string>;

enum class FileKind { sweep, policy, claims, labels, tables };

constexpr uint64_t kMostBytes = uint64_t{16} << 20;

/// By its schema, else by its keys. What cannot be read is a sweep, whose reader says why.
FileKind kind_of(const std::string& path) {
  const auto text = read_file(path, kMostBytes);
  const auto parsed =
      text ? config::parse_document(*text, path, kMostBytes) : Result<json>(not_found(path));
  if (!parsed || !parsed->is_object()) return FileKind::sweep;
  const json& root = *parsed;
  const auto schema = root.find("$schema");
  if (schema != root.end() && schema->is_string()) {
    static constexpr std::array<std::pair<const char*, FileKind>, 5> kSchemas = {
        {{"sweep.schema", FileKind::sweep},
         {"gate.schema", FileKind::policy},
         {"claims.schema", FileKind::claims},
         {"labels.schema", FileKind::labels},
         {"tables.schema", FileKind::tables}}};
    for (const auto& [name, kind] : kSchemas) {
      if (schema->get<std::string>().find(name) != std::string::npos) return kind;
    }
  }
  if (root.contains("methods") || root.contains("datasets")) return FileKind::sweep;
  if (root.contains("tables")) {
    return root.contains("paper") ? FileKind::claims : FileKind::tables;
  }
  constexpr std::array kOfPolicies = {"bands",   "limits",  "level",    "rule",
                                      "noise",   "pair_by", "power_at", "minimum_examples",
                                      "repeats", "filter"};
  const bool policy =
      (root.contains("metrics") && root["metrics"].is_object()) ||
      std::ranges::any_of(kOfPolicies, [&](const char* key) { return root.contains(key); });
  return policy || gate::load_policy(path) ? FileKind::policy : FileKind::sweep;
}

/// Of a column, by the metrics of this program; std::nullopt: none of them has it. `columns`: all
/// that they have.
std::optional<Better> better_of(const std::string& column, const std::vector<MetricInfo>& metrics,
                                std::vector<std::string>& columns) {
  std::optional<Better> better;
  for (const MetricInfo& info : metrics) {
    if (info.metric == nullptr) continue;  // without its encoder it cannot say them
    for (const std::string& known : info.metric->columns()) {
      columns.push_back(known);
      if (known == column) better = info.metric->better(column);
    }
  }
  // Options give more columns, and other programs have theirs: shares are better when higher.
  if (!better && is_share(column) && column.find('/') == std::string::npos) return Better::higher;
  return better;
}

/// What a gate with these margins would refuse, whatever it compares.
Status check_margins(const compare::Request& request, const std::vector<MetricInfo>& metrics,
                     const std::string& path) {
  const std::string where = path + "#/metrics";
  for (const auto& [column, margin] : request.margins) {
    std::vector<std::string> columns;
    const auto better = better_of(column, metrics, columns);
    const auto said = request.better.find(column);
    const bool known = better == Better::higher || better == Better::lower;
    if (said == request.better.end()) {
      if (known) continue;
      if (!better) {
        return invalid_argument(fmt::format("no metric here has the column '{}'{}; one of your own "
                                            "needs \"better\": \"higher\" or \"lower\"",
                                            column, suggestion(column, columns)),
                                where);
      }
      return invalid_argument(
          fmt::format("more of '{}' is neither better nor worse; \"better\": \"higher\" or "
                      "\"lower\" says what is meant",
                      column),
          where);
    }
    if (known && said->second != *better) {
      return invalid_argument(fmt::format("by its metric {} values of '{}' are better",
                                          better == Better::higher ? "higher" : "lower", column),
                              where);
    }
  }
  return {};
}

Found check_policy(const std::string& path) {
  const auto policy = gate::load_policy(path);
  if (!policy) return policy.error();
  Catalogs catalogs;
  if (Status sound = check_margins(policy->request, catalogs.metrics().list(), path); !sound) {
    return sound.error();
  }
  return fmt::format(
      "a policy with {}, {} and {}", counted(policy->request.margins.size(), "margin"),
      counted(policy->bands.size(), "band"), counted(policy->limits.size(), "limit"));
}

Found check_baseline(const std::string& path) {
  const auto baseline = gate::Baseline::load(path);
  if (!baseline) return baseline.error();
  return fmt::format("a baseline of {}", counted(baseline->cells().size(), "cell"));
}

/// Claims are read by the labels in their folder, where there are any.
Found check_claims(const std::string& path) {
  const auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  claims::Labels labels;
  const auto beside = (std::filesystem::path(path).parent_path() / "labels.json").string();
  std::error_code error;
  if (std::filesystem::exists(beside, error)) {
    const auto label_text = read_file(beside, kMostBytes);
    if (!label_text) return label_text.error();
    auto decoded = claims::decode_labels(*label_text, beside);
    if (!decoded) return decoded.error();
    labels = *std::move(decoded);
  }
  const auto paper = claims::decode_paper(*text, path, labels);
  if (!paper) return paper.error();
  size_t numbers = 0;
  for (const claims::ClaimTable& table : paper->tables) numbers += table.claims.size();
  return fmt::format("claims of {}: {} in {}", paper->id, counted(numbers, "number"),
                     counted(paper->tables.size(), "table"));
}

Found check_labels(const std::string& path) {
  const auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  const auto labels = claims::decode_labels(*text, path);
  if (!labels) return labels.error();
  return fmt::format("labels of {}", counted(labels->size(), "paper"));
}

Found check_tables(const std::string& path) {
  const auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  const auto tables = claims::decode_tables(*text, path);
  if (!tables) return tables.error();
  return counted(tables->size(), "published table");
}

/// Whether planning would start programs of the file.
bool has_programs(const Experiment& experiment) {
  bool any = !experiment.external_metrics.empty();
  for (const MethodEntry& entry : experiment.methods) any = any || entry.external.has_value();
  return any;
}

Found check_sweep(const std::string& path, const CheckOptions& options) {
  Catalogs catalogs;
  SweepOptions sweep;
  sweep.file = path;
  sweep.set = options.set;
  // Consent is for running; planning starts nothing but the file's own programs.
  sweep.allow_external = true;
  const auto experiment = load_sweep_file(sweep, catalogs);
  if (!experiment) return experiment.error();
  if (!options.allow_external && has_programs(*experiment)) {
    return std::string(
        "a sweep whose keys are sound; --allow-external starts its programs and checks the rest");
  }
  const auto plan = load_plan(sweep, catalogs);
  if (!plan) return in_sweep_file(*experiment, plan.error());
  return fmt::format("a sweep of {}", counted(plan->cells.size(), "cell"));
}

Found check_file(const std::string& path, const CheckOptions& options) {
  if (gate::is_baseline_file(path)) return check_baseline(path);
  switch (kind_of(path)) {
    case FileKind::policy:
      return check_policy(path);
    case FileKind::claims:
      return check_claims(path);
    case FileKind::labels:
      return check_labels(path);
    case FileKind::tables:
      return check_tables(path);
    case FileKind::sweep:
      break;
  }
  return check_sweep(path, options);
}

/// A file that is wrong is a usage error; what else is, or is missing (data), keeps its code, after
/// those.
ExitCode code_of(const Error& error, const std::string& path) {
  return error.kind == ErrorKind::data && error.where.starts_with(path) ? ExitCode::usage
                                                                        : exit_code(error.kind);
}

Result<ExitCode> run_check(const CheckOptions& options, const GlobalOptions& global) {
  ExitCode worst = ExitCode::ok;
  json list = json::array();
  std::vector<std::vector<std::string>> rows;
  for (const std::string& path : options.files) {
    const Found found = check_file(path, options);
    json& object = list.emplace_back(json{{"file", path}, {"ok", found.ok()}});
    if (found) {
      object["found"] = *found;
      rows.push_back({path + ": ok, " + *found});
      continue;
    }
    const ExitCode code = code_of(found.error(), path);
    if (worst != ExitCode::usage) worst = code;
    object["message"] = found.error().message;
    if (!found.error().where.empty()) object["where"] = found.error().where;
    rows.push_back({path + ": " + found.error().to_string()});
  }
  const std::string text =
      global.json ? json_document("check", {{"files", std::move(list)}}) : aligned(rows);
  if (Status printed = print_result(text); !printed) return printed.error();
  return worst;
}

}  // namespace

void add_check_command(const CommandLine& line) {
  CLI::App& command =
      add_subcommand(line.app, "check",
                     "Checks sweeps, gate policies, baselines and claims without running anything",
                     "qfs-bench check experiments/*.json gate.json");
  auto options = std::make_shared<CheckOptions>();
  command
      .add_option("FILE", options->files,
                  "Sweep files, policies, claims (JSON with comments, or YAML), baselines (.jsonl)")
      ->required();
  repeatable(command.add_option("--set", options->set, "Variables of the sweeps"))
      ->type_name("NAME=VALUE");
  command.add_flag("--allow-external", options->allow_external,
                   "Start the programs of the sweeps, which say what parameters they take");
  add_json_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_check(*options, global); };
  });
}

}  // namespace qfs::cli
