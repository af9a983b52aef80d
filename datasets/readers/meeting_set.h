// What every set of meetings shares: names, versions and the way from files to a sealed data set.
// Used by the QMSum and mini-meetings readers. Thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "datasets/readers/meeting.h"
#include "harness/api/dataset.h"

namespace qfs::datasets {

/// The version of everything that turns QMSum-format files into examples. Raise it when equal files
/// give other examples.
inline constexpr std::string_view kMeetingReader = "qmsum@1";

/// View, text form and examples of a resolved request, from meetings in the data's order; the
/// manifest's other fields are filled by the caller. Duplicate meeting ids are a `data` error.
Result<Dataset> seal_meetings(const DatasetRequest& request, DatasetManifest manifest,
                              std::vector<Meeting> meetings);

}  // namespace qfs::datasets
