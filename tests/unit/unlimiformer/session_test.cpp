// The sessions of unlimiformer on a tiny BART: sources beyond the encoder, what is said of them,
// and what is refused.
#include "methods/unlimiformer/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/models/prompted/prompted_session.h"
#include "methods/models/registry/registry.h"
#include "methods/unlimiformer/spec.h"
#include "tests/support/tiny_seq2seq.h"
#include "tests/support/trained_session.h"

namespace qfs::unlimiformer {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::RecordingSink;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const MethodSpec& the_spec() {
  static const UnlimiformerSpec spec;
  return spec;
}

class UnlimiformerSessionTest : public qfs::test::TrainedSessionTest {
 protected:
  UnlimiformerSessionTest() : TrainedSessionTest(the_spec(), session_factory()) {
    request_.backbone =
        *registry::resolve_backbone(qfs::test::TinySeq2Seq{.positions = 64}.write(model_));
    request_.params.set("max_new_tokens", int64_t{12});
    request_.params.set("train_tokens", int64_t{60});
    request_.params.set("steps", int64_t{3});
  }

  /// A document of so many bytes, which are the tiny model's tokens.
  static NumberedExample of_bytes(int64_t bytes) {
    NumberedExample numbered = example(3);
    std::string text;
    for (int64_t i = 0; i < bytes; ++i) text += static_cast<char>('a' + i * i % 23);
    numbered.example.document = {{text, ""}};
    return numbered;
  }
  std::string opening() {
    ResourceCache cache;
    const auto session = sessions_.open(request_, cache);
    return session.ok() ? "opened" : session.error().message;
  }

  qfs::test::TemporaryFolder model_;
};

TEST_F(UnlimiformerSessionTest, a_document_that_fits_is_written_of_as_by_the_backbone) {
  const NumberedExample one = of_bytes(30);
  RecordingSink sink;
  ResourceCache cache;
  auto model = prompted::open_prompted_model(request_, cache);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  prompted::PromptedSession plain(0, "unlimiformer", *std::move(model));
  ASSERT_TRUE(plain.run({&one, 1}, sink).ok());
  EXPECT_FALSE(sink.predictions.at(3).text.empty());
  EXPECT_THAT(outputs({one}), ElementsAre(sink.predictions.at(3).text));
}

TEST_F(UnlimiformerSessionTest, a_longer_one_is_read_in_windows) {
  const std::vector<Prediction> made = predictions({of_bytes(200)});
  ASSERT_EQ(made.size(), 1);
  // <s>, "why?", </s>, the document, </s>.
  EXPECT_EQ(made[0].tokens_in, 207);
  EXPECT_EQ(made[0].truncation->kept_tokens, made[0].truncation->document_tokens);
  const nlohmann::json facts = nlohmann::json::parse(made[0].extra.text).at("observed");
  EXPECT_EQ(facts.at("source_tokens"), 207);
  EXPECT_EQ(facts.at("source_windows"), 6);  // 1 + ceil((207 - 64) / 32)
  EXPECT_EQ(facts.at("index_bytes"), 207 * 12 * 4);
}

TEST_F(UnlimiformerSessionTest, the_end_of_a_long_document_is_read) {
  request_.params.set("temperature", 3.0);  // one seed: equal logits give equal draws
  NumberedExample other = of_bytes(200);
  other.example.document[0].text.replace(180, 20, 20, '!');
  EXPECT_NE(outputs({of_bytes(200)}), outputs({other}));
  const std::string all = outputs({other}).front();
  request_.params.set("retrieved", int64_t{2});
  EXPECT_NE(outputs({other}).front(), all);
}

TEST_F(UnlimiformerSessionTest, beams_and_batches_do_not_change_an_output) {
  request_.params.set("num_beams", int64_t{3});
  request_.params.set("retrieved", int64_t{9});
  const std::vector<NumberedExample> unit = {of_bytes(90), [] {
                                               NumberedExample other = of_bytes(131);
                                               other.ordinal = 4;
                                               return other;
                                             }()};
  EXPECT_THAT(outputs(unit), ElementsAre(outputs({unit[0]})[0], outputs({unit[1]})[0]));
}

TEST_F(UnlimiformerSessionTest, it_trains_on_beginnings_and_retrieves_with_that_file) {
  EXPECT_TRUE(the_spec().needs(request_.params).artifacts.empty());
  request_.params.set("adapter", std::string("lora"));
  EXPECT_THAT(the_spec().needs(request_.params).artifacts, ElementsAre("adapter"));
  EXPECT_EQ(opening(), "no adapter was given");
  request_.params.set("learning_rate", 0.5);
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  request_.artifacts["adapter"] = {"", folder_ / "a/adapter_model.safetensors", ""};
  const auto trained = outputs({of_bytes(200)});
  request_.params.set("adapter", std::string("none"));
  EXPECT_NE(trained, outputs({of_bytes(200)}));
}

TEST_F(UnlimiformerSessionTest, other_encoders_devices_and_types_are_refused) {
  request_.runtime.dtype = "bfloat16";
  EXPECT_THAT(opening(), HasSubstr("on the CPU in float32, not on 'cpu' in bfloat16"));
  request_.runtime.dtype = "float32";
  const qfs::test::TemporaryFolder led;
  request_.backbone = *registry::resolve_backbone(qfs::test::TinySeq2Seq{.led = true}.write(led));
  EXPECT_THAT(opening(), HasSubstr("has windowed attention"));
}

TEST(UnlimiformerSpec, rules_between_parameters) {
  Params params;
  for (const ParamSpec& param : the_spec().params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  EXPECT_TRUE(the_spec().validate(params).ok());
  EXPECT_TRUE(the_spec().check_backbone(params, {"bart"}).ok());
  EXPECT_THAT(the_spec().check_backbone(params, {"llama"}).error().message,
              HasSubstr("is for encoder-decoders; this backbone is computed as 'llama'"));
  EXPECT_THAT(the_spec().needs(params).model_types.at("backbone"),
              ElementsAre("bart", "mbart", "pegasus"));  // no LED
  params.set("window", int64_t{8});
  EXPECT_THAT(the_spec().validate(params).error().message, HasSubstr("'window' is for encoders"));
}

}  // namespace
}  // namespace qfs::unlimiformer
