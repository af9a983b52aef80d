// What of IDEAL's release differs from its paper: how segments are read with the preset
// as_released, and trained biases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "methods/ideal/session_train.h"
#include "methods/ideal/sessions.h"
#include "methods/ideal/specs.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/peft/trained_biases.h"
#include "tests/support/trained_session.h"

namespace qfs::ideal {
namespace {

using ::qfs::test::Curve;
using ::testing::HasSubstr;

class IdealReleaseTest : public qfs::test::TrainedSessionTest {
 protected:
  IdealReleaseTest() : TrainedSessionTest(IdealSpec(), session_factories().back()) {
    use_llama({.layers = 4}, "Q: {query}\nD: {document}\nA:");
    request_.params.set("train_batch", int64_t{2});
    request_.params.set("steps", int64_t{4});
  }
  /// Segments of 24 tokens, read as the paper has it.
  void use_memory() {
    request_.params.set("memory", std::string("infini"));
    request_.params.set("local_context", int64_t{24});
    request_.params.set("train_segment", int64_t{24});
    request_.params.set("hyper_precision", std::string("fp32"));  // half precision is dead
    request_.params.set("memory_rule", std::string("delta"));
    request_.params.set("gamma_bias", true);
    request_.params.set("segment_loss", std::string("sum"));
  }
  void use_preset(const std::string& name) { request_.params.set("preset", name); }

