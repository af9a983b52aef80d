// Bank: demonstrations of a training split with the memory that SelfCP makes of each, compressed
// once and kept in a file that says of which backbone, connector and data they are (Gao et al.
// 2024, section 3.4: the Memory Demonstration Bank).
//
// Made by training sessions of `selfcp`, read by those that predict with `shots`. Immutable;
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
  at::Tensor memory;  ///< [rows, hidden], float32 on the CPU
};

/// How demonstrations are made and compressed.
struct BankRules {
  std::string text;    ///< their template
  int64_t window = 0;  ///< tokens of one; of a longer one the front is kept
  double ratio = 12;
};

class BankMaker {
 public:
  /// `opening`: what stands in front of every prompt, and so of what is compressed.
  BankMaker(BankRules rules, std::vector<int32_t> opening,
            std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer,
            std::shared_ptr<const Selfcp> compressor);

  /// By an example and its first reference; `data` without one.
  Result<Demonstration> made(const Example& example) const;
  /// Rows for a demonstration of so many tokens.
  int64_t rows_of(int64_t tokens) const;
  /// Memory of some tokens: [rows, hidden], float32 on the CPU; adds what was read to `passes`.
  /// Errors as Selfcp::compress.
  Result<at::Tensor> compressed(const std::vector<int32_t>& ids, int64_t rows,
                                std::vector<ReadPass>& passes) const;
  /// The first memory token of what an example is found by: [1, hidden]; likewise.
  Result<at::Tensor> key_of(const Example& example, std::vector<ReadPass>& passes) const;

  const std::vector<int32_t>& opening() const { return opening_.head; }

 private:
  std::vector<int32_t> cut_ids(const std::string& text) const;

  BankRules rules_;
  PromptParts opening_;
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer_;
  std::shared_ptr<const Selfcp> compressor_;
};

/// What stands in front of every prompt of these, whatever is asked: the tokenizer's beginning, or
/// what a conversation has before the user's first word.
Result<std::vector<int32_t>> opening_of(const prompted::Prompts& prompts);

struct Bank {
  std::vector<Demonstration> demonstrations;
  at::Tensor keys;  ///< [demonstrations, hidden]: first memory tokens
  std::map<std::string, std::string> metadata;
  at::ScalarType type = at::kFloat;  ///< in which the file holds it
};

/// Examples that a bank of `most` holds, in the data's order.
std::vector<size_t> drawn_examples(size_t examples, int64_t most, uint64_t seed);

/// The bytes of a file; memory is rounded to `type`, the digest of what the demonstrations say is
/// added to `metadata`.
std::string bank_bytes(const std::vector<Demonstration>& demonstrations,
                       std::map<std::string, std::string> metadata, at::ScalarType type);

/// For a backbone of this width and the trained file with this digest. `data`: a damaged file, or
/// one that was made with another.
Result<Bank> read_bank(const std::string& path, int64_t hidden, const std::string& adapter_digest);

enum class BankScore { cosine, dot };

/// The `count` nearest to `key` [hidden], best first, ties to the earlier one.
std::vector<size_t> nearest(const at::Tensor& keys, const at::Tensor& key, BankScore score,
                            int64_t count);

}  // namespace qfs::compressors
