#include "reports/page/page_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/utf8.h"
#include "reports/evidence.h"
#include "reports/page/utf16.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

constexpr size_t kQueryBytes = 160;

std::string one_line_query(const std::string& text) {
  if (text.size() <= kQueryBytes) return text;
  return text.substr(0, whole_code_points(text, kQueryBytes)) + "…";
}

json document_json(const std::vector<Segment>& document) {
  json segments = json::array();
  json speakers = json::array();
  bool spoken = false;
  for (const Segment& segment : document) {
    segments.push_back(rendered(segment));
    speakers.push_back(Utf16Places(segment.speaker).at(segment.speaker.size()));
    spoken = spoken || !segment.speaker.empty();
  }
  json object = {{"segments", std::move(segments)}};
  if (spoken) object["speakers"] = std::move(speakers);
  return object;
}

/// Of `row`, if the store keeps its texts.
Result<std::optional<Example>> kept_example(store::Reader& reader, const DatasetId& id,
                                            int64_t ordinal, bool with_document) {
  Result<Example> example = reader.example(id, ordinal, with_document);
  if (example) return std::optional(*std::move(example));
  if (example.error().kind == ErrorKind::unavailable) return std::optional<Example>();
  return example.error();
}

Status read_texts(store::Reader& reader, PageDataset& dataset) {
  for (const store::ExampleRow& row : dataset.rows) {
    auto example = kept_example(reader, dataset.id, row.ordinal, false);
    if (!example) return example.error();
    if (*example) dataset.texts_kept = true;
    dataset.texts.push_back(*example ? **std::move(example) : Example{});
  }
  return {};
}

/// Reads each document once; `bytes` grows by what they have, also of those beyond `most_bytes`,
/// which are not held.
Status read_documents(store::Reader& reader, size_t most_bytes, PageDataset& dataset,
                      size_t& bytes) {
  std::map<std::string, size_t> numbers;
  for (const store::ExampleRow& row : dataset.rows) {
    const auto [number, is_new] = numbers.try_emplace(row.document_sha256, numbers.size());
    dataset.document_of.push_back(number->second);
    if (!is_new) continue;
    auto example = kept_example(reader, dataset.id, row.ordinal, true);
    if (!example) return example.error();
    std::vector<Segment>& document = dataset.documents.emplace_back();
    if (*example) document = std::move((*example)->document);
    for (const Segment& segment : document) bytes += rendered(segment).size();
    if (bytes > most_bytes) document.clear();
  }
  for (std::optional<size_t>& number : dataset.document_of) {
    if (dataset.documents[*number].empty()) number.reset();
  }
  return {};
}

}  // namespace

Result<std::vector<PageDataset>> page_datasets(store::Reader& reader,
                                               const std::vector<const PlaceFacts*>& places,
                                               size_t most_bytes, size_t& left_out_bytes) {
  std::vector<PageDataset> datasets;
  std::map<DatasetId, std::set<int64_t>> ordinals;
  for (const PlaceFacts* place : places) {
    const DatasetId& id = place->cell.dataset;
    if (!ordinals.contains(id)) {
      datasets.emplace_back().id = id;
      datasets.back().name = place->dimensions.at("dataset");
    }
    ordinals[id].insert(place->cell.ordinals.begin(), place->cell.ordinals.end());
  }
  size_t bytes = 0;
  for (PageDataset& dataset : datasets) {
    Result<std::vector<store::ExampleRow>> rows = reader.examples(dataset.id);
    if (!rows) return rows.error();
    for (store::ExampleRow& row : *rows) {
      if (!ordinals[dataset.id].contains(row.ordinal)) continue;
      dataset.index[row.ordinal] = dataset.rows.size();
      dataset.rows.push_back(std::move(row));
    }
    if (Status read = read_texts(reader, dataset); !read) return read.error();
    if (Status read = read_documents(reader, most_bytes, dataset, bytes); !read) {
      return read.error();
    }
  }
  left_out_bytes = bytes > most_bytes ? bytes : 0;
  if (left_out_bytes == 0) return datasets;
  for (PageDataset& dataset : datasets) {
    dataset.documents.clear();
    std::ranges::fill(dataset.document_of, std::nullopt);
  }
  return datasets;
}

json examples_json(const PageDataset& dataset) {
  json keys = json::array();
  json documents = json::array();
  json queries = json::array();
  for (size_t i = 0; i < dataset.rows.size(); ++i) {
    keys.push_back(dataset.rows[i].key);
    documents.push_back(dataset.rows[i].document_id);
    queries.push_back(one_line_query(dataset.texts[i].query));
  }
  json object = {{"name", dataset.name},
                 {"keys", std::move(keys)},
                 {"documents", std::move(documents)},
                 {"texts", dataset.texts_kept}};
  const bool asked =
      std::ranges::any_of(dataset.texts, [](const Example& e) { return !e.query.empty(); });
  if (asked) object["queries"] = std::move(queries);
  return object;
}

void add_text_blocks(const PageDataset& dataset, size_t number, Page& page) {
  if (!dataset.texts_kept) return;
  for (size_t i = 0; i < dataset.documents.size(); ++i) {
    if (dataset.documents[i].empty()) continue;
    page.blocks.emplace_back(fmt::format("document-{}-{}", number, i),
                             block_text(document_json(dataset.documents[i])));
  }
  for (size_t begin = 0; begin < dataset.rows.size(); begin += kBlockExamples) {
    json block = json::array();
    const size_t end = std::min(begin + kBlockExamples, dataset.rows.size());
    for (size_t i = begin; i < end; ++i) {
      const Example& example = dataset.texts[i];
      json& object = block.emplace_back(json{{"query", example.query},
                                             {"language", example.language},
                                             {"references", example.references}});
      if (!dataset.document_of[i]) continue;
      const size_t document = *dataset.document_of[i];
      object["document"] = document;
      const auto evidence = evidence_segments(example, dataset.documents[document].size());
      if (!evidence.empty()) object["evidence"] = evidence;
    }
    page.blocks.emplace_back(fmt::format("texts-{}-{}", number, begin / kBlockExamples),
                             block_text(block));
  }
}

std::string block_text(const json& json) {
  return json.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace qfs::reports
