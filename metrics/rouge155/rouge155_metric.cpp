#include "metrics/rouge155/rouge155_metric.h"

#include <algorithm>

#include "harness/core/json_dom.h"
#include "metrics/rouge155/dyle_lines.h"
#include "metrics/rouge155/five_digits.h"
#include "metrics/rouge155/resampling.h"

namespace qfs::metrics::rouge155 {
namespace {

std::string_view form_name(SummaryForm form) {
  switch (form) {
    case SummaryForm::lines:
      return "newline";
    case SummaryForm::see:
      return "newline-see";
    case SummaryForm::see_escaped:
      return "newline-see-escaped";
    case SummaryForm::files2rouge:
      return "files2rouge";
  }
  return "";
}

/// The form, behind what made its lines.
std::string split_text(const MetricSettings& settings) {
  const std::string form(form_name(settings.form));
  if (settings.dyle == nullptr) return form;
  return "dyle(treebank-nltk-3.6.2,punkt-nltk-3.6,data:" +
         settings.dyle->model().sha256().substr(0, 16) + ")-" + form;
}

std::string limit_text(const Limit& limit) {
  if (limit.unit == LimitUnit::none) return "none";
  return std::to_string(limit.size) + (limit.unit == LimitUnit::words ? "-words" : "-bytes");
}

std::string short_digest(const std::string& digest) { return digest.substr(0, 12); }

bool is_blank_text(std::string_view text) { return std::ranges::all_of(text, is_blank); }

void add(Statistics& row, size_t variant, const Triple& triple, double share) {
  row[3 * variant] += share * triple.precision;
  row[3 * variant + 1] += share * triple.recall;
  row[3 * variant + 2] += share * triple.f;
}

}  // namespace

std::string_view RougeMetric155::doc() const {
  return "The Perl script ROUGE-1.5.5, digit for digit, with its switches as options";
}

std::vector<std::string> RougeMetric155::columns() const {
  std::vector<std::string> columns;
  for (const Variant& variant : variants(settings_.scoring)) {
    for (const char* value : {".p", ".r", ".f"}) columns.push_back("rouge" + variant.label + value);
  }
  return columns;
}

std::string RougeMetric155::signature() const {
  const Options& scoring = settings_.scoring;
  const Lexicon& lexicon = *settings_.lexicon;
  std::string labels;
  for (const Variant& variant : variants(scoring)) {
    labels += (labels.empty() ? "" : ",") + variant.label;
  }
  const bool stops = !lexicon.stop_words.words.empty();
  return "rouge-1.5.5|variants:" + labels + "|tok:ascii|lc:ascii|stem:" +
         (lexicon.stem ? "porter-cyl|exceptions:" + short_digest(lexicon.exceptions.digest)
                       : "none") +
         "|stop:" + (stops ? short_digest(lexicon.stop_words.digest) : "no") +
         "|limit:" + limit_text(scoring.limit) + "|split:" + split_text(settings_) +
         "|multi:" + (scoring.formula == Formula::average ? "pooled" : "best-recall") +
         (settings_.jackknife ? "-jackknife" : "") + "|alpha:" + shortest_decimal(scoring.alpha) +
         "|agg:" +
         (settings_.samples == 0
              ? "mean"
              : "bootstrap-mean|n:" + std::to_string(settings_.samples) + "|rng:drand48") +
         "|v:1";
}

Result<Statistics> RougeMetric155::measure_one(Scorer& scorer, const ScoreItem& item) const {
  std::string storage;
  std::string lines;
  const auto encode = [&](const std::string& text) {
    if (settings_.dyle) lines = dyle_lines(text, *settings_.dyle);
    return scorer.encode(sentences_of(settings_.dyle ? lines : text, settings_.form, storage));
  };
  if (settings_.form == SummaryForm::files2rouge) {
    const bool empty =
        is_blank_text(item.candidate) ||
        std::ranges::any_of(item.references, [](const std::string& t) { return is_blank_text(t); });
    if (empty) {
      return invalid_argument(
          "files2rouge stops at an empty text; rouge-1.5.5:sentences=see does not");
    }
  }
  const Summary candidate = encode(item.candidate);
  std::vector<Summary> references;
  for (const std::string& text : item.references) references.push_back(encode(text));

  const std::vector<Variant>& variants = scorer.variants();
  const size_t count = references.size();
  const size_t parts = settings_.jackknife && count > 1 ? count : 1;
  Statistics row(3 * variants.size(), 0);
  for (size_t part = 0; part < parts; ++part) {
    std::span<const Summary> chosen = references;
    if (parts > 1) {
      // The reference left out goes to the end: sums do not care, and the others keep their order.
      std::rotate(references.begin(), references.begin() + 1, references.end());
      chosen = chosen.first(count - 1);
    }
    Result<std::vector<Counts>> counts = scorer.counts(candidate, chosen);
    if (!counts) return counts.error();
    for (size_t v = 0; v < variants.size(); ++v) {
      add(row, v, scorer.triple(variants[v], (*counts)[v]), 1.0 / static_cast<double>(parts));
    }
  }
  return row;
}

Result<std::vector<Statistics>> RougeMetric155::measure(std::span<const ScoreItem> items) const {
  Scorer scorer(settings_.scoring, settings_.lexicon);
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    Result<Statistics> row = measure_one(scorer, item);
    if (!row) {
      Error error = row.error();
      error.where = "item " + std::to_string(item.id);
      return error;
    }
    rows.push_back(*std::move(row));
  }
  return rows;
}

std::vector<Score> RougeMetric155::aggregate(std::span<const Statistics> items) const {
  if (settings_.samples == 0 || items.empty()) return Metric::aggregate(items);
  const std::vector<std::string> names = columns();
  if (names.empty()) return {};
  std::vector<double> values;
  values.reserve(items.size() * names.size());
  for (size_t item : instance_order(items.size(), settings_.form)) {
    values.insert(values.end(), items[item].begin(), items[item].end());
  }
  const std::vector<Estimate> estimates =
      resample_means(values, names.size(), {.samples = settings_.samples});
  std::vector<Score> scores;
  for (size_t c = 0; c < names.size(); ++c) {
    scores.push_back({names[c], round_to_five_digits(estimates[c].average)});
  }
  return scores;
}

}  // namespace qfs::metrics::rouge155
