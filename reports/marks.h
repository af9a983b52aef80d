// Marks of a table's cells: the best of a column, and what differs significantly from a baseline.
//
// Called by build_table when all cells are there. Errors of `test_against` are the store's, and
// `not_found` for a method that no row has or that is compared with nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/layout.h"
#include "reports/place_evaluator.h"
#include "reports/sweep_facts.h"
#include "reports/table.h"
#include "reports/value.h"

namespace qfs::reports {

/// Says it of rows that hold oracles alone, and of such columns where the rows hold others too.
void mark_oracles(Table& table);

/// Marks in each column, among cells that are no oracles and whose numbers may be compared, the
/// best number, and every number that prints the same digits: a reader could not tell why only one
/// of two equal numbers is bold. Nothing is marked where all print the same, or one stands alone.
void mark_best(Table& table);

/// Tests every score of the other rows against the row of `method` (its label) on the same
/// examples: with the same values of what tells several such rows apart. Several seeds are tested
/// by each example's mean over them. `option` named the method. P values are adjusted after Holm
/// over the whole table. `not_found` where no score of another row is in the table.
Status test_against(store::Reader& reader, const SweepFacts& facts, const Layout& layout,
                    std::span<const ValueSpec> values, std::span<const MetricChoice> metrics,
                    const std::string& method, std::string_view option, Table& table);

/// After test_against: puts the baseline minus each tested score in the score's place, names the
/// rows (or columns) of those methods "minus …", and leaves them no other value.
void show_differences(Table& table);

/// What the marks mean; empty where there is none.
std::vector<std::string> mark_notes(const Table& table);

}  // namespace qfs::reports
