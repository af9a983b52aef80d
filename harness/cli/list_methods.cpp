#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/catalogs.h"
#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/core/json_dom.h"
#include "harness/host/described_spec.h"
#include "methods/families.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kExternal = "external";
constexpr size_t kWidestDefault = 40;  // a prompt would push every column off the screen

json value_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

std::string default_text(const ParamSpec& param, bool in_full) {
  if (param.required) return "required";
  if (!param.default_value) return "–";
  const json value = value_json(*param.default_value);
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  if (text.size() > kWidestDefault) return in_full ? "below" : "a text: list methods NAME";
  return "'" + text + "'";
}

std::string range_text(const ParamSpec& param) {
  std::vector<std::string> choices = param.choices;
  for (const ForeignValue& foreign : methods::foreign_names().values_of(param.name)) {
    const auto own = std::ranges::find(choices, foreign.word);
    if (own != choices.end()) *own += fmt::format(" ({})", foreign.written);
  }
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " | "));
  if (param.minimum && param.maximum) {
    return fmt::format("{} to {}", shortest_decimal(*param.minimum),
                       shortest_decimal(*param.maximum));
  }
  if (param.minimum) return "at least " + shortest_decimal(*param.minimum);
  if (param.maximum) return "at most " + shortest_decimal(*param.maximum);
  return "";
}

/// A method that reads the answers under some parameters is announced as such.
std::vector<std::string> needs_of(const MethodSpec& spec) {
  const Needs needs = spec.needs(methods::default_params(spec));
  std::vector<std::string> list;
  if (needs.tensors) list.emplace_back("qfs-host");
  if (needs.backbone) list.emplace_back("backbone");
  for (const std::string& role : needs.backbones) list.push_back("a model as " + role);
  if (needs.tokenizer) list.emplace_back("tokenizer");
  if (needs.references) list.emplace_back("references");
  if (needs.evidence) list.emplace_back("evidence");
  if (needs.imported) list.emplace_back("a file of predictions");
  if (needs.network) list.emplace_back("network");
  return list;
}

json param_json(const ParamSpec& param) {
  json object = {{"name", param.name},
                 {"type", to_string(param.type)},
                 {"required", param.required},
                 {"part_of", param.transport || param.path ? "no id"
                             : param.numerics              ? "numerics_id"
                                                           : "cell_id"},
                 {"doc", param.doc}};
  if (!param.unit.empty()) object["unit"] = param.unit;
  if (!param.source.empty()) object["source"] = param.source;
  if (param.default_value) object["default"] = value_json(*param.default_value);
  if (param.minimum) object["minimum"] = *param.minimum;
  if (param.maximum) object["maximum"] = *param.maximum;
  if (!param.choices.empty()) object["choices"] = param.choices;
  const auto others = methods::foreign_names().names_of(param.name);
  if (!others.empty()) object["also"] = others;
  for (const ForeignValue& value : methods::foreign_names().values_of(param.name)) {
    object["also_written"][std::string(value.written)] = value.word;
  }
  return object;
}

json method_json(const MethodSpec& spec, const std::string& source_digest) {
  json params = json::array();
  for (const ParamSpec& param : spec.params()) params.push_back(param_json(param));
  return {{"name", spec.name()},
          {"version", spec.version()},
          {"doc", spec.doc()},
          {"layers", methods::all_layers(spec)},
          {"needs", needs_of(spec)},
          {"params", std::move(params)},
          {"source_digest", source_digest}};
}

/// What every program of a user has; its name, version and own parameters it declares itself.
Result<std::shared_ptr<const MethodSpec>> any_program() {
  host::Description description;
  description.name = kExternal;
  description.doc =
      "A program of yours, in any language, by its \"command\" and \"fingerprint\"; it says its "
      "name, "
      "version and further parameters itself, and 'qfs-bench method check' shows them";
  return host::make_described_spec(std::move(description));
}

/// `in_full`: with long defaults, below the table.
std::string method_text(const MethodSpec& spec, bool in_full) {
  const std::string version =
      spec.name() == kExternal ? "" : fmt::format(" (version {})", spec.version());
  std::string text = fmt::format("{}{}: {}\n", spec.name(), version, spec.doc());
  if (const auto needs = needs_of(spec); !needs.empty()) {
    text += fmt::format("  needs: {}\n", fmt::join(needs, ", "));
  }
  std::vector<std::vector<std::string>> rows;
  for (const ParamSpec& param : spec.params()) {
    std::string doc = param.doc;
    if (!param.source.empty()) doc += " [" + param.source + "]";
    for (const std::string& name : methods::foreign_names().names_of(param.name)) {
      doc += " (also " + name + ")";
    }
    rows.push_back({"  " + param.name, std::string(to_string(param.type)), param.unit,
                    default_text(param, in_full), range_text(param), doc});
  }
  if (rows.empty()) return text;
  rows.insert(rows.begin(), {"  parameter", "type", "unit", "default", "range", ""});
  text += aligned(rows);
  for (const ParamSpec& param : spec.params()) {
    if (in_full && default_text(param, true) == "below") {
      text += fmt::format("\n{}, default:\n{}\n", param.name,
                          std::get<std::string>(*param.default_value));
    }
  }
  return text;
}

}  // namespace

Result<ExitCode> list_methods(const GlobalOptions& global, const std::string& name) {
  Catalogs catalogs;
  const MethodCatalog& catalog = catalogs.methods();
  std::vector<const MethodSpec*> specs = catalog.specs();
  const Result<std::shared_ptr<const MethodSpec>> program = any_program();
  if (!program) return program.error();
  if (name == kExternal) {
    specs = {program->get()};
  } else if (!name.empty()) {
    const Result<const MethodSpec*> one = catalog.find(name);
    if (!one) return one.error();
    specs = {*one};
  }
  if (global.json) {
    json list = json::array();
    auto sources = methods::method_sources();
    for (const MethodSpec* spec : specs) {
      list.push_back(method_json(*spec, sources[std::string(spec->name())]));
    }
    if (Status printed =
            print_result(json_document("list-methods", {{"methods", std::move(list)},
                                                        {"layers", methods::layer_digests()},
                                                        {"backbones", catalog.backbone_names()}}));
        !printed) {
      return printed.error();
    }
    return ExitCode::ok;
  }
  std::string text;
  if (name.empty()) specs.push_back(program->get());
  for (const MethodSpec* spec : specs) text += method_text(*spec, !name.empty()) + "\n";
  text += fmt::format("backbones: {}; also the path of a GGUF file, or hf:org/name@revision\n",
                      fmt::join(catalog.backbone_names(), ", "));
  text += "tokenizers: those of the backbones, words, characters\n";
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
