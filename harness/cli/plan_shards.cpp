#include "harness/cli/plan_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "harness/cli/cell_names.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/plan/emit.h"
#include "harness/run/memory_policy.h"

namespace qfs::cli {
namespace {

using nlohmann::json;
using plan::EmitKind;

EmitKind kind_of(const std::string& name) {
  if (name == "parallel") return EmitKind::parallel;
  return name == "slurm" ? EmitKind::slurm : EmitKind::shell;
}

plan::RemainingSeconds missing_of(const plan::Plan& plan, const std::vector<run::Reuse>& reuse) {
  const std::vector<double> seconds = remaining_seconds(plan, reuse);
  plan::RemainingSeconds left;
  left.trainings = training_seconds(plan, reuse);
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const bool missing = !reuse[i].known || reuse[i].present < reuse[i].expected;
    left.cells.push_back(missing ? std::optional(seconds[i]) : std::nullopt);
  }
  return left;
}

/// Some cell predicts with what the store has trained already, or its training begins with it.
bool uses_trained(const plan::Plan& plan, const std::vector<plan::Shard>& shards,
                  const plan::RemainingSeconds& left) {
  return std::ranges::any_of(shards, [&](const plan::Shard& shard) {
    return std::ranges::any_of(shard.cells, [&](size_t i) {
      return std::ranges::any_of(plan::trainings_behind(plan, plan.cells[i]),
                                 [&](size_t training) { return !left.trainings[training]; });
    });
  });
}

/// GNU parallel puts its own words in the place of braces.
Status check_braces(const std::string& store_path, const SweepOptions& sweep) {
  std::vector<std::string> words = options_of_workers(sweep);
  words.push_back(store_path);
  words.push_back(sweep.file);
  for (const std::string& word : words) {
    if (word.find_first_of("{}") == word.npos) continue;
    return invalid_argument(
        "a script of GNU parallel cannot hold a name or an option with braces; --emit shell can",
        word);
  }
  return {};
}

/// Neither the script nor what it reads replaces a store, the sweep or a file of another kind.
Status check_outputs(const std::string& script, const std::string& manifest,
                     const std::string& sweep) {
  const std::string manifest_option = "the script's manifest";
  const std::pair<std::string, std::string> files[] = {{"--output", script},
                                                       {manifest_option, manifest}};
  for (const auto& [option, path] : files) {
    if (Status kept = keep_stores(path); !kept) return kept;
    if (Status kept = keep_inputs(option, path, std::span(&sweep, 1)); !kept) return kept;
  }
  std::error_code absent;
  if (!std::filesystem::exists(manifest, absent)) return {};
  const Result<std::string> text = read_file(manifest, uint64_t{64} << 20);
  if (text && plan::is_shard_manifest(*text)) return {};
  return invalid_argument(fmt::format(
      "{} '{}' is there and is no manifest of shards: name another script with --output",
      manifest_option, manifest));
}

/// Words that stand in a script's comments and directives.
Status check_names(const std::string& store_path, EmitKind kind) {
  const auto is_trouble = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == '%';
  };
  if (kind != EmitKind::slurm || std::ranges::none_of(store_path, is_trouble)) return {};
  return invalid_argument(
      "a Slurm script cannot hold a --store with quotes, backslashes, percent signs or control "
      "characters",
      store_path);
}

json summary_json(const std::vector<plan::Shard>& shards, const std::string& script,
                  const std::string& manifest) {
  json list = json::array();
  for (const plan::Shard& shard : shards) {
    list.push_back({{"cells", shard.cells.size()},
                    {"trainings", shard.trainings.size()},
                    {"seconds", shard.seconds}});
  }
  json body = {{"shards", std::move(list)}};
  if (!shards.empty()) {
    body["script"] = script;
    body["manifest"] = manifest;
  }
  return body;
}

