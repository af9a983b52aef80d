// What a demonstration says, what an example is found by, and the rules between parameters.
#include "methods/compressors/demonstrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "methods/compressors/specs.h"
#include "tests/support/default_params.h"

namespace qfs::compressors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kCola = "{document} Grammatically, the above sentence is {summary}";

Example sentence(const std::string& text, const std::string& query = "") {
  Example example;
  example.key = "a";
  example.document = {{text, ""}};
  example.query = query;
  return example;
}

Params with_defaults(const MethodSpec& spec = SelfcpSpec()) {
  return qfs::test::default_params(spec);
}

std::string refusal(const Params& params, const MethodSpec& spec = SelfcpSpec()) {
  const Status status = spec.validate(params);
  return status.ok() ? "fine" : status.error().message;
}

TEST(Demonstrations, are_what_is_asked_and_answered) {
  const Example example = sentence("Ann: {summary}.", "Who?");
  const std::string text = demonstration_template({});
  EXPECT_EQ(demonstration_text(text, example, "Ann").text, "Who?: Ann: {summary}. -> Ann");
  EXPECT_EQ(asked_text(text, example), "Who?: Ann: {summary}.");
  const AnsweredText filled = demonstration_text(kCola, sentence("He ran."), "acceptable");
  EXPECT_EQ(filled.text, "He ran. Grammatically, the above sentence is acceptable");
  EXPECT_EQ(filled.text.substr(filled.answer.begin), "acceptable");
  EXPECT_EQ(filled.answer.end, filled.text.size());
  EXPECT_EQ(asked_text(kCola, sentence("He ran.")), "He ran.");
}

