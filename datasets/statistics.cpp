#include "datasets/statistics.h"

#include <set>
#include <string>

#include "datasets/check.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"

namespace qfs::datasets {
namespace {

constexpr StatisticInfo kStatistics[] = {
    {"documents", "distinct documents"},
    {"examples", "examples: pairs of a query and a document"},
    {"segments", "turns or paragraphs of a document, mean"},
    {"document_words", "words of a document with its speakers, mean"},
    {"document_words_without_speakers", "words of a document without its speakers, mean"},
    {"input_words", "words of an example's document with its speakers, mean"},
    {"input_characters", "characters of an example's document without its speakers, mean"},
    {"query_words", "words of a query, mean"},
    {"query_characters", "characters of a query, mean"},
    {"reference_words", "words of a reference, mean"},
    {"reference_characters", "characters of a reference, mean"},
    {"references_per_example", "references of an example, mean"},
    {"speakers", "distinct speakers of a document, mean"},
    {"queries_per_document", "examples of a document, mean"},
};

using Splits = std::span<const std::shared_ptr<const Dataset>>;

/// A sum with the number of things it is of.
struct Mean {
  double sum = 0;
  double count = 0;
  void add(double value) {
    sum += value;
    count += 1;
  }
  double value() const { return count == 0 ? 0 : sum / count; }
};

double words(std::string_view text) { return static_cast<double>(count_words(text)); }
double characters(std::string_view text) { return static_cast<double>(count_code_points(text)); }

/// The sum over a document's segments of what `of` says of their texts.
template <class Of>
double over_segments(const Example& example, const Of& of) {
  double sum = 0;
  for (const Segment& segment : example.document) sum += of(segment.text);
  return sum;
}

double speakers(const Example& example) {
  std::set<std::string_view> names;
  for (const Segment& segment : example.document) {
    if (!segment.speaker.empty()) names.insert(segment.speaker);
  }
  return static_cast<double>(names.size());
}

/// The mean over examples of what `of` says of one.
template <class Of>
Mean over_examples(Splits splits, const Of& of) {
  Mean mean;
  for (const auto& split : splits) {
    for (const Example& example : split->examples) mean.add(of(example));
  }
  return mean;
}

/// The same over distinct documents.
template <class Of>
Mean over_documents(Splits splits, const Of& of) {
  Mean mean;
  for (const auto& split : splits) {
    std::set<std::string_view> seen;
    for (const Example& example : split->examples) {
      if (seen.insert(example.document_id).second) mean.add(of(example));
    }
  }
  return mean;
}

/// The same over all references.
template <class Of>
Mean over_references(Splits splits, const Of& of) {
  Mean mean;
  for (const auto& split : splits) {
    for (const Example& example : split->examples) {
      for (const std::string& reference : example.references) mean.add(of(reference));
    }
  }
  return mean;
}

}  // namespace

std::span<const StatisticInfo> statistics() { return kStatistics; }

Result<double> statistic(std::string_view name, Splits splits) {
  const auto one = [](const Example&) { return 1.0; };
  const auto read_words = [](const Example& e) { return words(rendered_document(e)); };
  if (name == "documents") return over_documents(splits, one).sum;
  if (name == "examples") return over_examples(splits, one).sum;
  if (name == "segments") {
    return over_documents(splits,
                          [](const Example& e) { return static_cast<double>(e.document.size()); })
        .value();
  }
  if (name == "document_words") return over_documents(splits, read_words).value();
  if (name == "document_words_without_speakers") {
    return over_documents(splits, [](const Example& e) { return over_segments(e, words); }).value();
  }
  if (name == "input_words") return over_examples(splits, read_words).value();
  if (name == "input_characters") {
    return over_examples(splits, [](const Example& e) { return over_segments(e, characters); })
        .value();
  }
  if (name == "query_words") {
    return over_examples(splits, [](const Example& e) { return words(e.query); }).value();
  }
  if (name == "query_characters") {
    return over_examples(splits, [](const Example& e) { return characters(e.query); }).value();
  }
  if (name == "reference_words") return over_references(splits, words).value();
  if (name == "reference_characters") return over_references(splits, characters).value();
  if (name == "references_per_example") {
    return over_examples(splits,
                         [](const Example& e) { return static_cast<double>(e.references.size()); })
        .value();
  }
  if (name == "speakers") return over_documents(splits, speakers).value();
  if (name == "queries_per_document") {
    return over_examples(splits, one).sum / over_documents(splits, one).sum;
  }
  std::vector<std::string> names;
  for (const StatisticInfo& info : kStatistics) names.emplace_back(info.name);
  return not_found("no statistic '" + std::string(name) + "' of data sets" +
                   suggestion(name, names));
}

}  // namespace qfs::datasets
