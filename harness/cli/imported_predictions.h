// PredictionFiles: reads files of predictions for the method `imported`, in every form that `score`
// reads.
//
// Used when a sweep is planned. Not thread-safe. Errors are `data` with file:line, `not_found` for
// a file or a form that is not there.
#pragma once

#include "harness/plan/imported.h"

namespace qfs::cli {

class PredictionFiles final : public plan::ImportedReader {
 public:
  Result<plan::ImportedFile> read(const std::string& path, const Params& params) override;
};

}  // namespace qfs::cli
