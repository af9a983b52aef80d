// Predictions that a file holds already: how the plan gets them, and how they are matched to the
// examples of a data set.
//
// ImportedReader is implemented by the command line, which knows the formats; make_plan matches.
// Errors are `data` with file:line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs::plan {

struct ImportedRow {
  std::string id;                   ///< an example's key; unused where rows go by position
  std::optional<std::string> text;  ///< absent: the file says that there is none
  std::string where;                ///< "file:line"
};

struct ImportedFile {
  std::string path;
  std::string sha256;
  bool by_position = false;  ///< row i belongs to example i of the data set
  std::string suspicion;     ///< why a number of rows may be wrong: "line 17 is blank"
  std::vector<ImportedRow> rows;
};

class ImportedReader {
 public:
  virtual ~ImportedReader() = default;
  /// The file at `path`; `params`: `from` and `fields` of the method `imported`.
  virtual Result<ImportedFile> read(const std::string& path, const Params& params) = 0;
};

/// The outputs of one cell.
struct ImportedOutputs {
  std::string sha256;
  std::map<int64_t, std::string> texts;  ///< by ordinal
  std::vector<int64_t> missing = {};     ///< ordinals whose text is empty because there is none
};

/// One text for each of `ordinals`. Errors: an id that is no key of the data set (with the
/// nearest), a repeated id (with both places), a number of rows that differs from that of the
/// examples, and examples without a text unless `missing_is_empty`.
Result<ImportedOutputs> match_imported(const ImportedFile& file, const Dataset& dataset,
                                       const std::vector<int64_t>& ordinals, bool missing_is_empty);

}  // namespace qfs::plan
