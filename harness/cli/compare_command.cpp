#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <memory>

#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/comparison.h"
#include "harness/cli/output.h"
#include "harness/cli/shown_example.h"
#include "harness/cli/store_path.h"

namespace qfs::cli {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> columns;
  std::vector<std::string> max_drops;
  int64_t examples = 3;
};

/// One side as it is open: its store, its sweep, its cells.
struct Side {
  std::string store;
  store::Reader reader;
  reports::SweepFacts facts;
  std::string filter;
};

/// "STORE", "STORE#CONDITIONS" or "CONDITIONS" (on --store).
Result<Side> open_side(const std::string& text, const GlobalOptions& global) {
  const size_t hash = text.find('#');
  const std::string path = text.substr(0, hash);
  std::error_code ignored;
  const bool names_store = hash != std::string::npos || path.find('=') == std::string::npos;
  if (names_store && !std::filesystem::exists(path, ignored)) {
    return not_found(fmt::format(
        "'{}' is neither a store nor conditions such as method=lead,local_context=256", path));
  }
  Result<std::string> store =
      names_store ? Result<std::string>(path) : existing_store_path(global.store);
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(*store, {.foreign = global.foreign});
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, "");
  if (!facts) return facts.error();
  std::string filter = !names_store ? text : hash == std::string::npos ? "" : text.substr(hash + 1);
  return Side{*store, *std::move(reader), *std::move(facts), std::move(filter)};
}

using Places = std::vector<const reports::PlaceFacts*>;
using Pair = std::pair<const reports::PlaceFacts*, const reports::PlaceFacts*>;

/// One cell on each side, or in two stores the cells that both have.
Result<std::vector<Pair>> pairs_of(const Places& a, const Places& b, bool two_stores) {
  if (a.size() == 1 && b.size() == 1) return std::vector{Pair{a.front(), b.front()}};
  if (!two_stores) return several_places(a.size() > 1 ? a : b);
  std::vector<Pair> pairs;
  for (const reports::PlaceFacts* first : a) {
    for (const reports::PlaceFacts* second : b) {
      if (first->cell.id == second->cell.id) pairs.emplace_back(first, second);
    }
  }
  if (!pairs.empty()) return pairs;
  return several_places(a.size() > 1 ? a : b);
}

Result<std::map<std::string, double>> drops_of(const std::vector<std::string>& texts) {
  std::map<std::string, double> drops;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    double margin = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), margin);
    if (equals == 0 || error != std::errc() || end != value.data() + value.size() ||
        !(margin >= 0)) {
      return invalid_argument(
          fmt::format("--max-drop expects COLUMN=MARGIN with a margin of at least 0, for instance "
                      "rougeL.f=0.01; found '{}'",
                      text));
    }
    drops[text.substr(0, equals)] = margin;
  }
  return drops;
}

Result<ExitCode> run_compare(const CompareOptions& options, const GlobalOptions& global) {
  ComparisonRequest request;
  request.columns = options.columns;
  request.examples = static_cast<size_t>(options.examples);
  auto drops = drops_of(options.max_drops);
  if (!drops) return drops.error();
  request.max_drops = *std::move(drops);

  Result<Side> a = open_side(options.a, global);
  if (!a) return a.error();
  Result<Side> b = open_side(options.b, global);
  if (!b) return b.error();
  auto places_a = matching_places(a->facts, "", a->filter);
  if (!places_a) return places_a.error();
  auto places_b = matching_places(b->facts, "", b->filter);
  if (!places_b) return places_b.error();
  auto pairs = pairs_of(*places_a, *places_b, a->store != b->store);
  if (!pairs) return pairs.error();

  Catalogs catalogs;
  std::vector<Comparison> comparisons;
  bool worse = false;
  for (const auto& [first, second] : *pairs) {
    if (!first->predict || !second->predict) {
      return not_found(cell_title(first->predict ? *second : *first) + " has no predictions");
    }
    auto compared = compare_results({&a->reader, first->predict->id},
                                    {&b->reader, second->predict->id}, request, catalogs.metrics());
    if (!compared) return compared.error();
    for (Comparison& comparison : *compared) {
      comparison.a = fmt::format("{} ({})", cell_title(*first), a->store);
      comparison.b = fmt::format("{} ({})", cell_title(*second), b->store);
      for (const ComparedColumn& column : comparison.columns) {
        worse = worse || (column.drop && column.drop->worse);
      }
      comparisons.push_back(std::move(comparison));
    }
  }
  adjust_for_several(comparisons);
  const std::string text =
      global.json ? comparison_json(comparisons) : comparison_text(comparisons);
  if (Status printed = print_result(text); !printed) return printed.error();
  return worse ? ExitCode::regression : ExitCode::ok;
}

}  // namespace

void add_compare_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "compare",
      "Compares stored results on the same examples: difference, interval, test, wins",
      "qfs-bench compare method=lead,local_context=256 method=bm25,local_context=256\n"
      "  qfs-bench compare before.sqlite after.sqlite --max-drop rougeL.f=0.01");
  auto options = std::make_shared<CompareOptions>();
  command
      .add_option("A", options->a,
                  "The baseline: a store, STORE#CONDITIONS, or conditions on --store")
      ->required();
  command.add_option("B", options->b, "What is compared with it, likewise")->required();
  command.add_option("--values", options->columns, "Columns, e.g. rouge1.f (default: F values)")
      ->delimiter(',')
      ->type_name("COLUMN,…");
  command
      .add_option("--max-drop", options->max_drops,
                  "Exit 1 when B is shown to be worse by more than this, e.g. rougeL.f=0.01; "
                  "repeatable")
      ->delimiter(',')
      ->type_name("COLUMN=MARGIN");
  command.add_option("--examples", options->examples, "How many of the most different (default 3)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_compare(*options, global); };
  });
}

}  // namespace qfs::cli
