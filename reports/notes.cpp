#include "reports/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/api/training_warnings.h"
#include "harness/core/counted.h"
#include "harness/core/json_dom.h"
#include "reports/format.h"
#include "reports/output_facts.h"
#include "reports/seeds.h"
#include "reports/trainings.h"

namespace qfs::reports {
namespace {

/// "lead (cell 1234567890ab)".
std::string place_name(const PlaceFacts& place) {
  return fmt::format("{} (cell {})", place.dimensions.at("method"), place.cell.id.short_hex());
}

/// Labels of methods, each once, in the order of the sweep.
std::vector<std::string> methods_where(const SweepFacts& facts, auto&& condition) {
  std::vector<std::string> names;
  for (const PlaceFacts& place : facts.places) {
    const std::string& name = place.dimensions.at("method");
    if (condition(place) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> table_notes(const Table& table) {
  std::vector<std::string> notes;
  if (std::ranges::any_of(table.cells, &TableCell::oracle)) {
    notes.emplace_back("† oracle: reads references or evidence; an upper bound, not a competitor");
  }
  std::set<int64_t> counts;
  for (const TableCell& cell : table.cells) {
    if (shows_repetitions(cell)) counts.insert(cell.n);
  }
  if (!counts.empty()) {
    notes.push_back(fmt::format("speed and memory: median of {} repetitions (smallest–largest)",
                                fmt::join(counts, "/")));
  }
  for (std::string& note : deviation_notes(table)) notes.push_back(std::move(note));
  const auto lacks = [&](ValueGroup group) {
    for (size_t i = 0; i < table.cells.size(); ++i) {
      const bool own = table.values[i % table.values.size()].group == group;
      if (own && table.cells[i].status == CellStatus::not_reported) return true;
    }
    return false;
  };
  if (lacks(ValueGroup::quality)) {
    notes.emplace_back("not scored: qfs-bench score computes it from the outputs in the store");
  }
  if (lacks(ValueGroup::performance)) {
    notes.emplace_back("not measured: \"measure\" in the sweep file asks for speed and memory");
  }
  return notes;
}

std::vector<std::string> absence_notes(const SweepFacts& facts, const Layout& layout) {
  std::set<std::string> params = {"local_context"};
  for (const auto* axes : {&layout.row_axes, &layout.column_axes}) {
    params.insert(axes->begin(), axes->end());
  }
  for (const char* fixed : {"backbone", "cell", "dataset", "method", "seed", "tokenizer"}) {
    params.erase(fixed);
  }
  std::vector<std::string> notes;
  for (const std::string& param : params) {
    const auto has = [&](const PlaceFacts& place) { return place.dimensions.contains(param); };
    if (std::ranges::none_of(facts.places, has)) continue;
    const bool context = param == "local_context";
    const auto lacks = [&](const PlaceFacts& place) {
      return !has(place) && !(context && place.dimensions.contains("total_tokens"));
    };
    const auto add = [&](const std::vector<std::string>& names, const char* meaning) {
      if (names.empty()) return;
      notes.push_back(fmt::format("{} {} no {}{}", fmt::join(names, ", "),
                                  names.size() == 1 ? "has" : "have", param, meaning));
    };
    add(methods_where(facts, [&](const PlaceFacts& p) { return lacks(p) && !p.imported(); }),
        context ? ": whole documents are read" : "");
    add(methods_where(facts, [&](const PlaceFacts& p) { return lacks(p) && p.imported(); }),
        context ? ": how much of the documents was read is not known" : "");
  }
  return notes;
}

std::vector<std::string> profile_notes(const SweepFacts& facts, const Layout& layout) {
  constexpr const char* kProfile = "profile";
  for (const auto* axes : {&layout.row_axes, &layout.column_axes}) {
    if (std::ranges::find(*axes, kProfile) != axes->end()) return {};
  }
  std::set<std::string> profiles;
  for (const PlaceFacts& place : facts.places) {
    const auto profile = place.dimensions.find(kProfile);
    if (profile != place.dimensions.end()) profiles.insert(profile->second);
  }
  std::vector<std::string> notes;
  for (const std::string& profile : profiles) {
    const auto names = methods_where(facts, [&](const PlaceFacts& place) {
      const auto own = place.dimensions.find(kProfile);
      return own != place.dimensions.end() && own->second == profile;
    });
    notes.push_back(fmt::format("profile of {}: {}", fmt::join(names, ", "), profile));
  }
  return notes;
}

std::vector<std::string> seed_notes(const SweepFacts& facts, const Layout& layout) {
  const auto names = methods_where(facts, [](const PlaceFacts& p) { return p.another_seed; });
  if (names.empty()) return {};
  const auto is_seed = [](const std::string& axis) { return axis == "seed"; };
  const bool each = std::ranges::any_of(layout.row_axes, is_seed) ||
                    std::ranges::any_of(layout.column_axes, is_seed);
  return {fmt::format("the seed does not matter to {}: one result{}", fmt::join(names, ", "),
                      each ? ", shown for each seed" : "")};
}

std::string empty_note(const PlaceFacts& place, int64_t outputs, int64_t scored) {
  if (outputs == 0 && scored == 0) return "";
  const int64_t of = place.predict->done;
  std::string note = fmt::format("{}: {} of {} empty", place_name(place), outputs,
                                 counted(of, "output is", "outputs are"));
  if (scored > outputs) note += fmt::format(", {} after postprocessing", scored);
  return note + (std::max(outputs, scored) == of ? "; its scores are those of empty texts" : "");
}

Result<std::string> failed_training_note(store::Reader& reader, const PlaceFacts& place) {
  const auto trainings = trainings_behind(reader, place.cell);
  if (!trainings) return trainings.error();
  for (const CellId& training : *trainings) {
    const auto results = reader.results(training);
    if (!results) return results.error();
    for (const store::ResultRow& result : *results) {
      if (result.status != store::Completeness::failed) continue;
      return fmt::format("{}: its training failed: {}", place_name(place), result.failure_text);
    }
  }
  return std::string();
}

Result<std::string> warning_note(store::Reader& reader, const PlaceFacts& place) {
  std::set<std::string> warnings;
  const auto trainings = trainings_behind(reader, place.cell);
  if (!trainings) return trainings.error();
  for (const CellId& training : *trainings) {
    const auto results = reader.results(training);
    if (!results) return results.error();
    for (const store::ResultRow& result : *results) {
      const auto points = reader.training_points(result.id);
      if (!points) return points.error();
      if (points->empty()) continue;
      for (const auto& [name, value] : points->back().values) {
        if (name.starts_with(kTrainingWarning)) warnings.insert(warning_words(name));
      }
    }
  }
  // Of a file that was trained elsewhere, what is written with it says so.
  if (!place.cell.ordinals.empty()) {
    const auto output = reader.output(place.predict->id, place.cell.ordinals.front());
    if (!output) return output.error();
    if (*output) warnings.merge(warnings_of(**output));
  }
  if (warnings.empty()) return std::string();
  return fmt::format("{}: its training warns of a {}", place_name(place),
                     fmt::join(warnings, ", "));
}

Result<std::string> batch_note(store::Reader& reader, const PlaceFacts& place) {
  const auto asked = place.dimensions.find("batch_size");
  if (asked == place.dimensions.end() || asked->second == "1" || !place.predict) {
    return std::string();
  }
  const auto environment = reader.environment_of(place.predict->key.numerics);
  if (!environment) return environment.error();
  if (!*environment) return std::string();
  const auto numerics = parse_json((*environment)->numerics.text, "numerics");
  if (!numerics) return numerics.error();
  const nlohmann::json params = numerics->value("params", nlohmann::json::object());
  const auto own = params.find("batch_size");
  if (own == params.end() || own->dump() == asked->second) return std::string();
  return fmt::format("{}: a batch_size of {} in place of {}", place_name(place), own->dump(),
                     asked->second);
}

Result<std::map<store::ResultId, int64_t>> conflicts_by_result(store::Reader& reader) {
  Result<std::vector<store::ConflictRow>> rows = reader.conflicts();
  if (!rows) return rows.error();
  std::set<std::pair<store::ResultId, int64_t>> outputs;
  std::map<store::ResultId, int64_t> counts;
  for (const store::ConflictRow& row : *rows) {
    if (outputs.emplace(row.result, row.ordinal).second) ++counts[row.result];
  }
  return counts;
}

std::string conflict_note(const PlaceFacts& place, int64_t count) {
  return fmt::format("not deterministic: {} of {} of {} came out differently when computed again",
                     count, counted(place.cell.ordinals.size(), "output"), place_name(place));
}

}  // namespace qfs::reports
