// Prediction files of other tools: one importer each, found by the tool's name.
//
// Called by `score --from NAME`. Each turns the records of its format into PredictionRecords and
// handles the format's traps; a user's fields replace its own choices. Re-runs append rows to some
// files: a row equal to an earlier one of the same id is dropped and counted, a different one is an
// error. Stateless; errors are `data` with file:line or file#/pointer, `not_found` for a name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/predictions/prediction.h"

namespace qfs::datasets {

struct ImportSummary {
  int64_t dropped_repeats = 0;
};

struct Importer {
  std::string_view name;  ///< "lm-eval"
  std::string_view doc;   ///< which files of that tool
  /// `fields` are the user's; empty: the format's own.
  Status (*read)(const std::string& path, const std::map<std::string, std::string>& fields,
                 const PredictionSink& sink);
};

/// "generated_predictions.txt" of the Hugging Face example scripts: lines joined by line breaks. It
/// is no importer of records: `score` reads it beside its reference files.
inline constexpr std::string_view kLineFileImporter = "hf-generated";

/// All importers of records, in the order of the help text.
const std::vector<Importer>& importers();

/// Reads `path` with the importer of this name; `not_found` suggests the nearest.
Result<ImportSummary> import_predictions(std::string_view name, const std::string& path,
                                         const std::map<std::string, std::string>& fields,
                                         const PredictionSink& sink);

}  // namespace qfs::datasets
