// TextEmbedder: an encoder with its tokenizer: texts in, one vector a token out.
//
// Opened by BERTScore's session in a host. A text's vectors do not depend on the texts that it is
// encoded with. LibTorch stays behind this header. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/resource_cache.h"
#include "harness/api/result.h"

namespace qfs::architectures {

/// What an encoder reads of a text.
struct TextTokens {
  std::vector<int32_t> ids;
  std::vector<bool> special;  ///< per token: an id that the tokenizer's template puts around texts
  bool truncated = false;     ///< tokens were left out
};

struct EmbedderOptions {
  int64_t layer = 0;          ///< whose states are the vectors; 0: the embeddings
  bool prefix_space = false;  ///< texts are read as if inside a sentence, byte-level BPE only
  int threads = 1;
};

class TextEmbedder {
 public:
  virtual ~TextEmbedder() = default;
  virtual int64_t width() const = 0;
  /// Special tokens written in the text are those tokens, as Hugging Face tokenizers read it. A
  /// text that is too long loses its end, not its special tokens.
  virtual Result<TextTokens> tokens(std::string_view text) const = 0;
  /// outs[i]: [texts[i]->size(), width].
  virtual Status embed(std::span<const std::vector<int32_t>* const> texts,
                       std::span<float* const> outs) = 0;

  /// Verifies the declared digest and reads the folder at `model.path`; weights come from `cache`.
  /// Errors: those of verify_backbone, load_encoder_weights and the tokenizer; `invalid_argument`
  /// for a layer that the encoder does not have or prefix_space with another kind of tokenizer.
  static Result<std::unique_ptr<TextEmbedder>> open(const Resource& model,
                                                    const EmbedderOptions& options,
                                                    ResourceCache& cache);
};

}  // namespace qfs::architectures
