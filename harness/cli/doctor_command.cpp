#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/doctor_checks.h"
#include "harness/cli/doctor_roofline.h"
#include "harness/cli/output.h"
#include "harness/cli/sweep_input.h"

namespace qfs::cli {
namespace {

struct DoctorOptions {
  RooflineOptions roofline;
  bool rescore = false;
  std::string sweep;  ///< whose data sets stand in for texts that the store does not have
};

std::string_view grade_name(Grade grade) {
  switch (grade) {
    case Grade::ok:
      return "ok";
    case Grade::note:
      return "note";
    case Grade::unchecked:
      return "unchecked";
    case Grade::problem:
      return "problem";
  }
  return "problem";
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings) {
    rows.push_back({finding.grade == Grade::problem     ? "PROBLEM"
                    : finding.grade == Grade::unchecked ? "UNCHECKED"
                                                        : std::string(grade_name(finding.grade)),
                    finding.subject, finding.text});
  }
  return aligned(rows);
}

std::string findings_json(const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"grade", grade_name(finding.grade)},
                    {"subject", finding.subject},
                    {"text", finding.text}});
  }
  return json_document("doctor", {{"findings", std::move(list)}});
}

ExitCode conclusion(const std::vector<Finding>& findings) {
  const auto problem_of = [&](std::string_view subject, bool wanted) {
    return std::ranges::any_of(findings, [&](const Finding& finding) {
      return finding.grade == Grade::problem && (finding.subject == subject) == wanted;
    });
  };
  if (problem_of("store", true)) return ExitCode::store;
  if (problem_of("store", false)) return ExitCode::environment;
  return std::ranges::count(findings, Grade::unchecked, &Finding::grade) > 0 ? ExitCode::incomplete
                                                                             : ExitCode::ok;
}

Result<RescoreRequest> rescore_request(const DoctorOptions& options) {
  RescoreRequest request{options.rescore};
  if (options.sweep.empty()) return request;
  Catalogs catalogs;
  const auto experiment = load_sweep_file({.file = options.sweep}, catalogs);
  if (!experiment) return experiment.error();
  for (const DatasetEntry& entry : experiment->datasets) {
    auto dataset = catalogs.datasets().load(entry.request);
    if (!dataset) return in_sweep_file(*experiment, dataset.error());
    request.data.push_back(*std::move(dataset));
  }
  return request;
}

Result<ExitCode> run_doctor(const GlobalOptions& global, const DoctorOptions& options) {
  const Result<RescoreRequest> rescore = rescore_request(options);
  if (!rescore) return rescore.error();
  std::vector<Finding> findings = check_program();
  const auto append = [&](std::vector<Finding> more) {
    std::ranges::move(more, std::back_inserter(findings));
  };
  append(check_machine());
  append(check_tensor_host());
  append(check_models());
  append(check_store(global, *rescore));
  const std::string text = global.json ? findings_json(findings) : findings_text(findings);
  if (Status printed = print_result(text); !printed) return printed.error();
  return conclusion(findings);
}

void add_roofline_options(CLI::App& command, RooflineOptions& options) {
  CLI::Option* const roofline = command.add_flag(
      "--roofline", options.asked,
      "Measure bandwidth and matrix products, and the most tokens/s that a model can reach");
  command
      .add_option("--backbone", options.backbone,
                  "The model (default: smollm2-135m if present, else general shapes)")
      ->type_name("NAME")
      ->needs(roofline);
  command.add_option("--threads", options.threads, "Threads (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->needs(roofline);
  command.add_option("--device", options.device, "Where to measure (default: cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->needs(roofline);
  command
      .add_option("--dtype", options.dtype,
                  "Type of the weights (default: float32); float16 on a GPU only")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
      ->needs(roofline);
  repeatable(command.add_option(
                 "--prompt-tokens", options.prompt_tokens,
                 "Prompt lengths, in tokens (default: 512, and 2048 where the model can read it)"))
      ->delimiter(',')
      ->type_name("N,N,...")
      ->needs(roofline);
  command
      .add_option("--context", options.context,
                  "Context of each row while decoding, in tokens (default: 512)")
      ->type_name("N")
      ->needs(roofline);
}

}  // namespace

void add_doctor_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "doctor", "Checks the machine, libraries, models, and a store's integrity and ids",
      "qfs-bench doctor --store lc_sweep.sqlite\n  "
      "qfs-bench doctor --store lc_sweep.sqlite --rescore\n  "
      "qfs-bench doctor --roofline --backbone smollm2-135m --threads 2");
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  auto options = std::make_shared<DoctorOptions>();
  CLI::Option* const rescore = command.add_flag("--rescore", options->rescore,
                                                "Compute every score of the store again from its "
                                                "outputs (exit code 4 where a number differs, "
                                                "3 where one could not be computed again)");
  command
      .add_option("--sweep", options->sweep,
                  "A sweep file whose data sets have the texts that the store was stripped of")
      ->type_name("FILE")
      ->needs(rescore);
  add_roofline_options(command, options->roofline);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] {
      return options->roofline.asked ? run_roofline(options->roofline, global)
                                     : run_doctor(global, *options);
    };
  });
}

}  // namespace qfs::cli
