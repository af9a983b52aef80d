// The reader of SQuALITY v1.3 (Wang et al., EMNLP 2022) in its original files: one story a line
// with five questions of four references each (data/v1-3/txt/*.jsonl).
//
// View `whole`: one example per question with all its references. View `per_reference`: one example
// per question and response, of the same group. Paragraphs are segments; joined by newlines they
// are the story, byte for byte. Every file must have its pinned SHA-256. Stateless, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/readers/reference_rows.h"
#include "harness/api/dataset.h"

namespace qfs::datasets {

/// Examples of a .jsonl text; `path` names it in errors.
Result<std::vector<Example>> parse_stories(std::string_view text, ReferenceView view,
                                           const std::string& path);

/// The version of everything that turns SQuALITY's files into examples. Raise it when equal files
/// give other examples.
inline constexpr std::string_view kStoryReader = "squality@1";

class SqualityReader : public DatasetReader {
 public:
  SqualityReader(std::string registry_path, std::vector<std::string> roots)
      : registry_path_(std::move(registry_path)), roots_(std::move(roots)) {}
  DatasetInfo info() const override;
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  std::string registry_path_;
  std::vector<std::string> roots_;
};

}  // namespace qfs::datasets
