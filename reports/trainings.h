// The trainings that a result rests on, as a store has them.
//
// Used by notes and values of tables and by the text on methods. Thread-safe like its reader.
#pragma once

#include <vector>

#include "harness/store/reader.h"

namespace qfs::reports {

/// Training cells whose files it predicts with, and those that these began with; each once, what
/// another began with behind it.
Result<std::vector<CellId>> trainings_behind(store::Reader& reader, const store::CellRow& cell);

}  // namespace qfs::reports
