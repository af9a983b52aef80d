// Example hashes and dataset_id: what makes two data sets the same data.
//
// An example's hash is SHA-256 over canonical JSON of its document, query and references, each
// hashed as raw bytes (no normalisation). dataset_id adds the reader's version, the files' hashes,
// split, view, text form and, for files with a field map, that map. Paths and file names never
// enter. Thread-safe.
#pragma once

#include <map>
#include <span>
#include <string>

#include "harness/api/dataset.h"
#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::datasets {

/// SHA-256 over the segments' speakers and texts, each preceded by its length in bytes and a colon.
std::string document_digest(std::span<const Segment> document);

/// Hash of one example; `document` is document_digest of its document (shared by its queries).
Result<std::string> example_hash(const Example& example, const std::string& document);

/// The id of examples with these hashes, in their order; `field_map` as in seal.
Result<DatasetId> dataset_id(const DatasetManifest& manifest, std::span<const std::string> hashes,
                             const std::map<std::string, std::string>& field_map = {});

/// Fills `example_hashes` and `id` from manifest and examples. `field_map` is the resolved field
/// map of a user's file, empty for registered sets.
Status seal(Dataset& dataset, const std::map<std::string, std::string>& field_map = {});

}  // namespace qfs::datasets
