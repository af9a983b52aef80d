#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/claims_session.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "harness/core/suggest.h"
#include "reports/writers/claim_text.h"

namespace qfs::cli {
namespace {

struct ClaimsOptions {
  std::string paper;
  std::string table;
  std::string state;
  std::vector<std::string> with;
};

/// The claims of the paper or table that was asked for; all of them otherwise.
Result<std::vector<const claims::Claim*>> chosen_claims(const ClaimsOptions& options,
                                                        const claims::Collection& collection) {
  if (!options.table.empty()) {
    const Result<claims::ShownTable> table = collection.table(options.table);
    if (!table) return table.error();
    return table->claims();
  }
  std::vector<const claims::Claim*> claims = collection.claims();
  if (options.paper.empty()) return claims;
  std::vector<std::string> papers;
  for (const claims::Paper& paper : collection.papers()) papers.push_back(paper.id);
  std::erase_if(claims, [&](const auto* claim) { return claim->paper != options.paper; });
  if (claims.empty()) {
    return not_found(fmt::format("there are no claims of a paper '{}'{}", options.paper,
                                 suggestion(options.paper, papers)));
  }
  return claims;
}

std::string list_text(const std::vector<claims::Finding>& findings) {
  std::vector<std::vector<std::string>> rows = {
      {"claim", "row", "published", "measured", "state", ""}};
  std::map<claims::State, size_t> counts;
  for (const claims::Finding& finding : findings) {
    ++counts[finding.state];
    const claims::Claim& claim = *finding.claim;
    const std::string measured =
        finding.measured ? claims::measured_text(claim.printed, finding.measured->value) : "";
    rows.push_back({claim.id(), claim.label, claim.printed.text, measured,
                    std::string(to_string(finding.state)), finding.detail});
  }
  std::string summary = counted(findings.size(), "claim");
  for (const auto& [state, count] : counts) {
    summary += fmt::format(" · {} {}", count, to_string(state));
  }
  return aligned(rows) + "\n" + summary + "\n";
}

Result<ExitCode> run_claims(const ClaimsOptions& options, const GlobalOptions& global) {
  std::optional<claims::State> state;
  if (!options.state.empty()) state = claims::state_named(options.state);
  auto session = ClaimsSession::open(options.with);
  if (!session) return session.error();
  const auto claims = chosen_claims(options, (*session)->collection());
  if (!claims) return claims.error();
  if (Status used = (*session)->use_store(global); !used) return used.error();
  Result<std::vector<claims::Finding>> findings = (*session)->evaluate(*claims);
  if (!findings) return findings.error();
  if (state) {
    std::erase_if(*findings, [&](const auto& finding) { return finding.state != *state; });
  }
  std::string text = list_text(*findings);
  if (global.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const claims::Finding& finding : *findings) list.push_back(reports::finding_json(finding));
    text = json_document("claims", {{"claims", std::move(list)}});
  }
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace

void add_claims_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "claims", "Lists the numbers that papers print, and which are reproduced",
      "qfs-bench claims --paper ideal --state 'not runnable'");
  auto options = std::make_shared<ClaimsOptions>();
  command
      .add_option("--paper", options->paper,
                  "Only this paper, named as its file in experiments/claims: ideal, say")
      ->type_name("PAPER");
  command.add_option("--table", options->table, "Only this table, e.g. ideal.table3")
      ->type_name("TABLE");
  command
      .add_option("--state", options->state,
                  "Only claims in this state: reproduced, within interval, differs, not run, not "
                  "runnable")
      ->check(
          CLI::IsMember({"reproduced", "within interval", "differs", "not run", "not runnable"}))
      ->type_name("STATE");
  add_places_option(command, options->with);
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_claims(*options, global); };
  });
}

}  // namespace qfs::cli
