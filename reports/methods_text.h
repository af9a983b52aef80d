// What a paper's evaluation section and its reproducibility checklist say of a table: data, methods
// with their parameters, seeds, metrics, intervals and tests, machines, what failed.
//
// Called by `report --methods-text`. Every fact is read from the store, and what is not recorded is
// said to be so or left out. Reads only. Errors are the store's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"
#include "reports/table.h"

namespace qfs::reports {

/// Plain text; the writers escape it.
struct MethodsText {
  std::vector<std::string> sentences;
  std::vector<std::pair<std::string, std::string>> checklist;  ///< what is asked for, the answer
};

/// Of the places that `table` shows.
Result<MethodsText> methods_text(store::Reader& reader, const SweepFacts& facts,
                                 const std::vector<const PlaceFacts*>& places, const Table& table);

std::string write_methods_markdown(const MethodsText& text);
std::string write_methods_latex(const MethodsText& text);
std::string write_methods_json(const MethodsText& text);  ///< schema "qfs-bench/methods/1"

}  // namespace qfs::reports
