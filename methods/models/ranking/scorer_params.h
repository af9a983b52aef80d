// What specs say of scorers of snippets: which encoders they may be, how they read a document, and
// the role of a trained one that another method reads with.
//
// Used by the specs of dyle, locator and retrieve_generate; torch-free. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "harness/api/params.h"

namespace qfs::ranking {

/// Role of a locator's encoder and of its trained file, and the method that makes it.
inline constexpr const char* kLocator = "locator";

/// The model_type of encoders, as config.json has it, that score snippets.
const std::vector<std::string>& scorer_types();

/// What outputs of a locator rest on besides what reads with it: its encoder's code, and this.
std::vector<std::string> scorer_layers();

/// `chunk_tokens` and `max_chunks`, of both stages.
std::vector<ParamSpec> chunk_params();

}  // namespace qfs::ranking
