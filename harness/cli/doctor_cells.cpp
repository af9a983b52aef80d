// What rows of cells and places say, against the identities that their ids are of.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/catalogs.h"
#include "harness/cli/doctor_checks.h"
#include "harness/plan/param_values.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

json tree_of(const Json& text) { return json::parse(text.text, nullptr, false); }

/// A member of an object; null where there is none.
json member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? json() : *found;
}

/// The first member of `identity` that `shown` has otherwise, or not at all; empty: none.
std::string contradicted(const json& identity, const json& shown) {
  if (!identity.is_object()) return "";
  for (const auto& [name, value] : identity.items()) {
    if (!shown.is_object() || !shown.contains(name) || shown[name] != value) return name;
  }
  return "";
}

/// Values as the identity has them in the types of the method; std::nullopt where this program does
/// not know the parameters (another version).
std::optional<Params> params_of(const json& stored, const MethodSpec& spec) {
  const std::vector<ParamSpec> specs = spec.params();
  std::vector<NamedValue> given;
  for (const auto& [name, value] : stored.items()) {
    const ParamSpec* const param = plan::find_param(specs, name);
    if (param == nullptr) return std::nullopt;
    std::optional<ParamValue> typed;
    if (value.is_boolean()) typed = plan::recorded_value(param->type, value.get<bool>());
    if (value.is_number_integer()) typed = plan::recorded_value(param->type, value.get<int64_t>());
    if (value.is_string()) typed = plan::recorded_value(param->type, value.get<std::string>());
    if (!typed) return std::nullopt;
    given.push_back({name, *typed, ""});
  }
  const auto params = plan::resolve_params(specs, given, {});
  return params ? std::optional(*params) : std::nullopt;
}

/// Whether the cell's method reads the answers; std::nullopt where this program cannot tell: it is
/// somebody's own program, or a version with other parameters.
std::optional<bool> reads_answers(const json& identity, const std::string& method,
                                  const MethodCatalog& methods) {
  if (identity.contains("external") || !member(identity, "params").is_object()) return std::nullopt;
  const auto spec = methods.find(method);
  if (!spec) return std::nullopt;
  const auto params = params_of(member(identity, "params"), **spec);
  if (!params) return std::nullopt;
  const Needs needs = (*spec)->needs(*params);
  return needs.references || needs.evidence;
}

/// What the columns of a cell say otherwise than its identity; empty: nothing.
std::string wrong_column(const store::CellRow& cell, const json& identity) {
  if (member(identity, "method") != cell.method) return "the method";
  if (member(identity, "dataset") != cell.dataset.hex()) return "the data set";
  if (member(identity, "seed") != cell.seed) return "the seed";
  if ((member(identity, "kind") == "train") != cell.training) return "whether it trains";
  const std::string name = contradicted(member(identity, "params"), tree_of(cell.params));
  return name.empty() ? "" : "'" + name + "'";
}

std::vector<Finding> check_cell(const store::CellRow& cell, const MethodCatalog& methods) {
  const json identity = tree_of(cell.identity);
  const auto problem = [&](std::string_view text) {
    return std::vector<Finding>{
        {Grade::problem, "store",
         fmt::format("cell {} ({}) {}", cell.id.short_hex(), cell.method, text)}};
  };
  if (!identity.is_object()) return problem("has an identity that is no JSON object");
  const std::string wrong = wrong_column(cell, identity);
  if (!wrong.empty()) return problem("contradicts its identity: " + wrong);
  if (cell.training) return {};
  const auto reads = reads_answers(identity, cell.method, methods);
  if (!reads || *reads == cell.oracle) return {};
  return problem(*reads ? "reads references or evidence and is not marked as an oracle"
                        : "is marked as an oracle and reads neither references nor evidence");
}

/// Tables show the parameters of places.
Status check_places(store::Reader& reader, const std::map<CellId, json>& asked,
                    std::vector<Finding>& findings) {
  const auto sweeps = reader.sweeps();
  if (!sweeps) return sweeps.error();
  for (const store::SweepInfo& info : *sweeps) {
    const auto sweep = reader.sweep(info.id);
    if (!sweep) return sweep.error();
    for (size_t i = 0; i < sweep->cells.size(); ++i) {
      const store::SweepCell& place = sweep->cells[i];
      const auto cell = asked.find(place.cell);
      if (cell == asked.end()) continue;
      const std::string name = contradicted(cell->second, tree_of(place.params));
      if (name.empty()) continue;
      findings.push_back(
          {Grade::problem, "store",
           fmt::format("place {} of sweep {} shows another '{}' than its cell {} has", i,
                       info.id.short_hex(), name, place.cell.short_hex())});
    }
  }
  return {};
}

}  // namespace

std::vector<Finding> check_cells(store::Reader& reader) {
  const auto cells = reader.cells();
  if (!cells) return {{Grade::problem, "store", cells.error().to_string()}};
  std::vector<Finding> findings;
  std::map<CellId, json> asked;  ///< parameters, as identities have them
  Catalogs catalogs;
  for (const store::CellRow& cell : *cells) {
    std::ranges::move(check_cell(cell, catalogs.methods()), std::back_inserter(findings));
    const json identity = tree_of(cell.identity);
    if (identity.is_object() && !cell.training) asked[cell.id] = member(identity, "params");
  }
  if (Status checked = check_places(reader, asked, findings); !checked) {
    findings.push_back({Grade::problem, "store", checked.error().to_string()});
  }
  return findings;
}

}  // namespace qfs::cli
