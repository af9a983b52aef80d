// Sessions of dyle on tiny models: a LLaMA that writes, a BERT that extracts, meetings whose third
// turn is what their summary is about.
//
// Base of fixtures. Sets QFS_CACHE_DIR for the process.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "methods/dyle/session.h"
#include "methods/dyle/spec.h"
#include "tests/support/tiny_encoder.h"
#include "tests/support/trained_session.h"

namespace qfs::test {

inline const dyle::DyleSpec& dyle_spec() {
  static const dyle::DyleSpec spec;
  return spec;
}

class DyleSessionTest : public TrainedSessionTest {
 protected:
  DyleSessionTest() : TrainedSessionTest(dyle_spec(), dyle::session_factory()) {
    use_llama({.layers = 2}, "{snippet}/{query}:");
    request_.backbones[dyle::kExtractor] = TinyEncoder().write(encoder_);
    request_.tokenizer.reset();
    request_.params.set("k", int64_t{3});
    request_.params.set("snippet_tokens", int64_t{24});
    request_.params.set("chunk_tokens", int64_t{48});
    request_.params.set("train_batch", int64_t{2});
    request_.params.set("extractor_learning_rate", 0.02);
    data_.train.clear();
    data_.development.clear();
    for (int64_t i = 0; i < 6; ++i) data_.train.push_back(meeting(i));
    for (int64_t i = 20; i < 22; ++i) data_.development.push_back(meeting(i));
  }

  /// Its third turn is what its summary is about.
  static NumberedExample meeting(int64_t i) {
    NumberedExample numbered = example(i);
    Example& one = numbered.example;
    one.document = {{"we begin now then", "ann"},
                    {"is it late " + std::to_string(i), "bob"},
                    {"all of us buy a red hat", "ann"},
                    {"hm", "bob"},
                    {"good bye to you", "ann"}};
    one.references = {"us buy a red hat"};
    return numbered;
  }
  /// As where `prompt` is left out: of an encoder-decoder another is refused.
  static std::string default_prompt() {
    for (const ParamSpec& param : dyle_spec().params()) {
      if (param.name == "prompt") return std::get<std::string>(*param.default_value);
    }
    return "";
  }
  std::string trained_path(const std::string& name) {
    return folder_ / (name + "/dyle.safetensors");
  }
  void write_with(const std::string& name) {
    request_.artifacts["adapter"] = {"", trained_path(name), ""};
  }
  /// Trains with these steps and writes with it.
  Curve trained(const std::string& name, int64_t steps) {
    request_.artifacts.clear();
    request_.params.set("steps", steps);
    Curve curve;
    const auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    write_with(name);
    return curve;
  }
  Prediction predicted(const NumberedExample& one) {
    RecordingSink sink;
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    const Status status = (*session)->run({&one, 1}, sink);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    return sink.predictions.at(one.ordinal);
  }
  nlohmann::json extra_of(const NumberedExample& one) {
    return nlohmann::json::parse(predicted(one).extra.text);
  }
  /// Why writing is refused.
  std::string write_refusal(const NumberedExample& one) {
    RecordingSink sink;
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    if (!session.ok()) return session.error().message;
    const Status status = (*session)->run({&one, 1}, sink);
    return status.ok() ? "written" : status.error().message;
  }

  const TemporaryFolder encoder_;
};

}  // namespace qfs::test
