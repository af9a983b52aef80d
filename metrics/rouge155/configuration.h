// Evaluations: which files of which systems are compared with which references.
//
// Read from ROUGE-1.5.5's XML configuration file or from its list of pairs (-z), by the evaluation.
// As upstream, tags are matched in any case, a name is the last run of text in its tag, an
// evaluation id that comes twice goes on where it was, and a reference id that comes twice counts
// twice. Thread-safe. Errors: `data` with file:line; other than upstream, an evaluation without
// references, format or root folders is one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "metrics/rouge155/input_format.h"

namespace qfs::metrics::rouge155 {

struct SystemFile {
  std::string system;
  std::string path;
};

struct Evaluation {
  std::string id;
  InputFormat format = InputFormat::spl;
  std::vector<SystemFile> candidates;  ///< one a system
  std::vector<std::string> references;
  std::string where;  ///< file:line

  /// nullptr when the system has no file here.
  const std::string* candidate_of(std::string_view system) const;
};

struct Configuration {
  std::vector<Evaluation> evaluations;
  std::vector<std::string> systems;  ///< sorted bytewise
};

/// `name` is the file, for messages.
Result<Configuration> parse_configuration(std::string_view xml, const std::string& name);

/// One evaluation a line: candidate, then references; '#' begins a comment line.
Result<Configuration> parse_pair_list(std::string_view text, const std::string& name,
                                      InputFormat format, const std::string& system);

/// Each evaluation with M >= 2 references becomes M with M - 1 references, "id.1" … "id.M", the
/// k-th without reference k. This is how systems are made comparable with people who wrote one of
/// the references; up to version 1.3 ROUGE did it by itself (Lin 2004, section 2.1).
Configuration jackknifed(const Configuration& configuration);

}  // namespace qfs::metrics::rouge155
