#include "metrics/text/bit_lcs.h"

#include <algorithm>
#include <bit>
#include <string>

namespace qfs::metrics {

namespace {

Status check_product(size_t candidate, size_t reference, uint64_t most, const std::string& what) {
  if (reference == 0 || candidate <= most / reference) return {};
  return invalid_argument("the candidate has " + std::to_string(candidate) + " " + what +
                          " and a reference has " + std::to_string(reference) +
                          ": texts whose product is above 2^" +
                          std::to_string(std::countr_zero(most)) + " are not scored");
}

}  // namespace

Status check_lcs_size(const LcsSize& candidate, const LcsSize& reference) {
  Status tokens = check_product(candidate.tokens, reference.tokens, kMaxLcsCells, "tokens");
  if (!tokens) return tokens;
  return check_product(candidate.sentences, reference.sentences, kMaxSentencePairs, "sentences");
}

namespace {

constexpr size_t kBits = 64;

/// The lowest `count` bits, count <= 64.
uint64_t low_bits(size_t count) {
  return count == kBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// One block over all columns; returns its last column. `carry_in` and `carry_out` hold one bit a
/// column (null: none, not wanted), `columns` one word a column (null: not wanted).
uint64_t run_block(std::span<const LocalId> candidate, const std::vector<uint64_t>& matches,
                   const uint64_t* carry_in, uint64_t* carry_out, uint64_t* columns) {
  uint64_t rows = ~uint64_t{0};
  for (size_t first = 0; first < candidate.size(); first += kBits) {
    const uint64_t in = carry_in == nullptr ? 0 : carry_in[first / kBits];
    uint64_t out = 0;
    const size_t count = std::min(kBits, candidate.size() - first);
    for (size_t k = 0; k < count; ++k) {
      const uint64_t match = matches[candidate[first + k]];
      const uint64_t matched = rows & match;
      const uint64_t sum = rows + matched;
      const uint64_t with_carry = sum + (in >> k & 1U);
      out |= static_cast<uint64_t>((sum < matched) | (with_carry < sum)) << k;
      rows = with_carry | (rows & ~match);
      if (columns != nullptr) columns[first + k] = rows;
    }
    if (carry_out != nullptr) carry_out[first / kBits] = out;
  }
  return rows;
}

}  // namespace

void BitLcs::set_reference(std::span<const LocalId> reference, LocalId types) {
  unload();
  reference_ = reference;
  if (matches_.size() <= types) matches_.resize(size_t{types} + 1, 0);
}

void BitLcs::unload() {
  for (LocalId token : rows_) matches_[token] = 0;
  rows_.clear();
  loaded_.reset();
}

void BitLcs::load(size_t block) {
  if (loaded_ == block) return;
  unload();
  const size_t begin = block * kBits;
  const auto rows = reference_.subspan(begin, std::min(kBits, reference_.size() - begin));
  rows_.assign(rows.begin(), rows.end());
  for (size_t row = 0; row < rows.size(); ++row) matches_[rows[row]] |= uint64_t{1} << row;
  loaded_ = block;
}

int64_t BitLcs::length(std::span<const LocalId> candidate) {
  const size_t blocks = words();
  carries_.assign((candidate.size() + kBits - 1) / kBits, 0);
  int64_t length = 0;
  for (size_t block = 0; block < blocks; ++block) {
    load(block);
    uint64_t* carries = blocks == 1 ? nullptr : carries_.data();
    const uint64_t rows = run_block(candidate, matches_, carries, carries, nullptr);
    const size_t count = std::min(kBits, reference_.size() - block * kBits);
    length += std::popcount(~rows & low_bits(count));
  }
  return length;
}

void BitLcs::mark(std::span<const LocalId> candidate, std::span<uint64_t> marks) {
  const size_t blocks = words();
  const size_t carry_words = (candidate.size() + kBits - 1) / kBits;
  // The carries of all blocks but the last are enough to run any block again, so that a long pair
  // needs one bit a column and block instead of a word.
  carries_.resize(blocks * carry_words);
  const auto carry_into = [&](size_t block) {
    return block == 0 ? nullptr : carries_.data() + (block - 1) * carry_words;
  };
  for (size_t block = 0; block + 1 < blocks; ++block) {
    load(block);
    run_block(candidate, matches_, carry_into(block), carries_.data() + block * carry_words,
              nullptr);
  }
  columns_.resize(candidate.size());
  size_t column = candidate.size();
  for (size_t block = blocks; block-- > 0 && column > 0;) {
    load(block);
    run_block(candidate.first(column), matches_, carry_into(block), nullptr, columns_.data());
    size_t row = std::min(kBits, reference_.size() - block * kBits);
    while (row > 0 && column > 0) {
      const uint64_t match = matches_[candidate[column - 1]];
      // Going up passes the rows that neither match nor step; the next one that does decides.
      const uint64_t stops = (match | ~columns_[column - 1]) & low_bits(row);
      if (stops == 0) break;
      const auto top = static_cast<size_t>(std::bit_width(stops)) - 1;
      row = top + 1;
      if ((match >> top & 1U) != 0) {
        marks[block] |= uint64_t{1} << top;
        row = top;
      }
      --column;
    }
  }
}

}  // namespace qfs::metrics
