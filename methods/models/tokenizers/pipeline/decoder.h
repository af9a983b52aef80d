// Decoders: the last part of a tokenizer.json, which makes text of pieces.
//
// Made by the readers of formats; used by PipelineTokenizer::decode. Immutable; thread-safe. Names
// and behaviour: `decoders` of Hugging Face tokenizers 0.23, except that bytes that are no text
// stay what they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/models/tokenizers/pipeline/pattern.h"
#include "methods/models/tokenizers/pipeline/pre_tokenizer.h"

namespace qfs::tokenizers {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Rewrites the pieces; joined they are the text.
  virtual void apply(std::vector<std::string>& pieces) const = 0;
};

using DecoderPtr = std::shared_ptr<const Decoder>;

DecoderPtr make_byte_level_decoder();
DecoderPtr make_word_piece_decoder(std::string prefix, bool cleanup);
DecoderPtr make_metaspace_decoder(std::string replacement, PrependScheme scheme);
DecoderPtr make_bpe_decoder(std::string suffix);
DecoderPtr make_byte_fallback_decoder();
DecoderPtr make_fuse_decoder();
/// `clean_up_tokenization_spaces` of transformers: no space before punctuation and contractions.
DecoderPtr make_clean_up_decoder();
DecoderPtr make_strip_decoder(std::string content, int64_t start, int64_t stop);
DecoderPtr make_replace_decoder(PatternPtr pattern, std::string content);
DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> parts);

}  // namespace qfs::tokenizers
