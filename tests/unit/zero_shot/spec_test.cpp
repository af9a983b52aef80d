// What the driver knows of zero_shot without LibTorch: parameters, rules between them, prompts,
// cost.
#include "methods/zero_shot/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "methods/models/checkpoints/architecture.h"
#include "methods/models/prompting/prompt_template.h"
#include "tests/support/default_params.h"

namespace qfs::zero_shot {
namespace {

using ::qfs::test::default_params;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ZeroShotSpec, defaults_are_valid_and_documented) {
  const ZeroShotSpec spec;
  EXPECT_TRUE(spec.validate(default_params(spec)).ok());
  for (const ParamSpec& param : spec.params()) {
    EXPECT_FALSE(param.doc.empty()) << param.name;
    if (param.default_value) {
      EXPECT_EQ(param.default_value->index(), static_cast<size_t>(param.type)) << param.name;
    }
  }
  const Needs needs = spec.needs(default_params(spec));
  EXPECT_TRUE(needs.tensors && needs.backbone && needs.tokenizer);
  EXPECT_FALSE(needs.references || needs.evidence);
}

TEST(ZeroShotSpec, layers_name_the_architecture_of_the_backbone) {
  const auto layers = [](const char* architecture) {
    return ZeroShotSpec().layers({}, {architecture});
  };
  // Part of the ids of stored cells: another text re-keys them.
  EXPECT_THAT(layers("llama"),
              ElementsAre("backbone-llama@3", "generation@4", "tokenizers@5", "truncation@1"));
  for (const checkpoints::Architecture& architecture : checkpoints::architectures()) {
    const std::string name(architecture.name);
    EXPECT_THAT(layers(name.c_str()).front(), HasSubstr("backbone-" + name + "@"));
    EXPECT_TRUE(std::ranges::is_sorted(layers(name.c_str()))) << name;
  }
}

TEST(ZeroShotSpec, a_window_above_the_one_of_the_backbone_is_refused) {
  Params params = default_params(ZeroShotSpec());
  const auto refusal = [&](int64_t window, int64_t context) {
    params.set("local_context", window);
    const Status status = ZeroShotSpec().check_backbone(params, {"llama", context});
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(refusal(8192, 8192), "");
  EXPECT_EQ(refusal(8193, 8192),
            "'local_context' is 8193; the backbone was trained to read 8192 tokens at once");
  EXPECT_EQ(refusal(100000, 0), "") << "the checkpoint does not say";
  params.set("source_positions", int64_t{16384});
  EXPECT_EQ(refusal(16384, 1024), "") << "asked for";
}

TEST(ZeroShotSpec, what_only_the_other_kind_of_backbone_reads_is_refused) {
  const auto refusal = [](const char* architecture, const char* name, const ParamValue& value) {
    Params params = default_params(ZeroShotSpec());
    params.set(name, value);
    const Status status = ZeroShotSpec().check_backbone(params, {architecture, 1024});
    return status.ok() ? "fine" : status.error().message;
  };
  for (const auto& [name, value] :
       {std::pair<const char*, ParamValue>("source", std::string("{document}")),
        {"separator", std::string("</s>")},
        {"global_attention", std::string("first")}}) {
    EXPECT_THAT(refusal("llama", name, value), HasSubstr("is for encoder-decoder backbones"));
    EXPECT_EQ(refusal("bart", name, value), "fine");
  }
  EXPECT_THAT(refusal("bart", "system", std::string("Hello")),
              HasSubstr("'system' is for decoder-only backbones"));
  EXPECT_THAT(refusal("bart", "prompt", std::string("{document}")), HasSubstr("'source'"));
  EXPECT_EQ(refusal("llama", "prompt", std::string("{document}")), "fine");
}

TEST(ZeroShotSpec, only_batches_and_their_prefixes_are_how_and_not_what) {
  for (const ParamSpec& param : ZeroShotSpec().params()) {
    const bool switched = param.name == "prefix_reuse" || param.name == "batch_order";
    EXPECT_EQ(param.numerics, switched || param.name == "batch_size") << param.name;
    // Left out it must be in no id.
    if (switched) {
      EXPECT_FALSE(param.default_value.has_value());
    }
  }
}

TEST(ZeroShotSpec, units_that_share_prefixes_hold_one_document) {
  const ZeroShotSpec spec;
  std::vector<NumberedExample> examples(7);
  const std::string documents = "aaabbca";
  for (size_t i = 0; i < examples.size(); ++i) {
    examples[i].ordinal = static_cast<int64_t>(i);
    examples[i].example.document_id = documents.substr(i, 1);
  }
  Params params = default_params(spec);
  params.set("batch_size", int64_t{2});
  const auto cut = [&] {
    std::vector<std::vector<int64_t>> ordinals;
    for (const Unit& unit : spec.units(params, examples)) ordinals.push_back(unit.ordinals);
    return ordinals;
  };
  using Ordinals = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(cut(), (Ordinals{{0, 1}, {2, 3}, {4, 5}, {6}}));
  params.set("prefix_reuse", false);
  EXPECT_EQ(cut(), (Ordinals{{0, 1}, {2, 3}, {4, 5}, {6}}));
  params.set("prefix_reuse", true);
  EXPECT_EQ(cut(), (Ordinals{{0, 1}, {2}, {3, 4}, {5}, {6}}));
}

TEST(ZeroShotSpec, units_of_equally_long_documents_are_a_function_of_words_alone) {
  const ZeroShotSpec spec;
  const char* const documents[] = {"a b c", "a", "a  b\nc", "", "a b", "c"};
  std::vector<NumberedExample> examples;
  for (const char* text : documents) {
    NumberedExample& added = examples.emplace_back();
    added.ordinal = static_cast<int64_t>(examples.size()) * 10;
    added.example.document = {{text, ""}};
  }
  Params params = default_params(spec);
  params.set("batch_size", int64_t{4});
  params.set("batch_order", std::string("words"));
  const auto units = spec.units(params, examples);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_THAT(units[0].ordinals, ElementsAre(40, 20, 60, 50));
  EXPECT_THAT(units[1].ordinals, ElementsAre(10, 30));
  params.set("batch_order", std::string("given"));
  EXPECT_THAT(spec.units(params, examples)[0].ordinals, ElementsAre(10, 20, 30, 40));
  params.set("batch_order", std::string("words"));
  params.set("prefix_reuse", true);
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("give one of them"));
}

TEST(ZeroShotSpec, rules_between_parameters_are_checked) {
  const ZeroShotSpec spec;
  Params params = default_params(spec);
  params.set("chat", false);
  EXPECT_TRUE(spec.validate(params).ok());
  params.set("system", std::string("Be brief."));
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("'system' needs \"chat\": true"));
  const auto refusal = [&](const char* name, const char* value) {
    Params chat = default_params(spec);
    chat.set(name, std::string(value));
    const Status status = spec.validate(chat);
    return status.ok() ? "accepted" : status.error().message;
  };
  EXPECT_EQ(refusal("chat_date", "2024-02-29"), "accepted");
  for (const char* date : {"2023-02-29", "26 Jul 2024", "2024-7-26", "2024-07-26x", "0000-01-01"}) {
    EXPECT_THAT(refusal("chat_date", date), HasSubstr("no date such as")) << date;
  }
  EXPECT_EQ(refusal("chat_variables", R"({"enable_thinking": false})"), "accepted");
  EXPECT_THAT(refusal("chat_variables", "[]"), HasSubstr("is a JSON object"));
  EXPECT_THAT(refusal("chat_variables", R"({"messages": []})"), HasSubstr("'messages' is set by"));
  params = default_params(spec);
  params.set("stop", std::string());
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("'stop' is empty"));
  params = default_params(spec);
  params.set("prefix_reuse", true);
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("'batch_size' of at least 2"));
  params.set("batch_size", int64_t{2});
  EXPECT_TRUE(spec.validate(params).ok());
}

