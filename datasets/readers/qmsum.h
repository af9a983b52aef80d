// The reader of QMSum (Zhong et al., NAACL 2021) in its original files: one pretty-printed meeting
// a file for `train` (data/ALL/train/*.json, in the order of their names), one meeting a line for
// `val` and `test` (data/ALL/jsonl/*.jsonl).
//
// Meetings of a .jsonl file have no name in the data; they are called "<split>-<line>". Every file
// must have its pinned SHA-256. The paper's three domains are sets of their own, told by the
// speakers. Called by the catalog. Stateless, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/readers/meeting.h"
#include "harness/api/dataset.h"

namespace qfs::datasets {

/// Meetings of a .jsonl text, named "<prefix>-001" and so on by line; `path` names it in errors.
Result<std::vector<Meeting>> parse_meeting_lines(std::string_view text, const std::string& prefix,
                                                 const std::string& path);

/// Where a meeting is from; `all` is every one.
enum class MeetingDomain { all, product, academic, committee };

/// Product meetings have the four roles of AMI as their speakers, academic ones those of ICSI with
/// a letter ("PhD B"); committees have names.
MeetingDomain domain_of(const Meeting& meeting);

class QmsumReader : public DatasetReader {
 public:
  QmsumReader(MeetingDomain domain, std::string registry_path, std::vector<std::string> roots)
      : domain_(domain), registry_path_(std::move(registry_path)), roots_(std::move(roots)) {}
  DatasetInfo info() const override;
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  MeetingDomain domain_;
  std::string registry_path_;
  std::vector<std::string> roots_;
};

}  // namespace qfs::datasets
