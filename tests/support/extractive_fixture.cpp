#include "tests/support/extractive_fixture.h"

#include <gtest/gtest.h>

#include <map>

#include "methods/extractive/sessions.h"
#include "methods/extractive/specs.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::test {
namespace {

class Collector final : public PredictionSink {
 public:
  void emit(int64_t ordinal, Prediction prediction) override {
    predictions[ordinal] = std::move(prediction);
  }
  void phase(const Phase&) override {}

  std::map<int64_t, Prediction> predictions;
};

}  // namespace

Params resolved_params(const ExtractiveRun& run) {
  Params params;
  for (const auto& spec : extractive::extractive_specs()) {
    if (spec->name() != run.method) continue;
    for (const ParamSpec& param : spec->params()) {
      if (param.default_value) params.set(param.name, *param.default_value);
    }
  }
  for (const auto& [name, value] : run.params) params.set(name, value);
  return params;
}

Result<std::vector<Prediction>> summarize_all(const ExtractiveRun& run,
                                              const std::vector<Example>& examples) {
  SessionRequest request;
  request.params = resolved_params(run);
  request.seed = run.seed;
  request.tokenizer = tokenizers::builtin_tokenizer(run.tokenizer);
  ResourceCache cache;
  for (const SessionFactory& factory : extractive::extractive_sessions()) {
    if (factory.method != run.method) continue;
    auto session = factory.open(request, cache);
    if (!session.ok()) return session.error();
    Collector sink;
    for (size_t i = 0; i < examples.size(); ++i) {
      const NumberedExample numbered{static_cast<int64_t>(i), examples[i]};
      if (Status status = (*session)->run({&numbered, 1}, sink); !status.ok()) {
        return status.error();
      }
    }
    std::vector<Prediction> predictions;
    for (auto& [ordinal, prediction] : sink.predictions) {
      predictions.push_back(std::move(prediction));
    }
    return predictions;
  }
  return not_found("no session factory for '" + run.method + "'");
}

Prediction summarize(const ExtractiveRun& run, const Example& example) {
  Result<std::vector<Prediction>> predictions = summarize_all(run, {example});
  if (!predictions.ok() || predictions->size() != 1) {
    ADD_FAILURE() << (predictions.ok() ? "no prediction" : predictions.error().to_string());
    return {};
  }
  return predictions->front();
}

Example make_example(std::vector<std::string> segments, std::string query,
                     std::vector<std::string> references) {
  Example example;
  example.key = "example-1";
  for (const std::string& segment : segments) {
    const size_t colon = segment.find(": ");
    if (colon == std::string::npos) {
      example.document.push_back({segment, ""});
    } else {
      example.document.push_back({segment.substr(colon + 2), segment.substr(0, colon)});
    }
  }
  example.query = std::move(query);
  example.references = std::move(references);
  return example;
}

}  // namespace qfs::test