TEST(ZeroShotSpec, the_two_rules_of_lengths_exclude_each_other) {
  const ZeroShotSpec spec;
  const auto refusal = [&](std::map<std::string, int64_t> lengths) {
    Params params = default_params(spec);
    for (const auto& [name, tokens] : lengths) params.set(name, tokens);
    Status status = spec.validate(params);
    if (status.ok()) status = spec.check_backbone(params, {"llama", 2048});
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(refusal({{"total_tokens", 1600}, {"reserved_tokens", 120}}), "");
  EXPECT_THAT(refusal({{"total_tokens", 1600}}), HasSubstr("need each other"));
  EXPECT_THAT(refusal({{"reserved_tokens", 120}}), HasSubstr("need each other"));
  EXPECT_THAT(refusal({{"total_tokens", 1600}, {"reserved_tokens", 120}, {"local_context", 1400}}),
              HasSubstr("leave 'local_context' out"));
  EXPECT_THAT(refusal({{"total_tokens", 1600}, {"reserved_tokens", 129}}),
              HasSubstr("an output has 128 at most"));
  EXPECT_THAT(refusal({{"total_tokens", 1600}, {"reserved_tokens", 20}, {"min_new_tokens", 21}}),
              HasSubstr("'min_new_tokens' is 21, and a document that is cut leaves 20"));
  EXPECT_THAT(refusal({{"total_tokens", 120}, {"reserved_tokens", 120}}),
              HasSubstr("leaves nothing of 120 'total_tokens'"));
  EXPECT_EQ(refusal({{"total_tokens", 2049}, {"reserved_tokens", 120}}),
            "'total_tokens' is 2049; a sequence has 2048 tokens at most");
}

TEST(ZeroShotSpec, the_prompt_leaves_room_for_a_document) {
  const ZeroShotSpec spec;
  Params params = default_params(spec);
  params.set("prompt", std::string("Q: {query}\nD: {document}\nA:"));
  Example example;
  example.query = "why?";
  EXPECT_FALSE(spec.token_bound(params, example).has_value());
  params.set("total_tokens", int64_t{100});
  params.set("reserved_tokens", int64_t{20});
  const auto bound = spec.token_bound(params, example);
  ASSERT_TRUE(bound.has_value());
  EXPECT_THAT(bound->pieces, ElementsAre("Q: why?\nD: \nA:"));
  EXPECT_EQ(bound->tokens, 79);
}

TEST(ZeroShotSpec, cost_grows_with_every_length) {
  const ZeroShotSpec spec;
  const DatasetStats stats{20, 1000, 10};
  const auto flops = [&](const std::string& name, int64_t value) {
    Params params = default_params(spec);
    params.set(name, value);
    return spec.cost(params, stats).flops;
  };
  EXPECT_LT(flops("local_context", 128), flops("local_context", 256));
  EXPECT_LT(flops("max_new_tokens", 16), flops("max_new_tokens", 64));
  Params params = default_params(spec);
  const double whole = spec.cost(params, stats).flops;
  EXPECT_LT(flops("local_context", 256), whole);
  EXPECT_EQ(flops("local_context", 1 << 20), whole);
  EXPECT_EQ(spec.cost(params, stats).tokens_out, 20 * 128);
  EXPECT_LT(spec.cost(params, {20, 500, 10}).bytes, spec.cost(params, stats).bytes);
}

TEST(Prompt, placeholders_are_filled_once_and_their_text_is_not_looked_at_again) {
  EXPECT_EQ(prompting::fill_prompt("Q: {query}\nD: {document}.", "a {query} b", "{document}?"),
            "Q: {document}?\nD: a {query} b.");
  EXPECT_EQ(prompting::fill_prompt("{document} {", "d", "q"), "d {");
}

TEST(Prompt, an_example_without_a_query_asks_for_a_summary) {
  EXPECT_EQ(prompting::fill_prompt("{document}|{query}", "d", ""), "d|Summarize the document.");
}

TEST(ZeroShotSpec, AQueryIsRepeatedWithWhatShowsIt) {
  using prompting::with_query_repeated;
  EXPECT_EQ(
      with_query_repeated("Read.\n\n# Request\n{query}\n\n# Document\n{document}\n\nSummary:"),
      "Read.\n\n# Request\n{query}\n\n# Document\n{document}\n\n# Request\n{query}\n\nSummary:");
  EXPECT_EQ(with_query_repeated("Q: {query}\nD: {document}\nA:"),
            "Q: {query}\nD: {document}\nQ: {query}\nA:");
  EXPECT_EQ(with_query_repeated("{query} {document}."), "{query} {document} {query}.");
  EXPECT_EQ(with_query_repeated("{document}"), "{document}");
  EXPECT_EQ(with_query_repeated("Read.\n\n# Request\n{query}\n\n{document}\n\nSummary:", false),
            "Read.\n\n# Request\n{query}\n\n{document}# Request\n{query}\n\nSummary:");
  // What is pooled and asked by is the first.
  const auto filled =
      prompting::fill_marked_prompt(with_query_repeated("{query}\n{document}"), "d", "q?");
  EXPECT_EQ(filled.text, "q?\nd\nq?");
  EXPECT_EQ(filled.query.begin, 0U);
  EXPECT_EQ(filled.document.begin, 3U);
}

TEST(Prompt, templates_need_the_document_once_and_know_no_other_name) {
  EXPECT_TRUE(prompting::check_prompt(prompting::default_prompt()).ok());
  EXPECT_TRUE(prompting::check_prompt("{document}").ok());
  EXPECT_TRUE(prompting::check_prompt(R"({"json": {document}, "list": {}, "X": {Query}})").ok());
  EXPECT_THAT(prompting::check_prompt("{query}").error().message, HasSubstr("{document} 0 times"));
  EXPECT_THAT(prompting::check_prompt("{document}{document}").error().message,
              HasSubstr("2 times"));
  EXPECT_THAT(prompting::check_prompt("{document} {query} {query}").error().message,
              HasSubstr("{query} 2"));
  EXPECT_THAT(prompting::check_prompt("{document} {querry}").error().message,
              HasSubstr("{querry} (did you mean 'query'?)"));
}

}  // namespace
}  // namespace qfs::zero_shot
