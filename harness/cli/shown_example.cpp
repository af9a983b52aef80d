#include "harness/cli/shown_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/output.h"
#include "harness/core/log.h"
#include "harness/core/postprocess.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr const char* kCutBegin = "⟦";
constexpr const char* kCutEnd = "⟧";

/// The segment's text with everything that the method could not read between brackets.
std::string marked_segment(const std::string& text, int64_t segment, const Truncation& truncation) {
  std::string marked;
  size_t at = 0;
  const auto cut = [&](size_t end) {
    if (end > at) marked += kCutBegin + terminal_safe(text.substr(at, end - at)) + kCutEnd;
  };
  for (const ByteSpan& span : truncation.kept) {
    if (span.segment != segment) continue;
    const size_t begin =
        std::clamp(static_cast<size_t>(std::max<int64_t>(span.begin, 0)), at, text.size());
    const size_t end =
        std::clamp(static_cast<size_t>(std::max<int64_t>(span.end, 0)), begin, text.size());
    cut(begin);
    marked += terminal_safe(text.substr(begin, end - begin));
    at = end;
  }
  cut(text.size());
  return marked;
}

std::string document_text(const Example& example, const std::optional<Truncation>& truncation) {
  std::string text;
  for (size_t i = 0; i < example.document.size(); ++i) {
    const std::string segment = rendered(example.document[i]);
    text += truncation ? marked_segment(segment, static_cast<int64_t>(i), *truncation)
                       : terminal_safe(segment);
    text += "\n";
  }
  return text;
}

std::string section(const std::string& title, const std::string& body) {
  return "\n--- " + title + "\n" + body + (body.ends_with('\n') ? "" : "\n");
}

std::optional<Truncation> truncation_of(const ShownExample& shown) {
  return shown.output ? shown.output->prediction.truncation : std::nullopt;
}

/// "document: 120 of 400 tokens kept".
std::string document_title(const ShownExample& shown) {
  const std::optional<Truncation> truncation = truncation_of(shown);
  if (!truncation) return "document";
  return fmt::format("document: {} of {} tokens kept", truncation->kept_tokens,
                     truncation->document_tokens);
}

std::string document_section(const ShownExample& shown) {
  if (!shown.texts || shown.texts->document.empty()) {
    return section("document", "not kept in the store");
  }
  const std::optional<Truncation> truncation = truncation_of(shown);
  std::string title = document_title(shown);
  if (truncation && truncation->kept_tokens < truncation->document_tokens) {
    title += fmt::format("; {}what was cut{}", kCutBegin, kCutEnd);
  }
  return section(title, document_text(*shown.texts, truncation));
}

std::string prediction_section(const ShownExample& shown) {
  if (!shown.output) return section("prediction", "not computed");
  const Prediction& prediction = shown.output->prediction;
  std::string title = fmt::format("prediction ({}", to_string(prediction.finish));
  if (prediction.tokens_out > 0) title += fmt::format(", {} tokens", prediction.tokens_out);
  if (prediction.repaired_bytes > 0) {
    title += fmt::format(", {} ill-formed bytes replaced", prediction.repaired_bytes);
  }
  return section(title + ")", terminal_safe(prediction.text));
}

/// What the chain of a score made of this example: the prediction as the store has it, references
/// by the chain itself, of which each is a pure function.
Result<ProcessedTexts> processed_texts(store::Reader& reader, const store::ScoreJobRow& job,
                                       const store::StatisticRow& statistic,
                                       const std::optional<Example>& texts) {
  ProcessedTexts processed{job.postprocess.text, {}, {}};
  if (!statistic.processed_sha256.empty()) {
    auto text = reader.text(statistic.processed_sha256);
    if (!text) return text.error();
    processed.prediction = *std::move(text);
  }
  const Result<Postprocess> chain = Postprocess::of_chain(job.postprocess);
  // A chain with a step that this version does not have: its references cannot be made again.
  if (!chain || !texts) return processed;
  for (size_t i = 0; i < texts->references.size(); ++i) {
    Result<std::string> text = chain->reference(texts->references[i]);
    if (!text) return text.error();
    if (*text != texts->references[i]) processed.references[i] = *std::move(text);
  }
  return processed;
}

std::string processed_section(const ProcessedTexts& processed) {
  const std::string by = " as scored after " + terminal_safe(processed.chain);
  std::string text;
  if (processed.prediction) {
    text += section("prediction" + by, terminal_safe(*processed.prediction));
  }
  for (const auto& [number, reference] : processed.references) {
    text += section(fmt::format("reference {}{}", number + 1, by), terminal_safe(reference));
  }
  return text;
}

}  // namespace

std::string cell_title(const reports::PlaceFacts& place) {
  std::string title = place.dimensions.at("method");
  for (const auto& [name, value] : place.dimensions) {
    if (name != "method" && name != "cell") title += " " + name + "=" + value;
  }
  return title;
}

