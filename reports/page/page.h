// Page: what the HTML report of a sweep holds, as JSON: the table, every example of its cells with
// texts, cuts, scores and marks of what texts have in common, and why cells have no number.
//
// Made by make_page from a store, consumed by writers/html.h. It is cut into blocks, so that a
// browser parses what is looked at and nothing else. Reads only. Errors are the store's, the
// matcher's, and `invalid_argument` for a page that no browser would open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"
#include "reports/table.h"

namespace qfs::reports {

/// The next bytes of a text and what they are: 1 a common word, 2 inside a common pair of words, 4
/// on the longest common subsequence.
using MarkedRuns = std::vector<std::pair<size_t, uint8_t>>;

struct MarkedTexts {
  MarkedRuns prediction;
  MarkedRuns reference;
};

/// What a prediction and a reference have in common by the metric of this signature; std::nullopt
/// where the metric does not compare words that can be shown.
using MatchTexts = std::function<Result<std::optional<MarkedTexts>>(
    std::string_view signature, std::string_view prediction, std::string_view reference)>;

struct PageRequest {
  MatchTexts match;
  std::string logs_folder;  ///< to which the paths of logs are relative; empty: none is read
};

struct Page {
  std::string head;  ///< what the first view needs
  /// Id and JSON of the others: "texts-DATASET-BLOCK", "document-DATASET-NUMBER",
  /// "outputs-PLACE-BLOCK".
  std::vector<std::pair<std::string, std::string>> blocks;
};

/// Examples of a block.
inline constexpr size_t kBlockExamples = 64;
/// Documents beyond this are left out, all of them, and the page says so.
inline constexpr size_t kMostDocumentBytes = size_t{96} << 20;
inline constexpr size_t kMostPageBytes = size_t{512} << 20;

/// `places`: those that `table` shows.
Result<Page> make_page(store::Reader& reader, const std::vector<const PlaceFacts*>& places,
                       const Table& table, const PageRequest& request);

}  // namespace qfs::reports