TEST(Demonstrations, labels_stand_between_commas) {
  const auto labels = [](const std::string& text) {
    Params params;
    params.set("labels", text);
    return labels_of(params);
  };
  EXPECT_THAT(labels("acceptable, not acceptable"), ElementsAre("acceptable", "not acceptable"));
  EXPECT_THAT(labels(" yes "), ElementsAre("yes"));
  EXPECT_THAT(labels("a,,b,"), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(labels(" "), ElementsAre(""));
  EXPECT_THAT(labels("a\t,\n"), ElementsAre("a", ""));
  EXPECT_TRUE(labels_of({}).empty());
}

// A vocabulary of three tokens with probabilities 1/2, 1/4, 1/4 everywhere: the text 0 1 2 has
// losses ln 2, ln 4, ln 4.
TEST(Demonstrations, perplexity_is_of_the_label_or_of_all) {
  const std::array<double, 3> losses = {std::log(2.0), std::log(4.0), std::log(4.0)};
  const Perplexities last = perplexities(losses, {false, false, true});
  EXPECT_DOUBLE_EQ(last.label, 4);
  EXPECT_DOUBLE_EQ(last.full, std::pow(32.0, 1 / 3.0));
  EXPECT_DOUBLE_EQ(perplexities(losses, {true, true, false}).label, std::sqrt(8.0));
}

TEST(Demonstrations, a_space_belongs_to_the_label_that_it_is_joined_to) {
  const AnsweredText filled = demonstration_text("{document} is {summary}.", sentence("He"), "ab");
  ASSERT_EQ(filled.text, "He is ab.");
  const std::array<tokenizers::Token, 4> joined = {{{1, 0, 2}, {2, 2, 5}, {3, 5, 8}, {4, 8, 9}}};
  EXPECT_THAT(answer_tokens(joined, filled.answer), ElementsAre(false, false, true, false));
  const std::array<tokenizers::Token, 5> apart = {
      {{1, 0, 2}, {2, 2, 5}, {3, 5, 6}, {4, 6, 7}, {5, 7, 9}}};
  EXPECT_THAT(answer_tokens(apart, filled.answer), ElementsAre(false, false, false, true, true));
}

TEST(Demonstrations, rules_between_parameters_are_checked) {
  Params params = with_defaults();
  const auto with = [&](const std::string& name, const ParamValue& value) {
    Params changed = params;
    changed.set(name, value);
    return refusal(changed);
  };
  EXPECT_THAT(with("shots", int64_t{2}), HasSubstr("'shots' needs a 'bank'"));
  EXPECT_THAT(with("bank_ratio", 4.0), HasSubstr("'bank_ratio' needs a 'bank'"));
  EXPECT_THAT(with("demonstrations", std::string("fixed")), HasSubstr("needs 'shots'"));
  EXPECT_THAT(with("objective", std::string("bank")), HasSubstr("needs a 'bank'"));
  EXPECT_THAT(with("label_scope", std::string("full")), HasSubstr("needs 'labels'"));
  EXPECT_THAT(with("labels", std::string("a,,b")), HasSubstr("an empty label"));
  EXPECT_THAT(with("labels", std::string("a, b, a")), HasSubstr("names 'a' twice"));
  EXPECT_THAT(with("demonstration", std::string("{document}")), HasSubstr("{summary} 0 times"));
  EXPECT_THAT(with("demonstration", std::string("{summary} {document}")),
              HasSubstr("shows {summary} before {document}"));
  EXPECT_THAT(with("demonstration", std::string("{documnt} {summary}")), HasSubstr("document"));
  params.set("bank", int64_t{3});
  EXPECT_EQ(with("shots", int64_t{3}), "fine");
  EXPECT_THAT(with("shots", int64_t{4}), HasSubstr("'shots' is 4; the 'bank' has 3"));
  params.set("shots", int64_t{2});
  EXPECT_THAT(with("ratio", 0.0), HasSubstr("leaves nothing of demonstrations"));
  EXPECT_EQ(with("bank_score", std::string("dot")), "fine");
  params.set("demonstrations", std::string("fixed"));
  EXPECT_THAT(with("bank_score", std::string("dot")), HasSubstr("that \"fixed\" draws"));
}

TEST(Demonstrations, a_window_is_of_demonstrations_where_rows_are_by_windows) {
  const AutocompressorSpec autocompressor;
  const IcaeSpec icae;
  for (const MethodSpec* spec : std::initializer_list<const MethodSpec*>{&autocompressor, &icae}) {
    Params params = with_defaults(*spec);
    params.set("labels", std::string("a, b"));
    params.set("local_context", int64_t{64});
    EXPECT_EQ(refusal(params, *spec), "fine");
    params.set("input_tokens", int64_t{64});
    EXPECT_THAT(refusal(params, *spec), HasSubstr("'input_tokens' is of summaries"));
  }
}

TEST(Demonstrations, what_is_of_those_that_are_kept_needs_a_bank) {
  const SelfcpSpec selfcp;
  const FewShotSpec few_shot;
  for (const MethodSpec* spec : std::initializer_list<const MethodSpec*>{&selfcp, &few_shot}) {
    Params params = with_defaults(*spec);
    params.set("demonstration", std::string(kCola));
    EXPECT_THAT(refusal(params, *spec), HasSubstr("'demonstration' needs a 'bank'"));
    params.set("labels", std::string("a, b"));
    EXPECT_EQ(refusal(params, *spec), "fine") << "a label is put into it";
    params.set("demonstration_tokens", int64_t{64});
    EXPECT_THAT(refusal(params, *spec), HasSubstr("'demonstration_tokens' needs a 'bank'"));
    params.set("bank", int64_t{3});
    EXPECT_EQ(refusal(params, *spec), "fine");
  }
}

TEST(Demonstrations, a_bank_alone_is_not_asked_for_what_learning_needs) {
  for (const auto& [name, value] : {std::pair<const char*, ParamValue>("steps", int64_t{10}),
                                    {"epochs", int64_t{2}},
                                    {"learning_rate", 0.5},
                                    {"train_mix", std::string("released")},
                                    {"connector_init", std::string("scaled")},
                                    {"train_window", int64_t{64}},
                                    {"ratio_min", int64_t{3}}}) {
    Params params = with_defaults();
    params.set("bank", int64_t{3});
    params.set(name, value);
    EXPECT_EQ(refusal(params), "fine") << name;
    params.set("objective", std::string("bank"));
    EXPECT_THAT(refusal(params), HasSubstr("'" + std::string(name) + "' is of learning"));
  }
  Params params = with_defaults();
  params.set("bank", int64_t{3});
  params.set("objective", std::string("bank"));
  params.set("connector", std::string("linear"));
  params.set("train_separator", true);
  params.set("save_dtype", std::string("bfloat16"));
  EXPECT_EQ(refusal(params), "fine") << "they say which connector, and how the bank is kept";
}

TEST(Demonstrations, a_label_is_not_asked_for_what_a_summary_needs) {
  for (const auto& [name, value] :
       {std::pair<const char*, ParamValue>("local_context", int64_t{64}),
        {"input_tokens", int64_t{64}},
        {"max_new_tokens", int64_t{8}},
        {"num_beams", int64_t{4}},
        {"temperature", 0.5},
        {"prompt", std::string("{query} {document}")},
        {"strategy", std::string("former")},
        {"n_mem_rounding", std::string("floor")},
        {"compress_short", true},
        {"window_counts", std::string("total")},
        {"pass_ratio", 4.0},
        {"truncate", std::string("tail")},
        {"stop", std::string(".")},
        {"decoding", std::string("checkpoint")}}) {
    Params params = with_defaults();
    params.set(name, value);
    EXPECT_EQ(refusal(params), "fine") << name;
    params.set("labels", std::string("a, b"));
    EXPECT_THAT(refusal(params), HasSubstr("'" + std::string(name) + "' is of summaries"));
  }
}

TEST(Demonstrations, a_bank_is_shown_as_it_was_made) {
  const auto fits = [](const Params& params, const Params& recipe) {
    const Status status = SelfcpSpec().check_file(params, recipe);
    return status.ok() ? "fine" : status.error().message;
  };
  Params params = with_defaults();
  Params recipe;
  params.set("shots", int64_t{2});
  params.set("bank_ratio", 4.0);
  params.set("ratio", 4.0);
  EXPECT_EQ(fits(params, recipe), "fine") << "a connector without a bank";
  recipe.set("bank", int64_t{8});
  EXPECT_THAT(fits(params, recipe), HasSubstr("'bank_ratio' is 4, but the bank was made with 12"));
  recipe.set("bank_ratio", 4.0);
  EXPECT_EQ(fits(params, recipe), "fine");
  params.set("demonstration", std::string(kCola));
  EXPECT_THAT(fits(params, recipe),
              HasSubstr("those of the bank are \"{query}: {document} -> {summary}\""));
  params.set("shots", int64_t{0});
  EXPECT_EQ(fits(params, recipe), "fine") << "nothing is shown";
  params.set("shots", int64_t{2});
  EXPECT_FALSE(FewShotSpec().check_file(params, recipe).ok());
}

TEST(Demonstrations, a_bank_is_shown_at_no_smaller_ratio) {
  const auto fits = [](double ratio, const Params& recipe, const char* as = nullptr) {
    Params params = with_defaults();
    params.set("shots", int64_t{2});
    params.set("ratio", ratio);
    if (as != nullptr) params.set("shots_as", std::string(as));
    const Status status = SelfcpSpec().check_file(params, recipe);
    return status.ok() ? "fine" : status.error().message;
  };
  Params recipe;
  recipe.set("bank", int64_t{8});
  EXPECT_EQ(fits(12, recipe), "fine");
  EXPECT_EQ(fits(16, recipe), "fine");
  EXPECT_THAT(fits(4, recipe),
              HasSubstr("a 'ratio' of 4 is below the bank's: it has a row for 12 tokens"));
  EXPECT_EQ(fits(4, recipe, "tokens"), "fine") << "nothing is read as memory";
  recipe.set("bank_ratio", 24.0);
  EXPECT_THAT(fits(12, recipe, "recomputed"), HasSubstr("a row for 24 tokens"));
  recipe.set("bank_ratio", 4.0);
  EXPECT_EQ(fits(4, recipe), "fine") << "what the row leaves out is the file's";
}

TEST(Demonstrations, a_banks_ratio_and_length_are_those_of_its_demonstrations) {
  const auto fits = [](const Params& params, const Params& recipe) {
    const Status status = SelfcpSpec().check_file(params, recipe);
    return status.ok() ? "fine" : status.error().message;
  };
  Params recipe = with_defaults();
  recipe.set("bank", int64_t{8});
  recipe.set("demonstration_tokens", int64_t{64});
  recipe.set("bank_ratio", 64.0);
  EXPECT_EQ(fits(recipe, recipe), "fine");
  recipe.set("bank_ratio", 65.0);
  EXPECT_THAT(fits(recipe, recipe),
              HasSubstr("'bank_ratio' is 65; a demonstration has at most 64 tokens"));
  recipe.set("bank_ratio", 12.0);
  Params params = with_defaults();
  params.set("shots", int64_t{1});
  EXPECT_EQ(fits(params, recipe), "fine") << "left out, it is the file's";
  params.set("demonstration_tokens", int64_t{512});
  EXPECT_THAT(fits(params, recipe),
              HasSubstr("'demonstration_tokens' is 512, but those of the bank have at most 64"));
}

TEST(Demonstrations, a_pass_is_as_long_as_the_longest_memory) {
  Params params = with_defaults();
  params.set("pass_ratio", 4.0);
  EXPECT_EQ(refusal(params), "fine");
  params.set("ratio", 0.0);
  EXPECT_EQ(refusal(params), "fine") << "no memory is read";
  params.set("ratio", 2.0);
  EXPECT_THAT(refusal(params), HasSubstr("'pass_ratio' is above 'ratio'"));
  params.set("ratio", 12.0);
  params.set("window_counts", std::string("total"));
  EXPECT_THAT(refusal(params), HasSubstr("leaves room for the memory of 'ratio'"));
  params.set("ratio", 4.0);
  EXPECT_EQ(refusal(params), "fine") << "the pass has no more than that";
}

TEST(Demonstrations, a_bank_is_a_file_and_a_drawn_set_is_the_seeds) {
  Params params = with_defaults();
  const SelfcpSpec spec;
  EXPECT_THAT(spec.needs(params).artifacts, ElementsAre("adapter"));
  EXPECT_FALSE(spec.seed_matters(params));
  params.set("bank", int64_t{3});
  EXPECT_THAT(spec.needs(params).artifacts, ElementsAre("adapter", "bank"));
  params.set("demonstrations", std::string("fixed"));
  EXPECT_TRUE(spec.seed_matters(params));
}

TEST(Demonstrations, of_other_methods_are_drawn_by_the_seed_from_a_file) {
  const FewShotSpec few_shot;
  const LlmlinguaSpec llmlingua;
  const AutocompressorSpec autocompressor;
  const IcaeSpec icae;
  const std::initializer_list<const MethodSpec*> specs = {&few_shot, &llmlingua, &autocompressor,
                                                          &icae};
  for (const MethodSpec* spec : specs) {
    SCOPED_TRACE(spec->name());
    Params params = with_defaults(*spec);
    const size_t trained = spec->needs(params).artifacts.size();
    EXPECT_EQ(trained, spec == &few_shot || spec == &llmlingua ? 0U : 1U);
    EXPECT_FALSE(spec->seed_matters(params));
    params.set("shots", int64_t{2});
    EXPECT_THAT(refusal(params, *spec), HasSubstr("'shots' needs a 'bank'"));
    params.set("bank", int64_t{1});
    EXPECT_THAT(refusal(params, *spec), HasSubstr("'shots' is 2; the 'bank' has 1"));
    params.set("bank", int64_t{3});
    EXPECT_EQ(refusal(params, *spec), "fine");
    EXPECT_TRUE(spec->seed_matters(params));
    EXPECT_EQ(spec->needs(params).artifacts.size(), trained + 1);
    EXPECT_EQ(spec->needs(params).artifacts.back(), "bank");
    if (spec != &few_shot) {
      EXPECT_THAT(spec->needs(params).reads_files_of, ElementsAre("few_shot"));
    }
    params.set("labels", std::string("a,,b"));
    EXPECT_THAT(refusal(params, *spec), HasSubstr("an empty label"));
  }
  Params params = with_defaults(llmlingua);
  params.set("bank", int64_t{3});
  params.set("shots", int64_t{2});
  params.set("ratio", 0.0);
  EXPECT_THAT(refusal(params, llmlingua), HasSubstr("leaves nothing of demonstrations"));
  params = with_defaults(few_shot);
  params.set("prefix_reuse", true);
  EXPECT_THAT(refusal(params, few_shot), HasSubstr("'prefix_reuse'"));
}

}  // namespace
}  // namespace qfs::compressors
