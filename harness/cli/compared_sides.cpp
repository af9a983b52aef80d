#include "harness/cli/compared_sides.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/cli/chosen_places.h"
#include "harness/cli/scoring.h"
#include "harness/cli/store_path.h"

namespace qfs::cli {

SideName side_name(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return {text, "", true};
  for (size_t hash = text.rfind('#'); hash != text.npos && hash > 0;
       hash = text.rfind('#', hash - 1)) {
    const std::string path = text.substr(0, hash);
    if (std::filesystem::exists(path, ignored)) return {path, text.substr(hash + 1), true};
  }
  const bool conditions = text.find('=') < text.find('#');
  return conditions ? SideName{"", text, false}
                    : SideName{text.substr(0, text.find('#')), "", false};
}

Result<ComparedSide> open_side(const std::string& text, const std::string& run,
                               const GlobalOptions& global) {
  const SideName name = side_name(text);
  const bool names_store = !name.path.empty();
  if (names_store && !name.exists) {
    return not_found(fmt::format(
        "there is no file '{}', and it is no conditions such as method=lead,local_context=512",
        name.path));
  }
  Result<std::string> store =
      names_store ? Result<std::string>(name.path) : existing_store_path(global.store);
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(*store, {.foreign = global.foreign});
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, run);
  if (!facts) return facts.error();
  ComparedSide side;
  side.name = run.empty() ? *store : fmt::format("{}, run {}", *store, run);
  side.reader = std::make_unique<store::Reader>(*std::move(reader));
  side.source = std::make_unique<compare::StoreCells>(*side.reader);
  side.facts = *std::move(facts);
  side.filter = name.filter;
  return side;
}

Result<compare::StoredSide> cells_of(ComparedSide& side) {
  const auto positions = matching_positions(side.facts, side.filter);
  if (!positions) return positions.error();
  compare::Cells cells;
  for (const size_t position : *positions) cells.push_back(&side.facts.places[position]);
  return compare::StoredSide{side.name, side.source.get(), std::move(cells), !side.filter.empty()};
}

std::vector<std::string> declared_metrics(const ComparedSide& side, const MetricCatalog& catalog) {
  auto names = metric_names_of_sweep(side.facts.sweep);
  if (!names) return {};
  for (std::string& name : *names) {
    if (const auto metric = catalog.make(name)) name = (*metric)->name();
  }
  return *std::move(names);
}

}  // namespace qfs::cli
