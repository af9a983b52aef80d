// The reader of users' files: JSONL, a JSON list, or CSV or TSV with a header, plain or compressed
// with gzip or zstd, through a field map; or a folder of such files, in bytewise order of names.
//
// Called by the catalog for requests with a path. The format comes from the file name (.jsonl,
// .ndjson, .json, .csv, .tsv, then .gz or .zst). Thread-safe; a bad record is a `data` error at
// file:line (JSON list: file#/index).
#pragma once

#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::datasets {

/// The version of everything that turns users' files into examples.
inline constexpr std::string_view kRecordReader = "records@1";

/// What a file offers: no split ("all"), view `whole`, form `raw`.
DatasetInfo record_file_info();

/// Reads all records of `request.path`; split, view and form are resolved.
Result<Dataset> read_record_files(const DatasetRequest& request);

}  // namespace qfs::datasets
