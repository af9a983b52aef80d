// Trainings that also keep a bank of demonstrations of their split (session_bank.h): that of
// `selfcp`, tag, connector and memory; those of other methods, which keep tokens, where nothing
// else is trained those alone.
//
// Opened by sessions.h. Not thread-safe.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "methods/compressors/session_bank.h"
#include "methods/models/prompted/tensor_training.h"

namespace qfs::compressors {

/// What examples of a cell are as demonstrations, as they were when its bank was made.
DemonstrationTexts demonstration_texts(const Params& params,
                                       const architectures::Backbone& backbone);

/// Of a request with a bank what its other file is trained by: without a step where the bank is
/// made alone.
SessionRequest learning_of(const SessionRequest& request);

/// `open`: as prompted::open_adapter_training has it. Errors: those of it; of `fit` also those of
/// BankMaker, and `invalid_argument` where nothing is learned and no file was given to begin with.
Result<std::unique_ptr<TrainingSession>> open_selfcp_training(const SessionRequest& request,
                                                              ResourceCache& cache,
                                                              prompted::OpenSession open);

/// With a bank of tokens where the request asks for one. `learning`: what else is learned; null:
/// nothing. Errors of `fit`: those of `learning`, of the backbone and of DemonstrationTexts.
std::unique_ptr<TrainingSession> with_token_bank(const SessionRequest& request,
                                                 ResourceCache& cache, const MethodSpec& spec,
                                                 std::unique_ptr<TrainingSession> learning);

}  // namespace qfs::compressors