std::string summary_text(const plan::Plan& plan, const std::vector<plan::Shard>& shards,
                         const std::string& script) {
  size_t cells = 0;
  double longest = 0;
  double total = 0;
  for (const plan::Shard& shard : shards) {
    cells += shard.cells.size();
    longest = std::max(longest, shard.seconds);
    total += shard.seconds;
  }
  std::string text =
      fmt::format("{}: {} of {} in {}, about {} each\n", plan.experiment.name, cells,
                  counted(plan.cells.size(), "cell"), counted(shards.size(), "shard"),
                  duration_text(total / static_cast<double>(shards.size())));
  if (longest > 1.5 * total / static_cast<double>(shards.size())) {
    text += fmt::format("the longest takes about {}: what is in it cannot be torn apart\n",
                        duration_text(longest));
  }
  return text + fmt::format("wrote {}; run it with: sh {}\n", script, script);
}

}  // namespace

std::vector<std::string> options_of_workers(const SweepOptions& sweep) {
  std::vector<std::string> words;
  const auto add = [&words](const char* name, const std::string& value) {
    words.insert(words.end(), {name, value});
  };
  for (const std::string& setting : sweep.set) add("--set", setting);
  for (const std::string& filter : sweep.filter) add("--filter", filter);
  if (sweep.limit) add("--limit", std::to_string(*sweep.limit));
  if (sweep.threads != 0) add("--threads", std::to_string(sweep.threads));
  if (sweep.device != "cpu") add("--device", sweep.device);
  if (!sweep.dtype.empty()) add("--dtype", sweep.dtype);
  if (sweep.allow_external) words.emplace_back("--allow-external");
  return words;
}

Result<MissingShards> missing_shards(const plan::Plan& plan, const std::string& store_path,
                                     const run::RunOptions& run, size_t count, bool with_failed) {
  const Result<std::vector<run::Reuse>> reuse = run::reuse_of(plan, store_path, run);
  if (!reuse) return reuse.error();
  plan::RemainingSeconds left = missing_of(plan, *reuse);
  run::MemoryPolicy memory(plan);
  for (size_t i = 0; i < plan.cells.size() && !with_failed; ++i) {
    const store::FailureKind failure = (*reuse)[i].failure;
    if (run::ran_out_of_memory(failure)) memory.ran_out(i);
    if (failure != store::FailureKind::none) left.cells[i].reset();
  }
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    if (memory.implied(i)) left.cells[i].reset();
  }
  MissingShards missing;
  missing.shards = plan::cut_shards(plan, left, count);
  missing.trained = uses_trained(plan, missing.shards, left);
  return missing;
}

Status emit_shards(const plan::Plan& plan, const std::string& store_path,
                   const run::RunOptions& run, const SweepOptions& sweep,
                   const ShardOptions& options, bool as_json) {
  const EmitKind kind = kind_of(options.emit);
  if (Status named = check_names(store_path, kind); !named) return named;
  if (kind == EmitKind::parallel) {
    if (Status named = check_braces(store_path, sweep); !named) return named;
  }
  Result<MissingShards> missing =
      missing_shards(plan, store_path, run, static_cast<size_t>(*options.shards), true);
  if (!missing) return missing.error();
  plan::EmitRequest request;
  request.shards = std::move(missing->shards);
  const std::string extension = kind == EmitKind::shell ? ".sh" : "." + options.emit + ".sh";
  const std::string script =
      options.output.empty() ? plan.experiment.name + extension : options.output;
  request.manifest = script + ".json";
  if (Status free = check_outputs(script, request.manifest, sweep.file); !free) return free;
  for (const std::string& note : plan.notes) log_info(note);
  if (request.shards.empty()) {
    return print_result(as_json
                            ? json_document("plan-shards", summary_json({}, script, {}))
                            : fmt::format("{}: nothing is missing in {}; no script was written\n",
                                          plan.experiment.name, store_path));
  }
  request.kind = kind;
  request.sweep = plan.experiment.name;
  request.file = sweep.file;
  request.options = options_of_workers(sweep);
  request.store = store_path;
  request.measured = plan.experiment.measure.has_value();
  request.trained = missing->trained;
  if (Status written = write_file(request.manifest, plan::shard_manifest(plan, request.shards));
      !written) {
    return written;
  }
  if (Status written = write_file(script, plan::emitted_script(request)); !written) return written;
  return print_result(
      as_json ? json_document("plan-shards", summary_json(request.shards, script, request.manifest))
              : terminal_safe(summary_text(plan, request.shards, script)));
}

}  // namespace qfs::cli
