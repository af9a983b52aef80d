// Backbone: everything a checkpoint file gives a method — weights, tokenizer, chat template —
// opened and verified once per host.
//
// Called by sessions, usually through the host's ResourceCache. Immutable; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "harness/api/method.h"
#include "harness/api/resource_cache.h"
#include "harness/api/result.h"
#include "methods/models/architectures/reading/generation_defaults.h"
#include "methods/models/nn/network.h"
#include "methods/models/prompting/chat/chat_renderer.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::architectures {

/// Whether a model without a readable tokenizer is opened all the same: who gives and takes token
/// ids needs none.
enum class TokenizerUse { required, optional };

struct Backbone {
  std::shared_ptr<const nn::Network> network;
  /// Null only where it is optional.
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer;
  Status tokenizer_status;        ///< why there is none
  std::string digest;             ///< the declared one of its file
  prompting::ChatSettings chat;   ///< without text when the file has no chat template
  GenerationDefaults generation;  ///< end_ids are never left to the tokenizer
};

/// Verifies the declared digest, then reads the file. Errors: those of verify_backbone,
/// load_network and the tokenizer.
Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource,
                                                      TokenizerUse use = TokenizerUse::required);

/// The same through a cache, keyed by digest.
Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource,
                                                      ResourceCache& cache);

}  // namespace qfs::architectures
