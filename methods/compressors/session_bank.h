// Bank: demonstrations of a training split in a file that says of which backbone and data they are:
// their tokens, or with them the memory that SelfCP's connector makes of each, compressed once (Gao
// et al. 2024, section 3.4: the Memory Demonstration Bank).
//
// Made by training sessions, read by those that predict with `shots`. Immutable;
// thread-safe. Each demonstration is compressed by itself, so that its memory has the same bits
// whenever it is computed again on a CPU. LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "methods/compressors/session_selfcp.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::compressors {

struct Demonstration {
  std::string key;  ///< of its example
  std::vector<int32_t> ids;
  at::Tensor memory;  ///< [rows, hidden], float32 on the CPU; undefined: the bank holds none
};

/// What examples are as demonstrations.
class DemonstrationTexts {
 public:
  /// `text`: the template; of more than `window` tokens the front is kept.
  DemonstrationTexts(std::string text, int64_t window,
                     std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer);

  /// By an example and its first reference, without memory; `data` without one.
  Result<Demonstration> made(const Example& example) const;
  /// What an example is found by.
  std::vector<int32_t> asked(const Example& example) const;

 private:
  std::vector<int32_t> cut_ids(const std::string& text) const;

  std::string text_;
  int64_t window_;
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer_;
};

/// Compresses demonstrations.
class BankMaker {
 public:
  /// `ratio`: tokens that become one; `opening`: what stands in front of every prompt, and so of
  /// what is compressed.
  BankMaker(DemonstrationTexts texts, double ratio, std::vector<int32_t> opening,
            std::shared_ptr<const Selfcp> compressor);

  /// With memory. Errors: those of DemonstrationTexts::made and of `compressed`.
  Result<Demonstration> made(const Example& example) const;
  /// Memory of some tokens: [rows, hidden], float32 on the CPU; adds what was read to `passes`.
  /// Errors as Selfcp::compress.
  Result<at::Tensor> compressed(const std::vector<int32_t>& ids, int64_t rows,
                                std::vector<ReadPass>& passes) const;
  /// The first memory token of what an example is found by: [1, hidden]; likewise.
  Result<at::Tensor> key_of(const Example& example, std::vector<ReadPass>& passes) const;

 private:
  DemonstrationTexts texts_;
  double ratio_;
  PromptParts opening_;
  std::shared_ptr<const Selfcp> compressor_;
};

/// What stands in front of every prompt of these, whatever is asked: the tokenizer's beginning, or
/// what a conversation has before the user's first word.
Result<std::vector<int32_t>> opening_of(const prompted::Prompts& prompts);

struct Bank {
  std::vector<Demonstration> demonstrations;
  at::Tensor keys;  ///< [demonstrations, hidden]: first memory tokens; undefined without memory
  std::map<std::string, std::string> metadata;
  at::ScalarType type = at::kFloat;  ///< in which the file holds it
};

/// Examples that a bank of `most` holds, in the data's order.
std::vector<size_t> drawn_examples(size_t examples, int64_t most, uint64_t seed);

/// The bytes of a file; memory, where there is any, is rounded to `type`, the digest of what the
/// demonstrations say is added to `metadata`.
std::string bank_bytes(const std::vector<Demonstration>& demonstrations,
                       std::map<std::string, std::string> metadata, at::ScalarType type);

/// With memory, for a backbone of this width and the trained file with this digest. `data`: a
/// damaged file, or one that was made with another.
Result<Bank> read_bank(const std::string& path, int64_t hidden, const std::string& adapter_digest);

/// Of tokens, of any method. `data`: a damaged file.
Result<Bank> read_token_bank(const std::string& path);

enum class BankScore { cosine, dot };

/// The `count` nearest to `key` [hidden], best first, ties to the earlier one.
std::vector<size_t> nearest(const at::Tensor& keys, const at::Tensor& key, BankScore score,
                            int64_t count);

}  // namespace qfs::compressors
