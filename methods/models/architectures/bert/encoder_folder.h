// An encoder's folder, opened: its weights, which sessions of one host share, and its tokenizer.
//
// Called by sessions that compare or score texts (dyle, retrieve_generate). Errors: `unavailable`
// for a model of another type, those of reading, of a tokenizer, and of a folder that is not what
// its digest says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::architectures {

struct EncoderFolder {
  std::shared_ptr<const EncoderWeights> weights;
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer;
};

/// `types`: the config's model_type, as accepted.
Result<EncoderFolder> open_encoder_folder(const Resource& model,
                                          const std::vector<std::string>& types,
                                          ResourceCache& cache);

}  // namespace qfs::architectures
