#include "datasets/statistics.h"

#include <set>
#include <string>

#include "datasets/check.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

constexpr StatisticInfo kStatistics[] = {
    {"documents", "distinct documents"},
    {"examples", "examples: pairs of a query and a document"},
    {"segments", "turns or paragraphs of a document, mean"},
    {"document_words", "words of a document with its speakers, mean"},
    {"document_words_without_speakers", "words of a document without its speakers, mean"},
    {"reference_words", "words of a reference, mean"},
    {"speakers", "distinct speakers of a document, mean"},
    {"queries_per_document", "examples of a document, mean"},
};

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

double words_without_speakers(const Example& example) {
  int64_t words = 0;
  for (const Segment& segment : example.document) words += count_words(segment.text);
  return static_cast<double>(words);
}

double speakers(const Example& example) {
  std::set<std::string_view> names;
  for (const Segment& segment : example.document) {
    if (!segment.speaker.empty()) names.insert(segment.speaker);
  }
  return static_cast<double>(names.size());
}

/// The mean over distinct documents of what `of` says of one.
template <class Of>
Mean over_documents(std::span<const std::shared_ptr<const Dataset>> splits, const Of& of) {
  Mean mean;
  for (const auto& split : splits) {
    std::set<std::string_view> seen;
    for (const Example& example : split->examples) {
      if (seen.insert(example.document_id).second) mean.add(of(example));
    }
  }
  return mean;
}

}  // namespace

std::span<const StatisticInfo> statistics() { return kStatistics; }

Result<double> statistic(std::string_view name,
                         std::span<const std::shared_ptr<const Dataset>> splits) {
  const auto documents = [&](const auto& of) { return over_documents(splits, of); };
  const auto one = [](const Example&) { return 1.0; };
  Mean examples;
  Mean references;
  for (const auto& split : splits) {
    for (const Example& example : split->examples) {
      examples.add(1);
      if (name != "reference_words") continue;
      for (const std::string& reference : example.references) {
        references.add(static_cast<double>(count_words(reference)));
      }
    }
  }
  if (name == "documents") return documents(one).sum;
  if (name == "examples") return examples.sum;
  if (name == "segments") {
    return documents([](const Example& e) { return static_cast<double>(e.document.size()); })
        .value();
  }
  if (name == "document_words") {
    return documents([](const Example& e) {
             return static_cast<double>(count_words(rendered_document(e)));
           })
        .value();
  }
  if (name == "document_words_without_speakers") return documents(words_without_speakers).value();
  if (name == "reference_words") return references.value();
  if (name == "speakers") return documents(speakers).value();
  if (name == "queries_per_document") return examples.sum / documents(one).sum;
  std::vector<std::string> names;
  for (const StatisticInfo& info : kStatistics) names.emplace_back(info.name);
  return not_found("no statistic '" + std::string(name) + "' of data sets" +
                   suggestion(name, names));
}

}  // namespace qfs::datasets
