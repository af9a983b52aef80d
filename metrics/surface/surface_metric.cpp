#include "metrics/surface/surface_metric.h"

#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

/// The words of a document or query that the metric cannot do without.
Result<WordNumbers> needed_words(const std::optional<std::string>& text, std::string_view field,
                                 std::string_view metric, TokenEncoder& encoder) {
  const std::string is_needed =
      std::string(metric) + " needs the field '" + std::string(field) + "', ";
  if (!text || text->empty()) return data_error(is_needed + "which this item does not have");
  if (Status status = check_text(*text, field); !status) return status.error();
  Result<WordNumbers> words = encoder.encode(*text);
  if (words && words->empty()) return data_error(is_needed + "which has no word in this item");
  return words;
}

}  // namespace

Result<SurfaceMetric::Words> SurfaceMetric::words_of(const ScoreItem& item,
                                                     TokenEncoder& encoder) const {
  Words words;
  if (Status status = check_text(item.candidate, "candidate"); !status) return status.error();
  Result<WordNumbers> candidate = encoder.encode(item.candidate);
  if (!candidate) return candidate.error();
  words.candidate = *std::move(candidate);
  const MetricNeeds wanted = needs();
  if (wanted.document) {
    Result<WordNumbers> document = needed_words(item.document, "document", name_, encoder);
    if (!document) return document.error();
    words.document = *std::move(document);
  }
  if (wanted.query) {
    Result<WordNumbers> query = needed_words(item.query, "query", name_, encoder);
    if (!query) return query.error();
    words.query = *std::move(query);
  }
  return words;
}

Result<std::vector<Statistics>> SurfaceMetric::measure(std::span<const ScoreItem> items) const {
  TokenEncoder encoder(rules_);
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    const Result<Words> words = words_of(item, encoder);
    Result<Statistics> values = words ? row(item, *words, encoder) : words.error();
    if (!values) {
      Error error = values.error();
      error.where = item_name(item);
      return error;
    }
    rows.push_back(*std::move(values));
  }
  return rows;
}

MetricOption no_words_option() {
  MetricOption option;
  option.name = "empty";
  option.choices = {"zero", "error"};
  option.default_value = "zero";
  option.doc = "a prediction without a word: counts 0, with a warning, or is refused";
  return option;
}

NoWords no_words_rule(const MetricOptionValues& values) {
  return values.text("empty") == "zero" ? NoWords::zero : NoWords::error;
}

std::string_view to_string(NoWords rule) { return rule == NoWords::zero ? "zero" : "error"; }

Error no_words_error(std::string_view metric) {
  return data_error("the prediction has no word, and " + std::string(metric) +
                    " divides by their number; empty=zero counts it as 0");
}

}  // namespace qfs::metrics
