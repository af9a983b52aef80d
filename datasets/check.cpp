#include "datasets/check.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "datasets/python_list.h"
#include "harness/core/text/unicode.h"

namespace qfs::datasets {
namespace {

constexpr size_t kKeysShown = 5;

Spread spread_of(std::vector<int64_t> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::ranges::sort(values);
  spread.minimum = values.front();
  spread.median = values[(values.size() - 1) / 2];
  spread.maximum = values.back();
  spread.mean = static_cast<double>(std::accumulate(values.begin(), values.end(), int64_t{0})) /
                static_cast<double>(values.size());
  return spread;
}

/// Bytes of the code point that begins with `lead`, in well-formed UTF-8.
size_t code_point_length(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xC0) return 1;
  return byte < 0xE0 ? 2 : (byte < 0xF0 ? 3 : 4);
}

int64_t document_words(const Example& example) {
  int64_t words = 0;
  for (const Segment& segment : example.document) words += count_words(rendered(segment));
  return words;
}

bool is_blank(std::string_view text) { return count_words(text) == 0; }

bool has_empty_document(const Example& example) {
  return std::ranges::all_of(example.document,
                             [](const Segment& segment) { return is_blank(segment.text); });
}

bool has_empty_reference(const Example& example) {
  return std::ranges::any_of(example.references, is_blank);
}

/// As a cell of CSV that was read as TSV: in quotes, with doubled ones inside.
bool is_quoted(std::string_view text) {
  if (text.size() < 4 || text.front() != '"' || text.back() != '"') return false;
  const std::string_view inside = text.substr(1, text.size() - 2);
  size_t doubled = 0;
  for (size_t at = 0; (at = inside.find('"', at)) != std::string_view::npos; at += 2) {
    if (inside.substr(at, 2) != "\"\"") return false;
    ++doubled;
  }
  return doubled > 0;
}

bool has_quoted_text(const Example& example) {
  const bool document = example.document.size() == 1 && is_quoted(example.document.front().text);
  return document || is_quoted(example.query) || std::ranges::any_of(example.references, is_quoted);
}

/// One text where a list was meant; predictions have such lists read (python_list.h).
bool has_listed_references(const Example& example) {
  return std::ranges::any_of(example.references, [](const std::string& reference) {
    const auto list = parse_python_list(reference);
    return list && !list->empty();
  });
}

bool has_span_out_of_range(const Example& example) {
  auto segments = static_cast<int64_t>(example.document.size());
  return std::ranges::any_of(example.evidence, [segments](const SegmentSpan& span) {
    return span.first < 0 || span.last < span.first || span.last >= segments;
  });
}

/// Adds a finding with the examples that `is_bad`, when there are any.
void find_bad(const Dataset& dataset, std::string what, const std::function<bool(size_t)>& is_bad,
              CheckReport& report) {
  CheckFinding finding;
  finding.what = std::move(what);
  for (size_t i = 0; i < dataset.examples.size(); ++i) {
    if (!is_bad(i)) continue;
    ++finding.count;
    if (finding.keys.size() < kKeysShown) finding.keys.push_back(dataset.examples[i].key);
  }
  if (finding.count > 0) report.findings.push_back(std::move(finding));
}

void measure(const Dataset& dataset, CheckReport& report) {
  std::set<std::string_view> documents;
  std::set<std::string_view> groups;
  std::vector<int64_t> segments;
  std::vector<int64_t> words;
  std::vector<int64_t> query_words;
  std::vector<int64_t> reference_words;
  std::vector<int64_t> references;
  for (const Example& example : dataset.examples) {
    documents.insert(example.document_id);
    groups.insert(example.group);
    if (!example.evidence.empty()) ++report.with_evidence;
    segments.push_back(static_cast<int64_t>(example.document.size()));
    words.push_back(document_words(example));
    query_words.push_back(count_words(example.query));
    references.push_back(static_cast<int64_t>(example.references.size()));
    for (const std::string& reference : example.references) {
      reference_words.push_back(count_words(reference));
    }
  }
  report.examples = static_cast<int64_t>(dataset.examples.size());
  report.documents = static_cast<int64_t>(documents.size());
  report.groups = static_cast<int64_t>(groups.size());
  report.segments_per_document = spread_of(std::move(segments));
  report.words_per_document = spread_of(std::move(words));
  report.words_per_query = spread_of(std::move(query_words));
  report.words_per_reference = spread_of(std::move(reference_words));
  report.references_per_example = spread_of(std::move(references));
}

}  // namespace

int64_t count_words(std::string_view text) {
  int64_t words = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    size_t length = code_point_length(text[i]);
    bool blank = is_python_space(length == 1 ? static_cast<unsigned char>(text[i])
                                             : to_code_points(text.substr(i, length)).front());
    if (!blank && !inside) ++words;
    inside = !blank;
    i += length;
  }
  return words;
}

CheckReport check(const Dataset& dataset) {
  CheckReport report;
  measure(dataset, report);
  const std::vector<Example>& examples = dataset.examples;
  bool any_query =
      std::ranges::any_of(examples, [](const Example& e) { return !is_blank(e.query); });

  std::unordered_set<std::string_view> keys;
  std::unordered_set<std::string_view> hashes;
  find_bad(
      dataset, "duplicate key", [&](size_t i) { return !keys.insert(examples[i].key).second; },
      report);
  find_bad(
      dataset, "same document, query and references as an earlier example",
      [&](size_t i) {
        return i < dataset.example_hashes.size() &&
               !hashes.insert(dataset.example_hashes[i]).second;
      },
      report);
  find_bad(
      dataset, "a whole text in quotation marks with doubled ones inside: cells of CSV in a TSV?",
      [&](size_t i) { return has_quoted_text(examples[i]); }, report);
  find_bad(
      dataset, "empty document", [&](size_t i) { return has_empty_document(examples[i]); }, report);
  // A data set without any query is one for plain summarization.
  find_bad(
      dataset, "empty query", [&](size_t i) { return any_query && is_blank(examples[i].query); },
      report);
  find_bad(
      dataset, "no reference", [&](size_t i) { return examples[i].references.empty(); }, report);
  find_bad(
      dataset, "empty reference", [&](size_t i) { return has_empty_reference(examples[i]); },
      report);
  find_bad(
      dataset, "a reference that is a Python list written as text: several references in one?",
      [&](size_t i) { return has_listed_references(examples[i]); }, report);
  find_bad(
      dataset, "evidence outside the document",
      [&](size_t i) { return has_span_out_of_range(examples[i]); }, report);
  return report;
}

}  // namespace qfs::datasets
