// Dataset and DatasetReader: examples with the manifest that says exactly which bytes they came
// from. Readers are stateless and thread-safe; a malformed record is a `data` error with file:line.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/ids.h"
#include "harness/api/result.h"

namespace qfs {

/// Which data is asked for: a registered name or a file with a field map.
struct DatasetRequest {
  std::string name;  ///< registered name; empty when `path` is given
  std::string path;  ///< a user's file or folder; empty for registered ones
  std::map<std::string, std::string> fields;  ///< our field -> theirs, for JSONL/JSON/CSV files
  std::string split;                          ///< empty: the reader's default
  std::string view;       ///< `whole`, `golden`, `per_reference`; empty: default
  std::string text_form;  ///< `raw`, `ideal`; empty: default

  friend bool operator==(const DatasetRequest&, const DatasetRequest&) = default;
};

struct SourceFile {
  std::string name;    ///< relative to the data set's folder; never a path of this machine
  std::string sha256;  ///< of the bytes as stored (compressed where compressed)
  int64_t bytes = 0;
};

/// The identity-bearing description of a data set; dataset_id hashes it.
struct DatasetManifest {
  std::string name;
  std::string reader;  ///< "qmsum@1": reader name and version
  std::string split;
  std::string view;
  std::string text_form;  ///< versioned, "ideal@1"
  std::string licence;
  std::string source;  ///< citation or address, for people
  bool no_redistribution = false;
  std::vector<SourceFile> files;  ///< sorted by name
};

struct Dataset {
  DatasetId id;
  DatasetManifest manifest;
  std::vector<Example> examples;
  std::vector<std::string> example_hashes;  ///< SHA-256 per example, same order
};

/// What a catalogue entry offers, for `data list`, validation and suggestions.
struct DatasetInfo {
  std::string name;
  std::string doc;
  std::string licence;
  std::vector<std::string> splits;      ///< the first is the default
  std::vector<std::string> views;       ///< the first is the default
  std::vector<std::string> text_forms;  ///< the first is the default
  bool bundled = false;                 ///< comes with the program; others are fetched
};

class DatasetReader {
 public:
  virtual ~DatasetReader() = default;
  virtual DatasetInfo info() const = 0;
  virtual Result<Dataset> read(const DatasetRequest& request) const = 0;
};

class DatasetCatalog {
 public:
  virtual ~DatasetCatalog() = default;
  virtual std::vector<DatasetInfo> list() const = 0;
  /// Checks names, split, view and form (suggesting the nearest), then reads.
  virtual Result<std::shared_ptr<const Dataset>> load(const DatasetRequest& request) const = 0;
};

}  // namespace qfs
