// Rows for the tests of store and score: a small data set, a cell over it, an environment, outputs.
// Every helper is a pure function of its arguments. Fails the test (throws) where the store does.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "harness/core/identity.h"
#include "harness/core/sha256.h"
#include "harness/store/store.h"

namespace qfs::test {

/// The value of a result that the test takes for granted.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return *std::move(result);
}

inline void check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().to_string());
}

/// Two examples a document, one reference each.
inline Dataset sample_dataset(int64_t examples, const std::string& name = "sample") {
  Dataset dataset;
  dataset.manifest.name = name;
  dataset.manifest.reader = "sample@1";
  dataset.manifest.split = "test";
  dataset.manifest.view = "whole";
  dataset.manifest.text_form = "raw@1";
  dataset.manifest.files = {{"test.jsonl", sha256_hex(name), 17}};
  for (int64_t i = 0; i < examples; ++i) {
    const std::string number = std::to_string(i);
    const std::string document = std::to_string(i / 2);
    Example& example = dataset.examples.emplace_back();
    example.key = "example-" + number;
    example.document_id = "document-" + document;
    example.group = "question-" + number;
    example.language = "en";
    example.document = {{"We met about item " + document + ".", "Ann"}, {"Nothing else.", ""}};
    example.query = "What was said about item " + number + "?";
    example.references = {"They talked about item " + number + "."};
    example.evidence = {{0, 1}};
    example.extra = Json{R"({"topic":"items"})"};
    dataset.example_hashes.push_back(sha256_hex(name + number));
  }
  dataset.id = make_dataset_id(Json{"{\"name\":\"" + name + "\"}"});
  return dataset;
}

inline store::CellRow sample_cell(const Dataset& dataset, const std::string& method = "lead",
                                  int64_t examples = -1) {
  store::CellRow cell;
  cell.identity = Json{R"({"method":")" + method + "\"}"};
  cell.id = make_cell_id(cell.identity);
  cell.method = method;
  cell.params = Json{R"({"max_words":100})"};
  cell.dataset = dataset.id;
  cell.seed = 18446744073709551615U;  // the largest seed must survive
  const auto all = static_cast<int64_t>(dataset.examples.size());
  for (int64_t i = 0; i < (examples < 0 ? all : examples); ++i) cell.ordinals.push_back(i);
  return cell;
}

/// Trains on all examples of a data set.
inline store::CellRow sample_training_cell(const Dataset& train, const Dataset& development) {
  store::CellRow cell = sample_cell(train, "adapter");
  cell.training = true;
  cell.development = development.id;
  return cell;
}

inline store::EnvironmentRow sample_environment(const std::string& device = "cpu") {
  store::EnvironmentRow environment;
  environment.numerics = Json{R"({"device":")" + device + "\"}"};
  environment.numerics_id = make_numerics_id(environment.numerics);
  environment.host = Json{R"({"cores":2})"};
  environment.build = Json{R"({"version":"0.1.0"})"};
  return environment;
}

inline store::OutputRow sample_output(int64_t ordinal, const std::string& word = "item") {
  store::OutputRow output;
  output.ordinal = ordinal;
  output.prediction.text = "They talked about " + word + " " + std::to_string(ordinal) + ".";
  output.prediction.finish = FinishReason::length;
  output.prediction.tokens_in = 12;
  output.prediction.tokens_out = 5;
  output.prediction.truncation = Truncation{20, 10, 3, {{0, 0, 7}, {1, 2, 5}}, true};
  output.prediction.prompt = "Summarize: " + std::to_string(ordinal);
  output.prediction.extra = Json{R"({"segments":[0]})"};
  return output;
}

inline std::vector<store::OutputRow> sample_outputs(int64_t first, int64_t last) {
  std::vector<store::OutputRow> outputs;
  for (int64_t i = first; i <= last; ++i) outputs.push_back(sample_output(i));
  return outputs;
}

/// A predict result that is ready to take outputs.
struct OpenResult {
  store::ResultId result;
  store::AttemptId attempt;
  store::EnvironmentId environment;
};

inline OpenResult open_result(store::Store& store, const store::CellRow& cell,
                              store::ResultKind kind = store::ResultKind::predict,
                              const store::Expected& expected = {}) {
  const store::EnvironmentRow environment = sample_environment();
  OpenResult open;
  open.environment = value_of(store.put_environment(environment));
  open.result = value_of(store.ensure_result({cell.id, environment.numerics_id, kind}, expected));
  open.attempt = value_of(store.begin_attempt(
      {.result = open.result, .environment = open.environment, .worker = "driver"}));
  return open;
}

/// Puts the data set and the cell, then opens its predict result.
inline OpenResult open_sample(store::Store& store, const Dataset& dataset,
                              const store::CellRow& cell) {
  check(store.put_dataset(dataset));
  check(store.put_cell(cell));
  return open_result(store, cell);
}

}  // namespace qfs::test
