#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/method_check.h"
#include "harness/cli/output.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

constexpr size_t kBundledExamples = 3;

/// The first bundled examples, of different documents.
Result<std::vector<NumberedExample>> bundled_examples() {
  Catalogs catalogs;
  DatasetRequest request;
  request.name = "mini-meetings";
  request.split = "test";
  Result<std::shared_ptr<const Dataset>> dataset = catalogs.datasets().load(request);
  if (!dataset) return dataset.error();
  std::vector<NumberedExample> examples;
  const std::vector<Example>& all = (*dataset)->examples;
  for (size_t i = 0; i < all.size() && examples.size() < kBundledExamples; ++i) {
    const bool new_document =
        examples.empty() || examples.back().example.document_id != all[i].document_id;
    if (new_document) examples.push_back({static_cast<int64_t>(i), all[i]});
  }
  return examples;
}

Result<ExitCode> run_check(const MethodCheckOptions& options) {
  Result<std::vector<NumberedExample>> examples = bundled_examples();
  if (!examples) return examples.error();
  Result<std::string> report = check_method(options, *examples);
  if (!report) return report.error();
  if (Status printed = print_result(*report); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace

void add_method_command(const CommandLine& line) {
  CLI::App& method = add_subcommand(line.app, "method", "Tries methods that are your own programs",
                                    "qfs-bench method check python3 my_method.py");
  method.require_subcommand(1);
  auto options = std::make_shared<MethodCheckOptions>();
  CLI::App& check = add_subcommand(
      method, "check", "Runs a program on three bundled examples and explains what is wrong",
      "qfs-bench method check --param max_words=40 python3 my_method.py");
  check.fallthrough(false);
  repeatable(check.add_option("--param", options->params, "A parameter of the method; repeatable"))
      ->type_name("NAME=VALUE");
  check
      .add_option("--timeout", options->timeout_seconds,
                  "Limit of each step, in seconds (default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(int64_t{1}, int64_t{86400}));
  check.prefix_command();
  check.callback([options, &check, &chosen = line.chosen] {
    options->command = check.remaining();
    chosen = [options] { return run_check(*options); };
  });
}

}  // namespace qfs::cli
