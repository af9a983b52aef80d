// The views of sets whose questions have several references: one example a question, or one row a
// reference.
//
// Called by the readers of such sets. Thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/example.h"

namespace qfs::datasets {

enum class ReferenceView { whole, per_reference };

/// The view of a resolved request: "whole" or "per_reference".
ReferenceView reference_view(std::string_view name);

/// Appends a question, which has its group and all its references, under its group's name; or a row
/// for each reference, "<group>/r1" and so on, all of the one group.
void append_question(Example question, ReferenceView view, std::vector<Example>& examples);

/// View, text form and examples of a resolved request, in the data's order; the manifest's
/// other fields are filled by the caller. Two equal keys are a `data` error.
Result<Dataset> seal_questions(const DatasetRequest& request, DatasetManifest manifest,
                               std::vector<Example> examples);

}  // namespace qfs::datasets
