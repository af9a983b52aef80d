// The catalogue's entry of "rouge-1.5.5": options, the profiles files2rouge and dyle-rouge,
// factory.
//
// The word lists come from paths given as options or from a folder: $QFS_ROUGE155_DATA, else
// $ROUGE_EVAL_HOME, else the folder rouge155 in the user's cache. Thread-safe. Errors: a list that
// is asked for and not there, with what to do.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics::rouge155 {

MetricEntry rouge155_entry();

}  // namespace qfs::metrics::rouge155
