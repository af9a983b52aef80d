// The training of `selfcp`: tag and connector, and behind them, where it is asked for, a bank of
// demonstrations of the training split (session_bank.h).
//
// Opened by sessions.h. Not thread-safe.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "methods/compressors/session_bank.h"
#include "methods/models/prompted/tensor_training.h"

namespace qfs::compressors {

/// As they were when its file was made.
BankRules bank_rules(const Params& params);

/// `open`: as prompted::open_adapter_training has it. Errors: those of it; of `fit` also those of
/// BankMaker, and `invalid_argument` where nothing is learned and no file was given to begin with.
Result<std::unique_ptr<TrainingSession>> open_selfcp_training(const SessionRequest& request,
                                                              ResourceCache& cache,
                                                              prompted::OpenSession open);

}  // namespace qfs::compressors
