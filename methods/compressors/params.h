// What methods of this family declare alike: how a document is cut, and the rules between these
// parameters.
//
// Used by specs and by the sessions that read them; torch-free. Pure; thread-safe.
#pragma once

#include <vector>

#include "harness/api/method.h"
#include "methods/compressors/split.h"

namespace qfs::compressors {

/// Tokens of a window where `local_context` and `train_window` are left out (the paper's).
inline constexpr int64_t kWindow = 512;

/// What a parameter may ask for, tokens most often.
inline constexpr int64_t kMost = 1 << 24;

// Parameters of how many rows stand for a segment.
inline constexpr const char* kSummaryLength = "summary_length";  ///< of autocompressor
inline constexpr const char* kMemSize = "mem_size";              ///< of icae
/// Of both: whether a short segment has as many.
inline constexpr const char* kSegmentRows = "segment_rows";
/// Of icae: of auto-encoding's examples those that learn what follows.
inline constexpr const char* kContinuationShare = "continuation_share";

/// ratio, input_tokens and, where a side is chosen, strategy, memory_position, n_mem_rounding and
/// compress_short.
std::vector<ParamSpec> split_params(bool sides);
/// The rules between them, with `local_context` and `prefix_reuse`; `halves`: of a document of up
/// to two windows one half is compressed.
Status check_split(const Params& params, bool halves);
/// `invalid_argument` for a query of white space alone; without any a summary is asked for.
Status check_query(const Example& example);

/// The ratio of trained rows where their number is left out, and of development losses (the
/// paper's).
inline constexpr double kRatio = 12;

/// How documents of a cell that predicts are cut.
SplitRules split_rules(const Params& params);
/// Whether a part of a document is compressed, be it of the longest alone; labels are chosen for
/// whole ones.
bool makes_memory(const Params& params);

}  // namespace qfs::compressors
