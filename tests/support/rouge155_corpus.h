// Corpora for ROUGE-1.5.5 that Python and C++ make alike: the C++ half of `corpus` and
// `generated_pairs` in tests/conformance/metrics/make_rouge155_expected.py.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_texts.h"
#include "tests/support/temporary_folder.h"

namespace qfs::test {

struct Rouge155Item {
  std::vector<std::string> references;
  std::vector<std::pair<std::string, std::string>> candidates;  ///< system and text
};

inline const std::vector<std::string> kRouge155Systems = {"A", "10"};
inline const std::string kRouge155Anchor = "cat sat ";

std::vector<Rouge155Item> rouge155_corpus(uint64_t seed, bool anchor, size_t evaluations = 24);

/// (reference, candidate)
std::vector<std::pair<std::string, std::string>> rouge155_pairs(uint64_t seed, size_t count);

/// Writes all texts and config.xml; `format` is SPL or SEE. Returns the configuration's path.
std::string write_rouge155_corpus(const TemporaryFolder& folder,
                                  const std::vector<Rouge155Item>& items,
                                  const std::string& format);

}  // namespace qfs::test
