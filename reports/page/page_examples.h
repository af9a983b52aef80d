// The examples of a page: which there are, and blocks of their texts and documents. Private to
// reports/page. Errors are the store's.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/page/page.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

/// One data set of the page: the examples that its places have, by ordinal.
struct PageDataset {
  DatasetId id;
  std::string name;
  std::vector<store::ExampleRow> rows;
  std::map<int64_t, size_t> index;  ///< ordinal -> position in `rows`
  bool texts_kept = false;          ///< by the store
  std::vector<Example> texts;       ///< one a row, without documents; empty where not kept
  std::vector<std::vector<Segment>> documents;     ///< different ones; empty where not kept
  std::vector<std::optional<size_t>> document_of;  ///< of each row
};

/// The data sets of the places, each once, in the order of the places. Where their documents have
/// more than `most_bytes` together, none has any, and `left_out_bytes` says how many.
Result<std::vector<PageDataset>> page_datasets(store::Reader& reader,
                                               const std::vector<const PlaceFacts*>& places,
                                               size_t most_bytes, size_t& left_out_bytes);

/// For the first view: keys, documents' names, queries cut to a line.
nlohmann::json examples_json(const PageDataset& dataset);

/// Adds the blocks of texts and those of documents.
void add_text_blocks(const PageDataset& dataset, size_t number, Page& page);

/// JSON as it stands in a block: what is no UTF-8 is replaced.
std::string block_text(const nlohmann::json& json);

}  // namespace qfs::reports
