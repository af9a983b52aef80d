// PunktModel: the look-ups of Punkt's second stage, over the tables of one language.
//
// Made once from PunktTables, shared by splitters. Immutable; thread-safe; cannot fail.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "metrics/punkt/punkt_tables.h"

namespace qfs::metrics {

/// Contexts in which a word type was seen, as PunktParameters numbers them.
enum PunktContext : int {
  kMiddleUpper = 4,
  kUpper = 2 + 4 + 8,
  kBeginLower = 16,
  kLower = 16 + 32 + 64,
};

class PunktModel {
 public:
  explicit PunktModel(const PunktTables& tables);

  bool is_abbreviation(std::string_view type) const { return abbreviations_.contains(type); }
  bool is_sentence_starter(std::string_view type) const { return starters_.contains(type); }
  bool is_collocation(std::string_view first, std::string_view second) const;
  /// Sum of PunktContext values; 0 for a type never seen.
  int contexts(std::string_view type) const;

  /// SHA-256 of the tables.
  const std::string& sha256() const { return sha256_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Set = std::unordered_set<std::string, Hash, std::equal_to<>>;

  Set abbreviations_;
  Set starters_;
  Set collocations_;  ///< "first\tsecond"
  std::unordered_map<std::string, int, Hash, std::equal_to<>> contexts_;
  std::string sha256_;
};

}  // namespace qfs::metrics
