// What one place of a page has: scores of every example for lists, and blocks of its outputs with
// cuts, all scores, and marks of what they share with references. Private to reports/page. Errors
// are the store's and the matcher's.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/page/page.h"
#include "reports/page/page_examples.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

struct PagePlace {
  const PlaceFacts* facts = nullptr;
  size_t number = 0;
  std::string title;  ///< "lead local_context=256"
  const PageDataset* dataset = nullptr;
  size_t dataset_number = 0;
  std::map<size_t, ScoreId> shown;  ///< of the table's values
};

/// Adds the place's blocks to the page; the rest, for the first view, is returned: its title,
/// dimensions, state, and a list of scores a shown value.
Result<nlohmann::json> add_place(store::Reader& reader, const PagePlace& place, const Table& table,
                                 const PageRequest& request, Page& page);

}  // namespace qfs::reports
