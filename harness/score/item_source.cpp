#include "harness/score/item_source.h"

#include <string>
#include <utility>
#include <vector>

namespace qfs::score {

Status apply(const Postprocess& chain, ScoreItem& item) {
  Result<std::string> candidate = chain.prediction(std::move(item.candidate));
  if (!candidate) return candidate.error();
  item.candidate = *std::move(candidate);
  for (std::string& reference : item.references) {
    Result<std::string> text = chain.reference(std::move(reference));
    if (!text) return text.error();
    reference = *std::move(text);
  }
  return {};
}

Status ItemSource::use_dataset(std::shared_ptr<const Dataset> dataset) {
  const Result<std::vector<store::ExampleRow>> rows = reader_.examples(dataset->id);
  if (!rows) return rows.error();
  bool equal = rows->size() == dataset->example_hashes.size();
  for (size_t i = 0; equal && i < rows->size(); ++i) {
    equal = (*rows)[i].sha256 == dataset->example_hashes[i];
  }
  if (!equal) {
    return data_error("data set " + dataset->manifest.name +
                      " does not have the examples that the store was made from");
  }
  known_.erase(dataset->id);
  given_[dataset->id] = std::move(dataset);
  return {};
}

Result<Example> ItemSource::read(const DatasetId& dataset, int64_t ordinal, bool with_document) {
  const auto given = given_.find(dataset);
  if (given == given_.end()) return reader_.example(dataset, ordinal, with_document);
  const std::vector<Example>& examples = given->second->examples;
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= examples.size()) {
    return not_found("data set " + given->second->manifest.name + " has no example " +
                     std::to_string(ordinal));
  }
  return examples[static_cast<size_t>(ordinal)];
}

Result<ScoreItem> ItemSource::item(const DatasetId& dataset, int64_t ordinal,
                                   const MetricNeeds& needs) {
  std::map<int64_t, Example>& examples = known_[dataset];
  auto known = examples.find(ordinal);
  if (known == examples.end()) {
    Result<Example> example = read(dataset, ordinal, false);
    if (!example) return example.error();
    example->document.clear();
    known = examples.emplace(ordinal, *std::move(example)).first;
  }
  const Example& example = known->second;
  ScoreItem item;
  item.id = ordinal;
  item.group = example.group;
  item.cluster = example.document_id;
  item.language = example.language;
  if (needs.references) {
    if (example.references.empty()) {
      return data_error("example " + example.key + " has no reference to score against");
    }
    item.references = example.references;
  }
  if (needs.query) {
    if (example.query.empty()) return data_error("example " + example.key + " has no query");
    item.query = example.query;
  }
  if (needs.document) {
    const Result<Example> whole = read(dataset, ordinal, true);
    if (!whole) return whole.error();
    if (whole->document.empty() && given_.contains(dataset)) {
      return data_error("example " + example.key + " has no document");
    }
    if (whole->document.empty()) {
      return unavailable(
          "the store keeps no documents of data set " + dataset.short_hex() +
          "; the data set itself is needed (`data fetch`, or of `doctor` --sweep FILE)");
    }
    item.document = rendered_document(*whole);
  }
  return item;
}

}  // namespace qfs::score
