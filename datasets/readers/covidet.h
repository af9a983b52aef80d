// The reader of CovidET (Zhan et al. 2022): summaries of posts, each from the perspective of one
// emotion, which is the query.
//
// Called by the catalog. A file is one object {"0": post, "1": post, …}; a post's "Annotations" map
// "Annotation <k> | …" to a list of {"Emotion", "Abstractive"}. A question is a (post, emotion)
// pair, its references are the annotators' summaries in their order; an entry "NA" says that an
// annotator found no emotion and makes none. Posts are named by split and number, because the
// published ids lead to their writers. Every file must have its pinned SHA-256. Stateless,
// thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/readers/reference_rows.h"
#include "harness/api/dataset.h"

namespace qfs::datasets {

/// Examples of a file in the order of the posts and, in a post, of the emotions' first mention;
/// `path` names the file in errors.
Result<std::vector<Example>> parse_posts(std::string_view text, const std::string& split,
                                         ReferenceView view, const std::string& path);

class CovidetReader : public DatasetReader {
 public:
  CovidetReader(std::string registry_path, std::vector<std::string> roots)
      : registry_path_(std::move(registry_path)), roots_(std::move(roots)) {}
  DatasetInfo info() const override;
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  std::string registry_path_;
  std::vector<std::string> roots_;
};

}  // namespace qfs::datasets
