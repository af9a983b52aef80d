// BitLcs: longest common subsequences of a reference with candidates, 64 table rows at a time.
//
// Called by scorers of ROUGE-L. Length: the bit-vector recurrence of Hyyrö ("Bit-parallel
// LCS-length computation revisited", 2004), where a 0 in row i of column j says that the table
// grows by one from row i-1 to row i. Rows beyond 64 form further blocks, run one after the other
// over all columns with one carry bit a column between them. Marking: rouge_score's backtrack asks
// on a mismatch whether t[i][j-1] > t[i-1][j], which holds exactly when column j has that 0 in row
// i, so the stored columns replace the table. tests/support/slow_rouge.h has the table version. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "metrics/text/local_id.h"

namespace qfs::metrics {

/// The most that the lengths of two texts, in tokens, may have as their product: seconds of work
/// and, where subsequences are read out, 512 MiB. A long output stands against a short reference.
inline constexpr uint64_t kMaxLcsCells = uint64_t{1} << 38;

/// Likewise of their sentences, of which each pair has subsequences of its own.
inline constexpr uint64_t kMaxSentencePairs = uint64_t{1} << 30;

struct LcsSize {
  size_t tokens = 0;
  size_t sentences = 1;
};

/// `invalid_argument` for more of either.
Status check_lcs_size(const LcsSize& candidate, const LcsSize& reference);

class BitLcs {
 public:
  /// `reference`: local ids, all below `types`; must stay as it is during the calls below.
  void set_reference(std::span<const LocalId> reference, LocalId types);

  /// Words that `mark` needs: one bit a reference token.
  size_t words() const { return (reference_.size() + 63) / 64; }

  /// Length of the longest common subsequence. Candidate ids are at most `types`.
  int64_t length(std::span<const LocalId> candidate);

  /// Sets the bits of the reference tokens on the one subsequence that rouge_score reads out: from
  /// the corner, diagonally on equal tokens, else to the left only if t[i][j-1] > t[i-1][j], else
  /// up.
  void mark(std::span<const LocalId> candidate, std::span<uint64_t> marks);

 private:
  void load(size_t block);
  void unload();

  std::span<const LocalId> reference_;
  std::vector<uint64_t> matches_;  ///< per local id: rows of the loaded block that hold it
  std::optional<size_t> loaded_;   ///< which block `matches_` describes
  std::vector<LocalId> rows_;      ///< the tokens of that block
  std::vector<uint64_t> carries_;  ///< per block and column: carry into the next block
  std::vector<uint64_t> columns_;  ///< the loaded block after each column
};

}  // namespace qfs::metrics
