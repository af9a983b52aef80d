// `list postprocess`: the steps of a chain with their parameters.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/core/postprocess.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

std::string steps_json() {
  json steps = json::array();
  for (const PostprocessStep& step : postprocess_steps()) {
    json parameters = json::array();
    for (const PostprocessParameter& parameter : step.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"default", parameter.default_value},
                            {"required", !parameter.optional && parameter.default_value.empty()},
                            {"doc", parameter.doc}});
    }
    steps.push_back(
        {{"name", step.name}, {"doc", step.doc}, {"parameters", std::move(parameters)}});
  }
  return json_document("list-postprocess", {{"steps", std::move(steps)}});
}

std::string steps_text() {
  std::string text;
  for (const PostprocessStep& step : postprocess_steps()) {
    text += fmt::format("{}: {}\n", step.name, step.doc);
    for (const PostprocessParameter& parameter : step.parameters) {
      const std::string value = !parameter.default_value.empty()
                                    ? "default: " + parameter.default_value
                                : parameter.optional ? "default: nothing"
                                                     : "must be given";
      text += fmt::format("  {}: {} ({})\n", parameter.name, parameter.doc, value);
    }
  }
  return text +
         "\nEvery step: to=predictions (default) or to=both, which changes references too.\n"
         "Written as step or step:parameter=value,parameter=value; a comma in a value is \\,.\n";
}

}  // namespace

Result<ExitCode> list_postprocess(const GlobalOptions& global) {
  if (Status printed = print_result(global.json ? steps_json() : steps_text()); !printed) {
    return printed.error();
  }
  return ExitCode::ok;
}

}  // namespace qfs::cli
