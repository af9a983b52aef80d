#include "harness/compare/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"

namespace qfs::compare {
namespace {

constexpr size_t kNamedCells = 8;  ///< cells that a message lists

/// As a plan's filter sees the cell.
plan::CellFacts facts_of(const StoredCell& cell) {
  plan::CellFacts facts(cell.dimensions.begin(), cell.dimensions.end());
  if (const auto label = cell.dimensions.find("method"); label != cell.dimensions.end()) {
    facts.emplace("label", label->second);
  }
  facts.emplace("method", cell.cell.method);
  const auto identity = parse_json(cell.cell.identity.text, "identity");
  if (identity && identity->contains("external")) facts.emplace("method", "external");
  facts.emplace("dataset", cell.dataset);
  return facts;
}

/// `not_found`, with the nearest name, for a dimension that none of the cells has.
Status check_dimension(const std::string& name, std::span<const StoredCell* const> cells) {
  std::set<std::string> names;
  for (const StoredCell* cell : cells) {
    for (const auto& [known, value] : cell->dimensions) names.insert(known);
  }
  if (names.contains(name)) return {};
  return not_found(fmt::format("--pair-by: no cell of the sweep has '{}'{}", name,
                               suggestion(name, std::vector(names.begin(), names.end()))));
}

/// Whether two places show one result: that of a cell to which the seed does not matter.
bool show_the_same(const StoredCell& a, const StoredCell& b) {
  return a.cell.id == b.cell.id && (a.another_seed || b.another_seed);
}

bool shown_among(const StoredCell& cell, const Cells& cells) {
  return std::ranges::any_of(cells,
                             [&](const StoredCell* other) { return show_the_same(cell, *other); });
}

using Key = std::vector<std::string>;

Key key_of(const StoredCell& cell, const std::vector<std::string>& by) {
  Key key;
  for (const std::string& name : by) {
    const auto own = cell.dimensions.find(name);
    key.push_back(own == cell.dimensions.end() ? "" : own->second);
  }
  return key;
}

std::string list_of(std::span<const StoredCell* const> cells) {
  const std::set<std::string> shown = telling_dimensions(cells);
  std::string list;
  for (const StoredCell* cell : cells.first(std::min(cells.size(), kNamedCells))) {
    list += fmt::format("\n  {}  {}", cell->cell.id.short_hex(), cell_name(*cell, shown));
  }
  return list + (cells.size() > kNamedCells ? "\n  …" : "");
}

/// The cells by their key, which is that of one of them only.
Result<std::map<Key, const StoredCell*>> by_key(const Cells& cells, const char* side,
                                                const std::vector<std::string>& by) {
  std::map<Key, Cells> found;
  for (const StoredCell* cell : cells) found[key_of(*cell, by)].push_back(cell);
  std::map<Key, const StoredCell*> unique;
  for (const auto& [key, same] : found) {
    if (same.size() > 1) {
      return invalid_argument(
          fmt::format("--pair-by {}: {} cells of {} have the same values; name what tells them "
                      "apart as well:{}",
                      fmt::join(by, ","), same.size(), side, list_of(same)));
    }
    unique.emplace(key, same.front());
  }
  return unique;
}

/// Pairs that show two results again, and places whose result has a partner at another, are left
/// out.
Pairing without_repetitions(const Pairing& all) {
  Pairing once;
  Cells paired_a;
  Cells paired_b;
  for (const auto& [a, b] : all.pairs) {
    const bool again = std::ranges::any_of(once.pairs, [&, a = a, b = b](const auto& other) {
      return a->cell.id == other.first->cell.id && b->cell.id == other.second->cell.id &&
             (show_the_same(*a, *other.first) || show_the_same(*b, *other.second));
    });
    if (!again) once.pairs.emplace_back(a, b);
    paired_a.push_back(a);
    paired_b.push_back(b);
  }
  const auto left = [](const Cells& cells, Cells paired) {
    Cells lonely;
    for (const StoredCell* cell : cells) {
      if (shown_among(*cell, paired)) continue;
      lonely.push_back(cell);
      paired.push_back(cell);
    }
    return lonely;
  };
  once.only_a = left(all.only_a, std::move(paired_a));
  once.only_b = left(all.only_b, std::move(paired_b));
  return once;
}

/// The k-th cell of an id belongs to the k-th of the other side: two places of a sweep may hold one
/// cell that was computed in two ways.
Pairing paired_by_id(const Cells& a, const Cells& b) {
  Pairing pairing;
  std::vector<bool> used(b.size(), false);
  for (const StoredCell* first : a) {
    size_t j = 0;
    while (j < b.size() && (used[j] || b[j]->cell.id != first->cell.id)) ++j;
    if (j == b.size()) {
      pairing.only_a.push_back(first);
    } else {
      used[j] = true;
      pairing.pairs.emplace_back(first, b[j]);
    }
  }
  for (size_t j = 0; j < b.size(); ++j) {
    if (!used[j]) pairing.only_b.push_back(b[j]);
  }
  return pairing;
}

std::map<std::string, std::set<std::string>> values_by_dimension(const Cells& cells) {
  std::map<std::string, std::set<std::string>> values;
  for (const StoredCell* cell : cells) {
    for (const auto& [name, value] : cell->dimensions) {
      if (name != "cell") values[name].insert(value);
    }
  }
  return values;
}

/// Where what two cells were asked for differs although no dimension does: members of their
/// identities.
std::vector<std::string> identity_differences(const StoredCell& a, const StoredCell& b) {
  const auto first = parse_json(a.cell.identity.text, "");
  const auto second = parse_json(b.cell.identity.text, "");
  std::vector<std::string> names;
  if (!first || !second || !first->is_object() || !second->is_object()) return names;
  if (first->empty() || second->empty()) return names;  // a baseline's file does not have them
  for (const auto& [name, value] : first->items()) {
    const auto other = second->find(name);
    if (other == second->end() || *other != value) names.push_back(name);
  }
  for (const auto& [name, value] : second->items()) {
    if (!first->contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<std::vector<size_t>> matching_cells(std::span<const StoredCell* const> cells,
                                           std::string_view filter, const ForeignNames& foreign,
                                           std::vector<plan::FilterCondition>* absent) {
  const Result<plan::Filter> conditions = plan::parse_filter(filter, foreign);
  if (!conditions) return conditions.error();
  std::vector<plan::CellFacts> facts;
  for (const StoredCell* cell : cells) facts.push_back(facts_of(*cell));
  return plan::matching_cells(*conditions, facts, absent);
}

Result<std::vector<size_t>> select_cells(std::span<const StoredCell* const> cells,
                                         std::string_view id_prefix, std::string_view filter,
                                         const ForeignNames& foreign) {
  const Result<std::vector<size_t>> matching = matching_cells(cells, filter, foreign);
  if (!matching) return matching.error();
  std::vector<size_t> found;
  for (const size_t i : *matching) {
    const StoredCell& cell = *cells[i];
    if (!cell.cell.id.hex().starts_with(id_prefix)) continue;
    const bool again = std::ranges::any_of(
        found, [&](size_t other) { return cells[other]->cell.id == cell.cell.id; });
    if (!cell.another_seed || !again) found.push_back(i);
  }
  return found;
}

namespace {

/// A value as a part of a name: of a prompt the first words.
std::string on_a_line(const std::string& value) {
  constexpr size_t kLongest = 40;
  const size_t end = std::min(value.find('\n'), whole_code_points(value, kLongest));
  return end >= value.size() ? value : value.substr(0, end) + "…";
}

}  // namespace

std::string cell_name(const StoredCell& cell, const std::set<std::string>& shown) {
  const auto method = cell.dimensions.find("method");
  std::string name = method == cell.dimensions.end() ? cell.cell.method : method->second;
  for (const auto& [dimension, value] : cell.dimensions) {
    if (shown.contains(dimension)) name += " " + dimension + "=" + on_a_line(value);
  }
  return name;
}

std::set<std::string> telling_dimensions(std::span<const StoredCell* const> cells) {
  std::map<std::string, Cells> by_label;
  for (const StoredCell* cell : cells) {
    const auto label = cell->dimensions.find("method");
    by_label[label == cell->dimensions.end() ? cell->cell.method : label->second].push_back(cell);
  }
  std::set<std::string> telling;
  for (const auto& [label, same] : by_label) {
    for (const auto& [name, values] : values_by_dimension(same)) {
      if (values.size() > 1 && name != "method") telling.insert(name);
    }
  }
  return telling;
}

Error several_cells(std::span<const StoredCell* const> cells) {
  return invalid_argument(
      fmt::format("{} cells match; give the beginning of an id or more conditions:{}", cells.size(),
                  list_of(cells)));
}

Result<Pairing> pair_cells(const Cells& places_a, const Cells& places_b,
                           const std::vector<std::string>& by) {
  const bool by_seed = std::ranges::count(by, "seed") > 0;
  const Cells a = by_seed ? places_a : shown_once(places_a);
  const Cells b = by_seed ? places_b : shown_once(places_b);
  if (by.empty()) return paired_by_id(a, b);
  Cells all = a;
  all.insert(all.end(), b.begin(), b.end());
  for (const std::string& name : by) {
    if (Status known = check_dimension(name, all); !known) return known.error();
  }
  const auto of_a = by_key(a, "A", by);
  if (!of_a) return of_a.error();
  const auto of_b = by_key(b, "B", by);
  if (!of_b) return of_b.error();
  Pairing pairing;
  for (const StoredCell* cell : a) {
    const auto partner = of_b->find(key_of(*cell, by));
    if (partner == of_b->end()) {
      pairing.only_a.push_back(cell);
    } else {
      pairing.pairs.emplace_back(cell, partner->second);
    }
  }
  for (const StoredCell* cell : b) {
    if (!of_a->contains(key_of(*cell, by))) pairing.only_b.push_back(cell);
  }
  return without_repetitions(pairing);
}

std::vector<std::string> pairing_advice(const Pairing& pairing) {
  if (pairing.only_a.empty() || pairing.only_b.empty()) return {};
  const auto of_a = values_by_dimension(pairing.only_a);
  const auto of_b = values_by_dimension(pairing.only_b);
  std::vector<std::string> different;
  std::vector<std::string> by;
  for (const auto& [name, values] : of_a) {
    const auto other = of_b.find(name);
    if (other == of_b.end()) continue;
    if (other->second != values) {
      different.push_back(fmt::format("{} ({} → {})", name, fmt::join(values, ", "),
                                      fmt::join(other->second, ", ")));
    } else if (name == "method" || values.size() > 1) {
      by.push_back(name);
    }
  }
  if (different.empty()) {
    for (const std::string& name :
         identity_differences(*pairing.only_a.front(), *pairing.only_b.front())) {
      different.push_back("'" + name + "'");
    }
  }
  std::vector<std::string> advice;
  if (!different.empty()) {
    advice.push_back(
        fmt::format("the cells without a partner differ in {}", fmt::join(different, ", ")));
  }
  const auto paired = pair_cells(pairing.only_a, pairing.only_b, by);
  if (!by.empty() && paired && !paired->pairs.empty()) {
    advice.push_back(fmt::format("with --pair-by {} {} would be paired, whatever else differs",
                                 fmt::join(by, ","), paired->pairs.size()));
  } else {
    advice.emplace_back("with --pair-by NAME,… cells are paired by the parameters it names");
  }
  return advice;
}

}  // namespace qfs::compare
