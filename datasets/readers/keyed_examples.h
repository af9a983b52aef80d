// KeyedExamples: the examples of a data set as they are read, each with a key of its own.
//
// Used by the readers of users' files and of published sets, which know where a record stands. Not
// thread-safe; an empty key is a `data` error, one that is there twice names both places.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/json_access.h"
#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::datasets {

class KeyedExamples {
 public:
  /// Appends an example that stands at `place`.
  Status add(Example example, const JsonPlace& place);

  size_t size() const { return examples_.size(); }
  std::vector<Example> take() { return std::move(examples_); }

 private:
  std::vector<Example> examples_;
  std::unordered_map<std::string, std::string> first_places_;  // key -> where
};

}  // namespace qfs::datasets
