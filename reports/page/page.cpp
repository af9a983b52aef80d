#include "reports/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/compare/cells.h"
#include "reports/page/page_examples.h"
#include "reports/page/page_outputs.h"
#include "reports/page/page_table.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

constexpr size_t kMebibyte = size_t{1} << 20;

/// The dimensions that a place's name needs so that no other has the same.
std::set<std::string> naming_dimensions(const std::vector<const PlaceFacts*>& places) {
  compare::Cells cells(places.begin(), places.end());
  std::set<std::string> names = compare::telling_dimensions(cells);
  names.erase("cell");
  return names;
}

json value_json(const TableValue& value) {
  json object = {{"name", value.name},
                 {"title", value.title},
                 {"scale", value.scale},
                 {"decimals", value.decimals}};
  if (value.better == Better::higher) object["better"] = "higher";
  if (value.better == Better::lower) object["better"] = "lower";
  return object;
}

size_t bytes_of(const Page& page) {
  size_t bytes = page.head.size();
  for (const auto& [id, text] : page.blocks) bytes += text.size();
  return bytes;
}

}  // namespace

Result<Page> make_page(store::Reader& reader, const std::vector<const PlaceFacts*>& all_places,
                       const Table& table, const PageRequest& request) {
  const std::vector<const PlaceFacts*> places = compare::shown_once(all_places);
  size_t left_out_bytes = 0;
  const auto datasets = page_datasets(reader, places, kMostDocumentBytes, left_out_bytes);
  if (!datasets) return datasets.error();
  Page page;
  json data = json::array();
  for (size_t i = 0; i < datasets->size(); ++i) {
    data.push_back(examples_json((*datasets)[i]));
    add_text_blocks((*datasets)[i], i, page);
  }
  const ShownScores shown = shown_scores(table, places);
  const std::set<std::string> naming = naming_dimensions(places);
  json cells = json::array();
  for (size_t i = 0; i < places.size(); ++i) {
    const auto dataset = std::ranges::find(*datasets, places[i]->cell.dataset, &PageDataset::id);
    const PagePlace place{places[i],
                          i,
                          compare::cell_name(*places[i], naming),
                          &*dataset,
                          static_cast<size_t>(dataset - datasets->begin()),
                          shown[i]};
    Result<json> cell = add_place(reader, place, table, request, page);
    if (!cell) return cell.error();
    cells.push_back(*std::move(cell));
    if (bytes_of(page) <= kMostPageBytes) continue;
    return invalid_argument(
        fmt::format("the page of {} cells would have more than {} MiB, which browsers do not open; "
                    "--filter leaves fewer",
                    places.size(), kMostPageBytes / kMebibyte));
  }
  json values = json::array();
  for (const TableValue& value : table.values) values.push_back(value_json(value));
  json head = {{"name", table.name},
               {"description", table.description},
               {"store", table.store},
               {"signature", table.signature},
               {"mark_notes", table.mark_notes},
               {"notes", table.notes},
               {"values", std::move(values)},
               {"table", table_json(table, places)},
               {"datasets", std::move(data)},
               {"cells", std::move(cells)},
               {"block", kBlockExamples}};
  if (left_out_bytes > 0) {
    head["left_out"] =
        fmt::format("documents are left out: they have {} MiB, and a page at most {}",
                    left_out_bytes / kMebibyte, kMostDocumentBytes / kMebibyte);
  }
  page.head = block_text(head);
  return page;
}

}  // namespace qfs::reports
