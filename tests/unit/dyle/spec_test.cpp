// The rules of dyle between parameters, and about the models and files that a cell names.
#include "methods/dyle/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/architectures/bert/encoder_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/ranking/scorer_params.h"
#include "tests/support/tiny_encoder.h"

namespace qfs::dyle {
namespace {

using ::testing::HasSubstr;

Params defaults() {
  Params params;
  for (const ParamSpec& param : DyleSpec().params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  return params;
}

/// Why parameters are refused that differ from the defaults by these.
std::string rule_about(const std::vector<std::pair<std::string, ParamValue>>& changes) {
  Params params = defaults();
  EXPECT_TRUE(DyleSpec().validate(params).ok());
  for (const auto& [name, value] : changes) params.set(name, value);
  const Status status = DyleSpec().validate(params);
  return status.ok() ? "accepted" : status.error().message;
}

TEST(DyleSpec, rules_between_parameters) {
  const std::string fixed = "static";
  EXPECT_THAT(rule_about({{"prompt", std::string("{document}")}}), HasSubstr("snippet"));
  EXPECT_THAT(rule_about({{"static_prior_grad", true}}), HasSubstr("needs \"prior\": \"static\""));
  EXPECT_THAT(rule_about({{"label_tokens", int64_t{1}}}), HasSubstr("below 2"));
  EXPECT_THAT(rule_about({{"learning_rate", 0.0}}), HasSubstr("is a multiple"));
  EXPECT_THAT(rule_about({{"piece_words", int64_t{9}}, {"passage_words", int64_t{9}}}),
              HasSubstr("pieces ('piece_words') or passages ('passage_words')"));
  EXPECT_EQ(rule_about({{"gate_map", std::string("output")}}), "accepted");
  EXPECT_THAT(
      rule_about({{"gate_map", std::string("output")}, {"output", std::string("snippets")}}),
      HasSubstr("nothing is written"));
  EXPECT_THAT(rule_about({{"gate_map", std::string("output")}, {"prior", fixed}}),
              HasSubstr("needs a gate"));
  EXPECT_EQ(DyleSpec().needs(Params()).backbones, std::vector<std::string>{kExtractor});
}

TEST(DyleSpec, outputs_that_choose_are_decoded_by_rules_of_their_own) {
  const std::pair<std::string, ParamValue> outputs = {"select_by", std::string("rouge_sum")};
  const std::pair<std::string, ParamValue> beams = {"select_num_beams", int64_t{5}};
  EXPECT_THAT(rule_about({beams}), HasSubstr("'select_num_beams' is of outputs that choose"));
  EXPECT_THAT(rule_about({outputs, {"select_early_stopping", std::string("yes")}}),
              HasSubstr("'early_stopping' needs 'num_beams'"));
  EXPECT_THAT(rule_about({outputs, {"select_min_new_tokens", int64_t{97}}}),
              HasSubstr("of outputs that choose ('select_…', and at most 'label_tokens'), "
                        "'min_new_tokens' is above"));
  EXPECT_EQ(rule_about({outputs, beams, {"select_early_stopping", std::string("yes")}}),
            "accepted");
  Params params = defaults();
  params.set("select_min_length", int64_t{9});
  BackboneFacts facts;
  facts.architecture = "bart";
  EXPECT_TRUE(DyleSpec().check_backbone(params, facts).ok());
  facts.architecture = "llama";
  EXPECT_THAT(DyleSpec().check_backbone(params, facts).error().message,
              HasSubstr("'select_min_length' is for encoder-decoder backbones"));
}

TEST(DyleSpec, rows_and_outputs_have_room_in_the_generator) {
  const BackboneFacts bart = {.architecture = "bart", .context = 1024, .decoder_context = 256};
  const auto refused = [&](const char* name, int64_t value) {
    Params params = defaults();
    params.set(name, value);
    const Status status = DyleSpec().check_backbone(params, bart);
    return status.ok() ? std::string() : status.error().message;
  };
  EXPECT_EQ(refused("max_new_tokens", 255), "");
  EXPECT_EQ(refused("max_new_tokens", 256),
            "'max_new_tokens' is 256; the backbone's decoder has room for 255");
  EXPECT_EQ(refused("label_tokens", 256), "");
  EXPECT_EQ(refused("label_tokens", 257),
            "'label_tokens' is 257; the backbone's decoder has room for 256");
  EXPECT_EQ(refused("snippet_tokens", 1024), "");
  EXPECT_EQ(refused("snippet_tokens", 1025),
            "'snippet_tokens' is 1025; the generator was trained to read 1024 tokens at once");
}

TEST(DyleSpec, cost_grows_with_what_is_read_and_written) {
  const DatasetStats meetings{100, 9000, 10};
  const auto flops = [&](const char* name, ParamValue value) {
    Params params = defaults();
    if (*name) params.set(name, std::move(value));
    return DyleSpec().cost(params, meetings).flops;
  };
  const double five = flops("k", int64_t{5});
  EXPECT_LT(five, flops("k", int64_t{10}));
  EXPECT_GT(flops("snippets", std::string("all")), 10 * five);
  EXPECT_LT(flops("output", std::string("snippets")), five);
  EXPECT_GT(flops("output", std::string("snippets")), 0);
}

TEST(DyleSpec, every_part_has_something_to_learn_from) {
  const ParamValue none = 0.0;
  EXPECT_THAT(
      rule_about(
          {{"lambda_generation", none}, {"lambda_oracle", none}, {"lambda_consistency", none}}),
      HasSubstr("'lambda_consistency' are 0: nothing would be learned"));
  EXPECT_EQ(rule_about({{"lambda_generation", none}, {"lambda_oracle", none}}), "accepted");
  EXPECT_THAT(
      rule_about(
          {{"lambda_generation", none}, {"lambda_oracle", none}, {"prior", std::string("static")}}),
      HasSubstr("without a gate there is no loss of consistency"));
  EXPECT_THAT(rule_about({{"extractor_steps", int64_t{9}}, {"steps", int64_t{9}}}),
              HasSubstr("'extractor_steps' is 9 of 9 steps"));
  EXPECT_EQ(rule_about({{"extractor_steps", int64_t{8}}, {"steps", int64_t{9}}}), "accepted");
  EXPECT_THAT(
      rule_about({{"extractor_steps", int64_t{8}}, {"steps", int64_t{9}}, {"lambda_oracle", none}}),
      HasSubstr("whose only loss is the oracle's"));
}

TEST(DyleSpec, what_has_no_effect_is_refused_or_in_no_id) {
  const ParamValue weights = std::string("weights");
  EXPECT_EQ(rule_about({{"trained", weights}}), "accepted");
  EXPECT_THAT(rule_about({{"trained", weights}, {"rank", int64_t{4}}}),
              HasSubstr("'rank' is of low-rank matrices"));
  EXPECT_THAT(rule_about({{"trained", weights}, {"extractor_targets", std::string("query")}}),
              HasSubstr("'extractor_targets' is of low-rank matrices"));
  EXPECT_THAT(rule_about({{"trained", weights}, {"alpha", 4.0}}), HasSubstr("'alpha' is of low"));
  EXPECT_THAT(rule_about({{"extractor_targets", std::string("query,")}}),
              HasSubstr("'extractor_targets' has an empty name"));
  EXPECT_THAT(rule_about({{"targets", std::string("q_proj,,")}}),
              HasSubstr("'targets' has an empty name"));
  Params params = defaults();
  EXPECT_TRUE(DyleSpec().trains_with(params, "rank"));
  EXPECT_TRUE(DyleSpec().trains_with(params, "lambda_consistency"));
  EXPECT_FALSE(DyleSpec().trains_with(params, "static_prior_grad"));
  params.set("prior", std::string("static"));
  EXPECT_FALSE(DyleSpec().trains_with(params, "lambda_consistency"));
  EXPECT_TRUE(DyleSpec().trains_with(params, "static_prior_grad"));
  params.set("trained", weights);
  EXPECT_FALSE(DyleSpec().trains_with(params, "rank"));
}

TEST(DyleSpec, files_may_have_been_trained_with_other_numbers_of_snippets) {
  for (const char* name : {"profile", "k", "snippet_tokens", "label_tokens"}) {
    EXPECT_TRUE(DyleSpec().may_differ(name)) << name;
  }
  for (const char* name : {"prior", "trained", "chunk_tokens", "prompt"}) {
    EXPECT_FALSE(DyleSpec().may_differ(name)) << name;
  }
  Params asked = defaults();
  Params recipe;
  recipe.set("rank", int64_t{4});
  EXPECT_TRUE(DyleSpec().check_file(asked, recipe).ok());
  asked.set("trained", std::string("weights"));
  EXPECT_THAT(DyleSpec().check_file(asked, recipe).error().message,
              HasSubstr("the file holds low-rank matrices"));
  EXPECT_TRUE(DyleSpec().check_file(asked, Params()).ok()) << "the release's says nothing";
  recipe.set("trained", std::string("weights"));
  EXPECT_TRUE(DyleSpec().check_file(asked, recipe).ok());
}

TEST(DyleSpec, a_file_scores_as_it_was_trained) {
  Params recipe = defaults();
  Params asked = defaults();
  EXPECT_TRUE(DyleSpec().check_file(asked, recipe).ok());
  asked.set("score", std::string("similarity"));
  EXPECT_EQ(DyleSpec().check_file(asked, recipe).error().message,
            "its 'score' is head, not similarity");
  EXPECT_TRUE(DyleSpec().check_file(asked, {}).ok()) << "the session looks into it";
  recipe.set("score", std::string("similarity"));
  EXPECT_TRUE(DyleSpec().check_file(asked, recipe).ok());
  EXPECT_TRUE(DyleSpec().check_file(defaults(), recipe).ok()) << "what is left out is the file's";
}

TEST(DyleSpec, a_file_reads_the_snippets_that_it_was_trained_on) {
  for (const char* name : {"piece_words", "passage_words"}) {
    Params recipe = defaults();
    Params asked = defaults();
    asked.set(name, int64_t{9});
    EXPECT_EQ(DyleSpec().check_file(asked, recipe).error().message,
              "it learned from other snippets, without '" + std::string(name) + "'");
    EXPECT_TRUE(DyleSpec().check_file(asked, {}).ok()) << "the release's says nothing";
    recipe.set(name, int64_t{9});
    EXPECT_TRUE(DyleSpec().check_file(asked, recipe).ok());
    EXPECT_TRUE(DyleSpec().check_file(defaults(), recipe).ok()) << "what is left out is the file's";
    EXPECT_FALSE(DyleSpec().may_differ(name));
  }
}

TEST(DyleSpec, chunks_fit_into_the_extractor) {
  for (const bool roberta : {false, true}) {
    const test::TemporaryFolder folder;
    const Resource model = test::TinyEncoder{.roberta = roberta}.write(folder);
    const auto config =
        architectures::read_encoder_config(*checkpoints::ModelDirectory::open(model.path));
    ASSERT_TRUE(config.ok());
    const auto window = ranking::scorer_window(model);
    ASSERT_TRUE(window.ok()) << window.error().to_string();
    EXPECT_EQ(*window, config->max_tokens());
    Params params = defaults();
    params.set("chunk_tokens", *window);
    EXPECT_TRUE(DyleSpec().check_model(params, kExtractor, model).ok());
    params.set("chunk_tokens", *window + 1);
    EXPECT_THAT(DyleSpec().check_model(params, kExtractor, model).error().message,
                HasSubstr("'chunk_tokens' is 65; '" + model.path + "' reads 64 at once"));
  }
}

}  // namespace
}  // namespace qfs::dyle
