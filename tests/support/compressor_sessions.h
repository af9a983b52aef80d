// Sessions of the methods that compress, on a tiny LLaMA whose tokens are bytes: a request with
// short windows, trainings of a few steps, and what rows say of themselves.
//
// Base of fixtures, as trained_session.h.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "methods/compressors/sessions.h"
#include "methods/compressors/specs.h"
#include "tests/support/trained_session.h"

namespace qfs::test {

inline constexpr const char* kCompressorPrompt = "Q: {query}\nD: {document}\nA:";
inline constexpr const char* kChat =
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

inline std::unique_ptr<MethodSpec> compressor_spec(const std::string& name) {
  if (name == "autocompressor") return std::make_unique<compressors::AutocompressorSpec>();
  if (name == "icae") return std::make_unique<compressors::IcaeSpec>();
  if (name == "llmlingua") return std::make_unique<compressors::LlmlinguaSpec>();
  if (name == "few_shot") return std::make_unique<compressors::FewShotSpec>();
  return std::make_unique<compressors::SelfcpSpec>();
}

inline SessionFactory compressor_factory(const std::string& name) {
  for (SessionFactory& factory : compressors::session_factories()) {
    if (factory.method == name) return factory;
  }
  return {};
}

class CompressorSessionsTest : public TrainedSessionTest {
 protected:
  CompressorSessionsTest()
      : TrainedSessionTest(compressors::SelfcpSpec(), compressor_factory("selfcp")) {
    use_llama({.layers = 2}, kCompressorPrompt);
    request_.params.set("train_tokens", int64_t{160});
    request_.params.set("train_window", int64_t{24});
    request_.params.set("ratio_max", int64_t{6});
    request_.params.set("connector_init", std::string("scaled"));
    request_.params.set("local_context", int64_t{24});
    request_.params.set("ratio", 4.0);
    request_.params.set("train_batch", int64_t{2});
  }

  void use_method(const std::string& name, bool anew = true) {
    use(*compressor_spec(name), compressor_factory(name));
    request_.params.set("prompt", std::string(kCompressorPrompt));
    request_.params.set("local_context", int64_t{24});
    request_.params.set("train_batch", int64_t{2});
    request_.params.set("train_tokens", int64_t{160});
    request_.params.set("train_window", int64_t{24});
    request_.params.set("demonstration_tokens", int64_t{24});
    for (const char* rows : {"summary_length", "mem_size"}) {
      request_.params.set(rows, int64_t{6});
    }
    if (name != "few_shot") request_.params.set("ratio", 4.0);
    if (anew) request_.artifacts.clear();
  }

  void write_with(const std::string& name) {
    request_.artifacts["adapter"] = {"", folder_ / (name + "/adapter.safetensors"), ""};
  }
  std::string trained_bytes(const std::string& name) {
    return *read_file(folder_ / (name + "/adapter.safetensors"));
  }
  /// A training of a few steps, with which outputs are then written.
  TrainingOutcome trained(const std::string& name, int64_t steps) {
    request_.artifacts.clear();
    request_.params.set("steps", steps);
    Curve curve;
    auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    write_with(name);
    return outcome.ok() ? *outcome : TrainingOutcome{};
  }
  std::string opened() {
    ResourceCache cache;
    const auto session = sessions_.open(request_, cache);
    return session.ok() ? "opened" : session.error().to_string();
  }
  RecordingSink run(const std::vector<NumberedExample>& unit) {
    RecordingSink sink;
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    if (session.ok()) {
      const Status status = (*session)->run(unit, sink);
      EXPECT_TRUE(status.ok()) << status.error().to_string();
    }
    return sink;
  }
  nlohmann::json compression(int64_t ordinal) {
    const auto sink = run({example(ordinal)});
    return nlohmann::json::parse(sink.predictions.at(ordinal).extra.text).at("compression");
  }
};

}  // namespace qfs::test
