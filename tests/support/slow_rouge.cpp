#include "tests/support/slow_rouge.h"

#include <algorithm>
#include <map>
#include <set>

#include "metrics/text/porter_stemmer.h"
#include "metrics/text/tokens.h"

namespace qfs::test {
namespace {

using metrics::make_prf;
using metrics::Prf;
using Ngrams = std::map<Words, int64_t>;

Ngrams ngrams(const Words& words, size_t n) {
  Ngrams counts;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    ++counts[Words(words.begin() + static_cast<long>(i), words.begin() + static_cast<long>(i + n))];
  }
  return counts;
}

Prf rouge_n(const Words& reference, const Words& candidate, size_t n) {
  const Ngrams expected = ngrams(reference, n);
  Ngrams found = ngrams(candidate, n);
  int64_t hits = 0;
  int64_t reference_count = 0;
  int64_t candidate_count = 0;
  for (const auto& [ngram, count] : found) candidate_count += count;
  for (const auto& [ngram, count] : expected) {
    reference_count += count;
    hits += std::min(count, found[ngram]);
  }
  return make_prf(hits, candidate_count, reference_count);
}

std::vector<Words> sentences(std::string_view text, bool stem) {
  std::vector<Words> result;
  std::string line;
  for (char c : text) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) result.push_back(slow_tokens(line, stem));
    line.clear();
  }
  if (!line.empty()) result.push_back(slow_tokens(line, stem));
  return result;
}

Prf rouge_lsum(const std::vector<Words>& reference, const std::vector<Words>& candidate) {
  std::map<std::string, int> left_in_reference;
  std::map<std::string, int> left_in_candidate;
  int64_t m = 0;
  int64_t n = 0;
  for (const Words& sentence : reference) {
    for (const std::string& word : sentence) ++left_in_reference[word], ++m;
  }
  for (const Words& sentence : candidate) {
    for (const std::string& word : sentence) ++left_in_candidate[word], ++n;
  }
  int64_t hits = 0;
  for (const Words& sentence : reference) {
    std::set<size_t> united;
    for (const Words& other : candidate) {
      for (size_t index : lcs_indices(sentence, other)) united.insert(index);
    }
    for (size_t index : united) {
      int& in_reference = left_in_reference[sentence[index]];
      int& in_candidate = left_in_candidate[sentence[index]];
      if (in_reference <= 0 || in_candidate <= 0) continue;
      --in_reference, --in_candidate, ++hits;
    }
  }
  return make_prf(hits, n, m);
}

}  // namespace

Words slow_tokens(std::string_view text, bool stem) {
  Words words;
  std::string buffer;
  metrics::for_each_token(text, buffer, [&](std::string_view token) {
    words.push_back(stem && token.size() > 3 ? metrics::porter_nltk_stem(token)
                                             : std::string(token));
  });
  return words;
}

std::vector<std::vector<int>> lcs_table(const Words& reference, const Words& candidate) {
  std::vector<std::vector<int>> table(reference.size() + 1,
                                      std::vector<int>(candidate.size() + 1, 0));
  for (size_t i = 1; i <= reference.size(); ++i) {
    for (size_t j = 1; j <= candidate.size(); ++j) {
      table[i][j] = reference[i - 1] == candidate[j - 1]
                        ? table[i - 1][j - 1] + 1
                        : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table;
}

std::vector<size_t> lcs_indices(const Words& reference, const Words& candidate) {
  const auto table = lcs_table(reference, candidate);
  std::vector<size_t> indices;
  size_t i = reference.size();
  size_t j = candidate.size();
  while (i > 0 && j > 0) {
    if (reference[i - 1] == candidate[j - 1]) {
      indices.push_back(i - 1);
      --i, --j;
    } else if (table[i][j - 1] > table[i - 1][j]) {
      --j;
    } else {
      --i;
    }
  }
  std::reverse(indices.begin(), indices.end());
  return indices;
}

metrics::RougeScores slow_rouge(std::string_view reference, std::string_view candidate, bool stem) {
  const Words expected = slow_tokens(reference, stem);
  const Words found = slow_tokens(candidate, stem);
  metrics::RougeScores scores;
  scores.rouge1 = rouge_n(expected, found, 1);
  scores.rouge2 = rouge_n(expected, found, 2);
  scores.rougeL =
      make_prf(lcs_table(expected, found).back().back(), static_cast<int64_t>(found.size()),
               static_cast<int64_t>(expected.size()));
  scores.rougeLsum = rouge_lsum(sentences(reference, stem), sentences(candidate, stem));
  return scores;
}

}  // namespace qfs::test
