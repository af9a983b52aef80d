// Where jieba's dictionary and probability tables lie on this machine, and their digests.
//
// Called by the metrics that segment with jieba, when they are made. jieba's files are not part of
// this program: they are read from QFS_JIEBA_DIR (the folder of the package: dict.txt and
// finalseg/) or, without it, from <cache>/jieba-0.42.1, else from the `jieba` that python3 finds.
// Thread-safe; `unavailable` says
// how to get them, `not_found` names a dictionary that the user gave and that is absent.
#pragma once

#include <string>

#include "harness/api/result.h"

namespace qfs::metrics {

struct JiebaRequest {
  std::string dictionary;  ///< a file in jieba's format; empty: dict.txt of the package
  bool hmm = true;         ///< whether the probability tables are needed
};

struct JiebaFiles {
  std::string dictionary;  ///< path
  std::string tables;      ///< folder of prob_*.py; empty without the HMM
  std::string dictionary_sha256;
  std::string tables_sha256;  ///< of the three tables' digests; empty without the HMM
};

Result<JiebaFiles> find_jieba(const JiebaRequest& request);

}  // namespace qfs::metrics
