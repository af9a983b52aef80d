#include "harness/cli/dataset_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "datasets/statistics.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

std::string title(const Dataset& dataset) {
  const DatasetManifest& manifest = dataset.manifest;
  return fmt::format("{} {}/{}/{}  {}  reader {}, licence {}\n", manifest.name, manifest.split,
                     manifest.view, manifest.text_form, dataset.id.short_hex(), manifest.reader,
                     manifest.licence.empty() ? "not stated" : manifest.licence);
}

json manifest_json(const Dataset& dataset) {
  const DatasetManifest& manifest = dataset.manifest;
  json files = json::array();
  for (const SourceFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  }
  return {{"dataset_id", dataset.id.hex()},
          {"name", manifest.name},
          {"reader", manifest.reader},
          {"split", manifest.split},
          {"view", manifest.view},
          {"text_form", manifest.text_form},
          {"licence", manifest.licence},
          {"source", manifest.source},
          {"no_redistribution", manifest.no_redistribution},
          {"examples", dataset.examples.size()},
          {"files", std::move(files)}};
}

json spread_json(const datasets::Spread& spread) {
  return {{"minimum", spread.minimum},
          {"mean", spread.mean},
          {"median", spread.median},
          {"maximum", spread.maximum}};
}

std::vector<std::string> spread_row(const std::string& name, const datasets::Spread& spread) {
  return {name, std::to_string(spread.minimum), fmt::format("{:.1f}", spread.mean),
          std::to_string(spread.median), std::to_string(spread.maximum)};
}

}  // namespace

std::string dataset_text(const Dataset& dataset, int64_t example) {
  const Example& shown = dataset.examples[static_cast<size_t>(example)];
  std::string text = title(dataset);
  for (const SourceFile& file : dataset.manifest.files) {
    text += fmt::format("  {}  {} bytes  {}\n", file.sha256.substr(0, 12), file.bytes, file.name);
  }
  text += fmt::format("\nexample {} of {}: {}, document {}, language {}\n", example,
                      dataset.examples.size(), shown.key, shown.document_id, shown.language);
  for (size_t i = 0; i < shown.document.size(); ++i) {
    text += fmt::format("{:4}  {}\n", i, rendered(shown.document[i]));
  }
  if (!shown.query.empty()) text += "\nquery: " + shown.query + "\n";
  for (const std::string& reference : shown.references) text += "\nreference: " + reference + "\n";
  for (const SegmentSpan& span : shown.evidence) {
    text += fmt::format("evidence: segments {} to {}\n", span.first, span.last);
  }
  return terminal_safe(text);
}

std::string dataset_json(const Dataset& dataset, int64_t example) {
  const Example& shown = dataset.examples[static_cast<size_t>(example)];
  json segments = json::array();
  for (const Segment& segment : shown.document) {
    segments.push_back({{"speaker", segment.speaker}, {"text", segment.text}});
  }
  json evidence = json::array();
  for (const SegmentSpan& span : shown.evidence) evidence.push_back({span.first, span.last});
  json body = {{"dataset", manifest_json(dataset)},
               {"example",
                {{"ordinal", example},
                 {"key", shown.key},
                 {"document_id", shown.document_id},
                 {"group", shown.group},
                 {"language", shown.language},
                 {"document", std::move(segments)},
                 {"query", shown.query},
                 {"references", shown.references},
                 {"evidence", std::move(evidence)}}}};
  return json_document("data-show", body);
}

std::string check_text(const Dataset& dataset, const datasets::CheckReport& report) {
  std::string text = terminal_safe(title(dataset));
  text += fmt::format("{}, {}, {}, {} with evidence\n\n", counted(report.examples, "example"),
                      counted(report.documents, "document"), counted(report.groups, "question"),
                      report.with_evidence);
  text += aligned({{"", "least", "mean", "median", "most"},
                   spread_row("segments per document", report.segments_per_document),
                   spread_row("words per document", report.words_per_document),
                   spread_row("words per query", report.words_per_query),
                   spread_row("words per reference", report.words_per_reference),
                   spread_row("references per example", report.references_per_example)});
  for (const datasets::CheckFinding& finding : report.findings) {
    text += terminal_safe(fmt::format("\nproblem: {} ({} times), e.g. {}", finding.what,
                                      finding.count, fmt::join(finding.keys, ", ")));
  }
  return text + (report.ok() ? "\nno problems found\n" : "\n");
}

std::string check_json(const Dataset& dataset, const datasets::CheckReport& report) {
  json findings = json::array();
  for (const datasets::CheckFinding& finding : report.findings) {
    findings.push_back({{"what", finding.what}, {"count", finding.count}, {"keys", finding.keys}});
  }
  json body = {{"dataset", manifest_json(dataset)},
               {"documents", report.documents},
               {"groups", report.groups},
               {"with_evidence", report.with_evidence},
               {"segments_per_document", spread_json(report.segments_per_document)},
               {"words_per_document", spread_json(report.words_per_document)},
               {"words_per_query", spread_json(report.words_per_query)},
               {"words_per_reference", spread_json(report.words_per_reference)},
               {"references_per_example", spread_json(report.references_per_example)},
               {"findings", std::move(findings)}};
  return json_document("data-check", body);
}

Result<std::string> statistics_text(const std::vector<std::shared_ptr<const Dataset>>& splits) {
  std::string text;
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const auto& split : splits) {
    text += terminal_safe(title(*split));
    rows.front().push_back(split->manifest.split);
  }
  for (const datasets::StatisticInfo& info : datasets::statistics()) {
    std::vector<std::string>& row = rows.emplace_back();
    row.emplace_back(info.name);
    for (const auto& split : splits) {
      const Result<double> value = datasets::statistic(info.name, std::span(&split, 1));
      if (!value) return value.error();
      row.push_back(fmt::format("{:.{}f}", *value, *value == std::round(*value) ? 0 : 2));
    }
  }
  return text + "\n" + aligned(rows);
}

Result<std::string> statistics_json(const std::vector<std::shared_ptr<const Dataset>>& splits) {
  json list = json::array();
  for (const auto& split : splits) {
    json values = json::object();
    for (const datasets::StatisticInfo& info : datasets::statistics()) {
      const Result<double> value = datasets::statistic(info.name, std::span(&split, 1));
      if (!value) return value.error();
      values[std::string(info.name)] = *value;
    }
    list.push_back({{"dataset", manifest_json(*split)}, {"statistics", std::move(values)}});
  }
  return json_document("data-stats", {{"splits", std::move(list)}});
}

}  // namespace qfs::cli