Result<ShownExample> load_example(store::Reader& reader, const reports::PlaceFacts& place,
                                  int64_t ordinal) {
  ShownExample shown;
  shown.place = &place;
  Result<std::vector<store::ExampleRow>> rows = reader.examples(place.cell.dataset);
  if (!rows) return rows.error();
  const auto row = std::ranges::find(*rows, ordinal, &store::ExampleRow::ordinal);
  if (row == rows->end()) return not_found("the store has no example " + std::to_string(ordinal));
  shown.row = *row;
  Result<Example> example = reader.example(place.cell.dataset, ordinal);
  if (example) {
    shown.texts = *std::move(example);
  } else if (example.error().kind != ErrorKind::unavailable) {
    return example.error();
  }
  if (!place.predict) return shown;
  Result<std::vector<store::OutputRow>> outputs = reader.outputs(place.predict->id, true);
  if (!outputs) return outputs.error();
  const auto output = std::ranges::find(*outputs, ordinal, &store::OutputRow::ordinal);
  if (output != outputs->end()) shown.output = *output;
  for (const store::ScoreJobRow& job : place.scores) {
    Result<std::vector<store::StatisticRow>> statistics = reader.statistics(job.id);
    if (!statistics) return statistics.error();
    const auto own = std::ranges::find(*statistics, ordinal, &store::StatisticRow::ordinal);
    if (own == statistics->end()) continue;
    const bool told = std::ranges::any_of(
        shown.processed, [&](const auto& other) { return other.chain == job.postprocess.text; });
    if (!told && job.postprocess.text != "[]") {
      auto processed = processed_texts(reader, job, *own, shown.texts);
      if (!processed) return processed.error();
      if (processed->prediction || !processed->references.empty()) {
        shown.processed.push_back(*std::move(processed));
      }
    }
    ExampleScores& scores = shown.scores.emplace_back();
    scores.signature = job.signature;
    for (size_t i = 0; i < job.columns.size(); ++i) {
      scores.columns.emplace_back(job.columns[i], own->values[i]);
    }
  }
  return shown;
}

std::string example_text(const ShownExample& shown, bool document) {
  std::string text = terminal_safe(fmt::format(
      "cell {}  {}\nexample {} ({}), document {}\n", shown.place->cell.id.short_hex(),
      cell_title(*shown.place), shown.row.ordinal, shown.row.key, shown.row.document_id));
  text += document ? document_section(shown) : document_title(shown) + " (--document shows it)\n";
  if (shown.texts && !shown.texts->query.empty()) {
    text += section("query", terminal_safe(shown.texts->query));
  }
  if (document && shown.output && !shown.output->prediction.prompt.empty()) {
    text += section("prompt", terminal_safe(shown.output->prediction.prompt));
  }
  text += prediction_section(shown);
  if (shown.texts) {
    for (size_t i = 0; i < shown.texts->references.size(); ++i) {
      text +=
          section(fmt::format("reference {}", i + 1), terminal_safe(shown.texts->references[i]));
    }
  }
  for (const ProcessedTexts& processed : shown.processed) text += processed_section(processed);
  for (const ExampleScores& scores : shown.scores) {
    std::string body;
    for (const auto& [name, value] : scores.columns) {
      body += fmt::format("{:<14} {:.4f}\n", terminal_safe(name), value);
    }
    text += section("scores: " + terminal_safe(scores.signature), body);
  }
  return text;
}

std::string example_json(const ShownExample& shown) {
  json object = {{"cell_id", shown.place->cell.id.hex()},
                 {"dimensions", shown.place->dimensions},
                 {"ordinal", shown.row.ordinal},
                 {"key", shown.row.key},
                 {"document_id", shown.row.document_id}};
  object["dimensions"].erase("cell");
  if (shown.texts) {
    json segments = json::array();
    for (const Segment& segment : shown.texts->document) segments.push_back(rendered(segment));
    object["document"] = std::move(segments);
    object["query"] = shown.texts->query;
    object["references"] = shown.texts->references;
  }
  if (shown.output) {
    const Prediction& prediction = shown.output->prediction;
    object["prediction"] = {{"text", prediction.text},
                            {"finish", to_string(prediction.finish)},
                            {"tokens_in", prediction.tokens_in},
                            {"tokens_out", prediction.tokens_out}};
    if (!prediction.prompt.empty()) object["prompt"] = prediction.prompt;
    if (prediction.truncation) {
      json kept = json::array();
      for (const ByteSpan& span : prediction.truncation->kept) {
        kept.push_back({{"segment", span.segment}, {"begin", span.begin}, {"end", span.end}});
      }
      object["truncation"] = {{"document_tokens", prediction.truncation->document_tokens},
                              {"kept_tokens", prediction.truncation->kept_tokens},
                              {"kept", std::move(kept)}};
    }
  }
  json processed = json::array();
  for (const ProcessedTexts& texts : shown.processed) {
    json& entry = processed.emplace_back(json{{"chain", json::parse(texts.chain)}});
    if (texts.prediction) entry["prediction"] = *texts.prediction;
    for (const auto& [number, text] : texts.references) {
      entry["references"][std::to_string(number)] = text;
    }
  }
  if (!processed.empty()) object["processed"] = std::move(processed);
  json scores = json::array();
  for (const ExampleScores& job : shown.scores) {
    json values = json::object();
    for (const auto& [name, value] : job.columns) values[name] = value;
    scores.push_back({{"signature", job.signature}, {"values", std::move(values)}});
  }
  object["scores"] = std::move(scores);
  return json_document("show", object);
}

}  // namespace qfs::cli
