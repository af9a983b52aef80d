// One record of a user's file (a JSON object, or a CSV row as an object of texts) as an Example.
//
// A document is a text (cut into paragraphs or lines), a list of texts, or a list of
// {speaker, text} / {speaker, content}; references are a text or a list of texts. Called by the
// file reader and fuzzed. Thread-safe; a bad record is a `data` error with its place.
#pragma once

#include <cstdint>

#include "datasets/json_access.h"
#include "datasets/readers/field_map.h"
#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::datasets {

/// `number`: position in the data set from 1, the key of a record without an id. A record without a
/// document_id gets one from its document's digest, so that equal documents are one cluster.
Result<Example> decode_record(const nlohmann::json& record, const FieldMap& fields, int64_t number,
                              const JsonPlace& place);

}  // namespace qfs::datasets