  TrainingOutcome trained(const std::string& name) {
    Curve curve;
    auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    request_.artifacts["adapter"] = {"", path(name), ""};
    return outcome.ok() ? *std::move(outcome) : TrainingOutcome();
  }
  std::string path(const std::string& name) { return folder_ / (name + "/adapter.safetensors"); }
};

TEST_F(IdealReleaseTest, SequencesAreFilledUpToWholeSegments) {
  use_memory();
  request_.params.set("train_batch", int64_t{10});  // all examples in a step
  request_.params.set("steps", int64_t{1});
  const int64_t written = trained("written").cost.tokens;
  request_.artifacts.clear();
  use_preset("as_released");
  const int64_t released = trained("released").cost.tokens;
  EXPECT_GT(released, written);
  EXPECT_EQ(released % 24, 0);
  EXPECT_LT(released, written + 10 * 24);
  // No further than a sequence may have tokens: 96 are four segments, 60 two and a half.
  request_.artifacts.clear();
  request_.params.set("train_tokens", int64_t{60});
  EXPECT_EQ(trained("short").cost.tokens, 10 * 60);
  // Nor than the backbone's window has.
  request_.artifacts.clear();
  request_.params.set("train_tokens", int64_t{96});
  use_llama({.layers = 4, .context = 60}, "Q: {query}\nD: {document}\nA:");
  EXPECT_EQ(trained("window").cost.tokens, 10 * 60);
}

TEST_F(IdealReleaseTest, EachSegmentHasDrawsOfItsOwn) {
  use_memory();
  ResourceCache cache;
  const auto prompts = prompted::open_prompts(request_, cache);
  ASSERT_TRUE(prompts.ok());
  const auto decoder = *prompts->backbone->network->decoder({}, "x", cache);
  training::LabelledSequence sequence{prompts->maker.prepare(example(5).example, 8)->input, {}};
  sequence.labels.assign(sequence.input.ids.size(), nn::kNoLabel);
  sequence.labels.back() = 1;
  // The norms of what was generated for the row, and for each of two segments behind the first.
  const auto norms = [&](std::optional<uint64_t> draw) {
    const auto adapter = *make_layers({request_, *prompts, decoder}, "ideal");
    const training::GraphRow row{sequence, draw, 0};
    EXPECT_TRUE(adapter->adapters({&row, 1}).ok());
    std::vector<double> all = {adapter->observed()["generated.q_l1"]};
    const auto later = adapter->later_adapters(row, 2);
    EXPECT_TRUE(later.ok());
    if (!later->empty()) {
      EXPECT_EQ(later->size(), 2U);
      all.push_back(adapter->observed()["generated.q_l1"]);
    }
    return all;
  };
  EXPECT_EQ(norms(7).size(), 1U);
  use_preset("as_released");
  const std::vector<double> drawn = norms(7);
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_GT(drawn[1], 0);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(norms(7), drawn);
  EXPECT_EQ(norms({}).size(), 1U) << "a development loss draws nothing";
}

TEST_F(IdealReleaseTest, PromptsOfABatchAreReadAsFarAsTheShortest) {
  use_memory();
  trained("a");
  const NumberedExample little = example(0);
  const NumberedExample much = example(9);
  const auto work = [&](const std::vector<NumberedExample>& unit) {
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    qfs::test::RecordingSink sink;
    EXPECT_TRUE((*session)->run(unit, sink).ok());
    return sink.work.at("prefill").flops;
  };
  EXPECT_EQ(work({little, much}), work({little}) + work({much}));
  const std::vector<std::string> written = outputs({little, much});
  EXPECT_EQ(outputs({much}).front(), written[1]);

  use_preset("as_released");
  EXPECT_EQ(work({little, much}), work({little}) + work({much})) << "not asked for";
  request_.params.set("read_together", int64_t{2});
  EXPECT_EQ(outputs({much}).front(), written[1]) << "alone it is read in its own segments";
  EXPECT_EQ(outputs({little, much}).front(), written[0]);
  // Tokens behind the shortest see a whole window each.
  ResourceCache cache;
  const auto prompts = prompted::open_prompts(request_, cache);
  const auto tokens = [&](const NumberedExample& one) {
    return static_cast<int64_t>(prompts->maker.prepare(one.example, 8)->input.ids.size());
  };
  const int64_t head = 2 * prompts->backbone->network->work({}).head.elements();
  const int64_t shortest = tokens(little);
  const int64_t more = work({little, much}) - work({little}) - work({much});
  EXPECT_GT(more, 0);
  EXPECT_LT(more, (tokens(much) - shortest) * head) << "only the last token's logits are wanted";
}

TEST_F(IdealReleaseTest, InABatchThatIsReadTogetherShorterPromptsMayBeFollowedByMore) {
  use_memory();
  use_preset("as_released");
  trained("a");
  const NumberedExample little = example(0);
  const NumberedExample much = example(9);
  request_.params.set("max_new_tokens", int64_t{4});
  request_.runtime.ignore_eos = false;
  request_.params.set("total_tokens", int64_t{200});
  request_.params.set("reserved_tokens", int64_t{4});
  const auto lengths = [&] {
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    qfs::test::RecordingSink sink;
    EXPECT_TRUE((*session)->run(std::vector{little, much}, sink).ok());
    std::vector<std::pair<int64_t, int64_t>> all;
    for (const auto& [ordinal, one] : sink.predictions) {
      all.emplace_back(one.tokens_in, one.tokens_out);
    }
    return all;
  };
  const auto alone = lengths();
  EXPECT_LE(alone[0].second, 4);
  request_.params.set("read_together", int64_t{2});
  const auto together = lengths();
  const int64_t shorter = alone[1].first - alone[0].first;
  ASSERT_GT(shorter, 0);
  EXPECT_EQ(together[0].second, 4 + shorter);
  EXPECT_EQ(together[1], alone[1]);
}

TEST_F(IdealReleaseTest, ARequestBehindTheShortestPromptIsReadInSegments) {
  use_memory();
  request_.params.set("memory", std::string("qf_infini"));
  request_.params.set("local_context", int64_t{200});
  request_.params.set("train_segment", int64_t{200});
  use_preset("as_released");
  request_.params.set("train_tokens", int64_t{300});
  trained("a");
  request_.params.set("read_together", int64_t{2});
  NumberedExample little = example(0);
  little.example.document.resize(1);
  const NumberedExample asking = example(9, std::string(120, 'q'));
  EXPECT_EQ(outputs({little, asking}).size(), 2U);
}

TEST_F(IdealReleaseTest, NormsBeginAsTheCheckpointHasThemWhateverTrainingComputesIn) {
  request_.params.set("w_bias", true);
  request_.params.set("train_dtype", std::string("bfloat16"));
  request_.params.set("learning_rate", 0.0);
  trained("a");
  ResourceCache cache;
  const auto backbone = prompted::open_backbone(request_, cache);
  const auto decoder = *(*backbone)->network->decoder({}, "x", cache);
  const auto file = peft::read_layer_adapter(path("a"), decoder->shape().sequence.widths, {});
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  bool rounds = false;
  for (const auto& [name, own] : peft::first_biases(*decoder)) {
    EXPECT_TRUE(at::equal(file->biases.at(name), own)) << name;
    rounds = rounds || !at::equal(own.to(at::kBFloat16).to(at::kFloat), own);
  }
  EXPECT_TRUE(rounds) << "else rounding would not be seen";
}

TEST_F(IdealReleaseTest, BiasesAndNormsAreTrainedKeptAndWrittenWith) {
  request_.params.set("w_bias", true);
  request_.params.set("steps", int64_t{60});
  request_.params.set("recompute", true);
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_LT(curve.last("development.loss"), 0.75 * curve.first("loss"));
  const int64_t with = outcome->cost.trainable_parameters;
  request_.artifacts["adapter"] = {"", path("a"), ""};
  const std::string written = output();
  EXPECT_THAT(written, HasSubstr("abc"));

  ResourceCache cache;
  const auto backbone = prompted::open_backbone(request_, cache);
  const nn::LayerWidths& widths = (*backbone)->network->shape().widths;
  auto file = peft::read_layer_adapter(path("a"), widths, {});
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_EQ(file->biases.size(), peft::bias_shapes(widths).size());
  EXPECT_GT(file->biases.at("llama.layers.0.attention.wq.bias").abs().max().item<double>(), 0);
  file->biases.clear();
  request_.artifacts["adapter"] = {
      "",
      folder_.write("bare.safetensors",
                    peft::layer_adapter_bytes(*file, file->metadata, at::kFloat)),
      ""};
  EXPECT_NE(output(), written) << "they are read";

  // Another training goes on with them, and one that would drop them is refused.
  request_.artifacts["adapter"] = {"", path("a"), ""};
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{1});
  Curve again;
  ASSERT_TRUE(fit("again", again).ok());
  double kept = 1e9;  // that of the evaluation whose file it is
  for (const TrainingPoint& point : curve.points) {
    const auto loss = point.values.find("development.loss");
    if (loss != point.values.end()) kept = std::min(kept, loss->second);
  }
  EXPECT_NEAR(again.last("development.loss"), kept, 1e-4);
  request_.params.set("w_bias", false);
  EXPECT_THAT(refusal(), HasSubstr("trained biases and norms, which need 'w_bias'"));
  request_.artifacts.clear();
  Curve bare;
  EXPECT_EQ(fit("bare", bare)->cost.trainable_parameters,
            with - peft::count_elements(peft::bias_shapes(widths)));
}

}  // namespace
}  // namespace qfs::ideal
