#include "harness/run/source_changes.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/json_dom.h"

namespace qfs::run {
namespace {

/// A part of the code: what of a method's is in no layer ("sources", its name), or a layer
/// ("layers", its name).
struct Part {
  const char* key;
  std::string name;
};

std::vector<Part> parts_of(const plan::Cell& cell) {
  std::vector<Part> parts = {{"sources", std::string(cell.spec->name())}};
  for (const std::string& layer : cell.spec->layers(cell.params, cell.facts)) {
    parts.push_back({"layers", std::string(layer_name(layer))});
  }
  return parts;
}

/// The digest of a part in what a host says about itself; empty when it does not say.
std::string digest_in(const nlohmann::json& facts, const Part& part) {
  if (!facts.is_object()) return {};
  const auto digests = facts.find(part.key);
  if (digests == facts.end() || !digests->is_object()) return {};
  const auto digest = digests->find(part.name);
  return digest != digests->end() && digest->is_string() ? digest->get<std::string>() : "";
}

/// Digests under which the stored outputs of a result were made.
Result<std::set<std::string>> stored_digests(store::Reader& reader, store::ResultId result,
                                             const Part& part) {
  auto attempts = reader.attempts(result);
  if (!attempts) return attempts.error();
  std::set<std::string> digests;
  for (const store::AttemptRow& attempt : *attempts) {
    auto environment = reader.environment(attempt.environment);
    if (!environment) return environment.error();
    Result<nlohmann::json> machine =
        parse_json(environment->host.text, "environment of an attempt");
    if (!machine) return machine.error();
    if (!machine->is_object() || !machine->contains("host")) continue;
    if (std::string digest = digest_in((*machine)["host"], part); !digest.empty()) {
      digests.insert(std::move(digest));
    }
  }
  return digests;
}

}  // namespace

Result<std::vector<std::string>> source_changes(const RunContext& context,
                                                const std::vector<CellState>& states) {
  std::vector<std::string> lines;
  std::set<std::string> told;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].waiting) continue;
    const plan::Cell& cell = context.plan.cells[i];
    const std::string method(cell.spec->name());
    const bool reuses = states[i].missing_units.size() < cell.units.size();
    if (cell.external || !reuses || told.contains(method)) continue;
    Result<HostFacts> host = context.launcher.facts(cell);
    if (!host) return host.error();
    Result<nlohmann::json> facts = parse_json(host->facts.text, "facts of a host");
    if (!facts) return facts.error();
    for (const Part& part : parts_of(cell)) {
      const std::string now = digest_in(*facts, part);
      auto stored = stored_digests(context.reader, states[i].predict.result, part);
      if (!stored) return stored.error();
      stored->erase(now);
      if (now.empty() || stored->empty()) continue;
      told.insert(method);
      lines.push_back("the code of " + part.name + " has changed since stored outputs of " +
                      method + " were made (" + stored->begin()->substr(0, 12) + ", now " +
                      now.substr(0, 12) +
                      ") and its version has not: outputs are reused; --rerun method=" + method +
                      " computes them again");
      break;
    }
  }
  return lines;
}

}  // namespace qfs::run
