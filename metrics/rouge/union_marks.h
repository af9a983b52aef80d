// UnionMarks: the tokens of one reference sentence that lie on its longest common subsequence with
// any sentence of a candidate, the "union LCS" of summary-level ROUGE-L (Lin 2004, section 3.2).
//
// Called by PreparedReference for sentences of at most 63 tokens; longer ones go through BitLcs,
// sentence by sentence. The same recurrence and the same walk back as BitLcs (see there), but only
// over the columns that match the sentence: a column without a match repeats the one before it, so
// that all it can do to the walk is to lift it to the next row where that column steps. Two
// sentences of a summary share few words, which leaves one column in five. All sentences of the
// candidate are one loop without branches on the data. Not thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/text/local_id.h"

namespace qfs::metrics {

class UnionMarks {
 public:
  static constexpr size_t kLongestSentence = 63;

  /// The candidate's tokens, and the index after the last one of each of its sentences. Ids are at
  /// most `types`, which stands for every token that the reference does not have.
  void set_candidate(std::span<const LocalId> tokens, std::span<const size_t> sentence_ends,
                     LocalId types);

  /// Bit i: token i of `sentence` is marked. `sentence`: 1 to kLongestSentence ids below `types`.
  uint64_t mark(std::span<const LocalId> sentence);

 private:
  struct Column {
    LocalId token;
    uint32_t place;  ///< neighbours in a sentence differ by 1, across sentences by more
    uint32_t end;    ///< `place` of the last token of its sentence
  };
  struct Match {
    uint64_t rows;   ///< of the sentence, that hold the column's token; bit 0 is no row
    uint64_t steps;  ///< rows where the table grows by one in this column; bit 0 is set
    uint32_t place;
    uint32_t end;
  };
  size_t find_matches();
  void run_recurrence(size_t count);
  uint64_t walk_back(size_t count) const;

  std::vector<Column> columns_;  ///< those whose token the reference has
  std::vector<Match> matches_;   ///< those that the sentence has
  std::vector<uint64_t> rows_;   ///< per local id, of the sentence at hand
};

}  // namespace qfs::metrics
