// ShownExample: one example of a cell as `show` presents it: texts, the cut, what postprocessing
// made of them, scores.
//
// Read from a store; texts that the store does not keep are absent, not errors. Text output is safe
// for terminals. Stateless.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {

struct ExampleScores {
  std::string signature;
  std::vector<std::pair<std::string, double>> columns;
};

/// What a chain of postprocessing made of the texts; only those that it changed.
struct ProcessedTexts {
  std::string chain;  ///< canonical JSON
  std::optional<std::string> prediction;
  std::map<size_t, std::string> references;  ///< by number, from 0
};

struct ShownExample {
  const reports::PlaceFacts* place = nullptr;  ///< outlives this
  store::ExampleRow row;
  std::optional<Example> texts;            ///< absent: the store keeps hashes only
  std::optional<store::OutputRow> output;  ///< absent: not computed
  std::vector<ProcessedTexts> processed;   ///< one a chain of the scores that changed a text
  std::vector<ExampleScores> scores;
};

/// "lead local_context=256 …": the label and all dimensions of a place.
std::string cell_title(const reports::PlaceFacts& place);

Result<ShownExample> load_example(store::Reader& reader, const reports::PlaceFacts& place,
                                  int64_t ordinal);

/// `document`: with the document, the cut marked in it, and the prompt.
std::string example_text(const ShownExample& shown, bool document);
std::string example_json(const ShownExample& shown);

}  // namespace qfs::cli
