// What specs say of scorers of snippets: which encoders they may be, how they read a document, and
// the role of a trained one that another method reads with.
//
// Used by the specs of dyle, locator and retrieve_generate; torch-free. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::ranking {

/// Role of a locator's encoder and of its trained file, and the method that makes it.
inline constexpr const char* kLocator = "locator";

/// The model_type of encoders, as config.json has it, that score snippets.
const std::vector<std::string>& scorer_types();

/// What outputs of a locator rest on besides what reads with it: its encoder's code, and this.
std::vector<std::string> scorer_layers();

/// `chunk_tokens`, `max_chunks` and `score`, of both stages.
std::vector<ParamSpec> scorer_params();

/// Whether `score` is by similarity, where the query is read apart.
bool scores_by_similarity(const Params& params);
/// A file with this recipe scores as a cell asks; one without a scorer may.
Status check_score(const Params& params, const Params& recipe);

/// Tokens that an encoder of these types reads at once, by its config.json. Errors: those of
/// reading it.
Result<int64_t> scorer_window(const Resource& model);
/// `invalid_argument`: 'chunk_tokens' is above it.
Status check_window(const Params& params, const Resource& model);

}  // namespace qfs::ranking
