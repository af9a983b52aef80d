// A run of a store as three plain tables for other programs: cells, scores, and outputs with what
// belongs to them. The Python package's read_store gives the same rows under the same names
// (harness/apps/python/qfs_bench/_store.py, where they are described).
//
// Called by `export --flat`. Reads only; errors are those of the store. Texts are whole in memory.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

/// csv: RFC 4180 with a header line; what is inside of a member has a column of its own
/// ("params.rank", "scores.rouge.rouge1.f"), lists are JSON. Texts are as they are, also those that
/// a spreadsheet takes for formulas.
enum class FlatFormat { jsonl, csv };

struct FlatTables {
  std::string cells;
  std::string scores;
  std::string examples;
};

Result<FlatTables> flat_tables(store::Reader& reader, const SweepFacts& facts, FlatFormat format);

}  // namespace qfs::reports
