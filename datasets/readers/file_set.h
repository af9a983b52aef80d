// FileSet: a published data set in the files that its authors gave out, and the reader of all of
// them.
//
// A format is one function from SetFiles to examples, in a file of its own; its sets are rows
// below, which the catalog lists. Functions are pure but for the files that they ask for,
// thread-safe, and say of every malformed record where it stands (file:line, with a JSON pointer
// inside).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/readers/set_files.h"
#include "harness/api/dataset.h"

namespace qfs::datasets {

struct FileSet {
  DatasetInfo info;
  std::string reader;  ///< "hmnet@1": raise it when equal files give other examples
  /// Examples of a resolved request, in the data's order. The reader makes their groups, the
  /// document_id of those without, and the view `per_reference`.
  std::function<Result<std::vector<Example>>(SetFiles&, const DatasetRequest&)> examples;
  /// Of a set that is not in the registry, because its files have no public address or may not be
  /// handed on: its folder below a root, what lies in there, where people get it.
  std::string folder = "";
  std::string layout = "";
  std::string source = "";
  bool no_redistribution = false;
  /// Whether the work whose text form is asked for leaves out an example; may be empty.
  std::function<bool(const Example& published, const Example& formed)> left_out = nullptr;
};

std::vector<FileSet> hmnet_sets();              ///< AMI and ICSI, as HMNet preprocessed them
std::vector<FileSet> cicero_sets();             ///< CICERO v1 and v2
std::vector<FileSet> cola_sets();               ///< CoLA 1.1, public part
std::vector<FileSet> duc_sets();                ///< DUC 2005 to 2007
std::vector<FileSet> govreport_sets();          ///< GovReport
std::vector<FileSet> record_sets();             ///< those that a field map can read
std::vector<FileSet> scientific_papers_sets();  ///< arXiv and PubMed, as Cohan et al. gave out
std::vector<FileSet> vcsum_sets();              ///< VCSum, segments and meetings
std::vector<FileSet> xsum_sets();               ///< XSum, one file an article

/// All of the above, by name.
std::vector<FileSet> file_sets();

/// Whether the set of this name is one whose files users must bring themselves.
bool is_brought(const std::string& name);

class FileSetReader : public DatasetReader {
 public:
  FileSetReader(FileSet set, std::string registry_path, std::vector<std::string> roots)
      : set_(std::move(set)), registry_path_(std::move(registry_path)), roots_(std::move(roots)) {}
  DatasetInfo info() const override { return set_.info; }
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  FileSet set_;
  std::string registry_path_;
  std::vector<std::string> roots_;
};

}  // namespace qfs::datasets
