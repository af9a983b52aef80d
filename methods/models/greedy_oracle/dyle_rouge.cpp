#include "methods/models/greedy_oracle/dyle_rouge.h"

#include <algorithm>
#include <bit>

namespace qfs::greedy_oracle {
namespace {

using metrics::LocalId;

/// F with the package's smoothing; `found` and `expected` are the sizes of both sides.
double smoothed_f(int64_t common, int64_t found, int64_t expected) {
  const auto ratio = [&](int64_t size) {
    return size == 0 ? 0.0 : static_cast<double>(common) / static_cast<double>(size);
  };
  const double precision = ratio(found);
  const double recall = ratio(expected);
  return 2.0 * ((precision * recall) / (precision + recall + 1e-8));
}

int64_t bigrams(size_t words) { return words < 2 ? 0 : static_cast<int64_t>(words) - 1; }

}  // namespace

DottedText cut_at_dots(std::string_view text, metrics::InternTable& words) {
  DottedText result;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    DottedText::Piece piece;
    piece.has_bytes = end > begin;
    for (size_t i = begin; i < end;) {
      const size_t blank = std::min(text.find(' ', i), end);
      if (blank > i) piece.words.push_back(words.id(text.substr(i, blank - i)));
      i = blank + 1;
    }
    result.pieces.push_back(std::move(piece));
    begin = end + 1;
  }
  return result;
}

size_t DyleRouge::SentenceHash::operator()(const Sentence& sentence) const {
  uint64_t hash = sentence.size();
  for (uint32_t word : sentence) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32U;
  }
  return hash;
}

/// Where two texts meet, the last piece of the one and the first of the other are one piece, which
/// holds at least the blank between them.
template <class Visit>
void DyleRouge::for_each_sentence(std::span<const DottedText* const> texts, Visit&& visit) {
  const auto visit_piece = [&](const Sentence& words, bool has_bytes) {
    if (has_bytes) visit(words.empty() ? empty_word_ : words);
  };
  joint_.clear();
  bool joint_has_bytes = false;
  for (size_t t = 0; t < texts.size(); ++t) {
    const std::vector<DottedText::Piece>& pieces = texts[t]->pieces;
    joint_.insert(joint_.end(), pieces.front().words.begin(), pieces.front().words.end());
    joint_has_bytes = joint_has_bytes || t > 0 || pieces.front().has_bytes;
    if (pieces.size() == 1) continue;
    visit_piece(joint_, joint_has_bytes);
    for (size_t p = 1; p + 1 < pieces.size(); ++p)
      visit_piece(pieces[p].words, pieces[p].has_bytes);
    joint_ = pieces.back().words;
    joint_has_bytes = pieces.back().has_bytes;
  }
  visit_piece(joint_, joint_has_bytes);
}

void DyleRouge::set_reference(const DottedText& reference) {
  local_of_.clear();
  common_.clear();
  reference_.clear();
  types_ = 0;
  std::vector<LocalId> stream;
  const DottedText* const texts[] = {&reference};
  for_each_sentence(texts, [&](const Sentence& sentence) {
    auto& locals = reference_.emplace_back();
    for (uint32_t word : sentence) {
      if (word >= local_of_.size()) local_of_.resize(size_t{word} + 1, 0);
      if (local_of_[word] == 0) local_of_[word] = ++types_;
      locals.push_back(local_of_[word] - 1);
    }
    stream.insert(stream.end(), locals.begin(), locals.end());
  });
  reference_words_ = static_cast<int64_t>(stream.size());
  overlap_.set_reference(stream, types_);
}

const DyleRouge::WordSet& DyleRouge::common_words(const Sentence& sentence) {
  const auto [entry, is_new] = common_.try_emplace(sentence);
  WordSet& common = entry->second;
  if (!is_new) return common;
  common.assign((types_ + 63) / 64, 0);
  // The package steps back in the reference only if that entry is strictly larger. BitLcs does so
  // with its columns, hence the candidate's sentence takes the rows. A word that the reference
  // lacks is `types_`, which no column has.
  std::vector<LocalId> rows;
  for (uint32_t word : sentence) rows.push_back(local(word));
  lcs_.set_reference(rows, types_ + 1);
  std::vector<uint64_t> marks(lcs_.words());
  for (const auto& columns : reference_) lcs_.mark(columns, marks);
  for (size_t i = 0; i < rows.size(); ++i) {
    if ((marks[i / 64] >> i % 64 & 1U) != 0) common[rows[i] / 64] |= uint64_t{1} << rows[i] % 64;
  }
  return common;
}

int64_t DyleRouge::count_distinct(std::span<const uint32_t> words) {
  ++round_;
  int64_t count = 0;
  for (uint32_t word : words) {
    if (word >= seen_.size()) seen_.resize(size_t{word} + 1, 0);
    count += seen_[word] != round_;
    seen_[word] = round_;
  }
  return count;
}

std::optional<double> DyleRouge::score(std::span<const DottedText* const> candidate) {
  stream_.clear();
  united_.assign((types_ + 63) / 64, 0);
  for_each_sentence(candidate, [&](const Sentence& sentence) {
    stream_.insert(stream_.end(), sentence.begin(), sentence.end());
    const WordSet& words = common_words(sentence);
    for (size_t i = 0; i < united_.size(); ++i) united_[i] |= words[i];
  });
  if (stream_.empty() || reference_.empty()) return std::nullopt;
  local_stream_.clear();
  for (uint32_t word : stream_) local_stream_.push_back(local(word));

  const auto size = static_cast<int64_t>(stream_.size());
  const double rouge1 = smoothed_f(overlap_.unigrams(local_stream_), size, reference_words_);
  const double rouge2 = smoothed_f(overlap_.bigrams(local_stream_), bigrams(stream_.size()),
                                   bigrams(static_cast<size_t>(reference_words_)));
  int64_t united = 0;
  for (uint64_t bits : united_) united += std::popcount(bits);
  const double rouge_l = smoothed_f(united, count_distinct(stream_), types_);
  return (rouge1 + rouge2 + rouge_l) / 3;
}

}  // namespace qfs::greedy_oracle
