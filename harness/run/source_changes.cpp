#include "harness/run/source_changes.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/json_dom.h"

namespace qfs::run {
namespace {

/// The digest of a method's sources in what a host says about itself; empty when it does not say.
std::string digest_in(const nlohmann::json& facts, std::string_view method) {
  if (!facts.is_object()) return {};
  const auto sources = facts.find("sources");
  if (sources == facts.end() || !sources->is_object()) return {};
  const auto digest = sources->find(method);
  return digest != sources->end() && digest->is_string() ? digest->get<std::string>() : "";
}

/// Digests under which the stored outputs of a result were made.
Result<std::set<std::string>> stored_digests(store::Reader& reader, store::ResultId result,
                                             std::string_view method) {
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
    if (std::string digest = digest_in((*machine)["host"], method); !digest.empty()) {
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
    const std::string now = digest_in(*facts, method);
    auto stored = stored_digests(context.reader, states[i].predict.result, method);
    if (!stored) return stored.error();
    stored->erase(now);
    if (now.empty() || stored->empty()) continue;
    told.insert(method);
    lines.push_back("the code of " + method + " has changed since stored outputs were made (" +
                    stored->begin()->substr(0, 12) + ", now " + now.substr(0, 12) +
                    ") and its versions have not: outputs are reused; --rerun method=" + method +
                    " computes them again");
  }
  return lines;
}

}  // namespace qfs::run
