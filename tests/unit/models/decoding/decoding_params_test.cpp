// Parameters of decoding: what is declared, which go together.
#include "methods/models/decoding/decoding_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace qfs::decoding {
namespace {

using ::testing::HasSubstr;

Params params(std::map<std::string, ParamValue> values) {
  Params params;
  for (auto& [name, value] : values) params.set(name, std::move(value));
  return params;
}

std::string refusal(std::map<std::string, ParamValue> values) {
  const Status status = check_decoding(params(std::move(values)));
  return status.ok() ? "accepted" : status.error().message;
}

TEST(DecodingParams, none_has_a_default_so_that_ids_of_greedy_cells_stay) {
  for (const ParamSpec& spec : decoding_params()) {
    EXPECT_FALSE(spec.default_value || spec.required || spec.numerics) << spec.name;
    EXPECT_FALSE(spec.doc.empty() || spec.source.empty()) << spec.name;
  }
  EXPECT_EQ(refusal({}), "accepted");
}

// As GenerationConfig has them; left out and 0 are the same to decoding.
TEST(DecodingParams, zero_turns_off_what_transformers_turns_off_by_it) {
  int found = 0;
  for (const ParamSpec& spec : decoding_params()) {
    const bool off_by_zero = spec.name == "no_repeat_ngram" || spec.name == "min_new_tokens" ||
                             spec.name == "min_length" || spec.name == "top_k";
    if (!off_by_zero) continue;
    ++found;
    EXPECT_EQ(spec.minimum, 0) << spec.name;
  }
  EXPECT_EQ(found, 4);
}

TEST(DecodingParams, names_and_values_of_transformers_are_ours) {
  const ForeignNames foreign = foreign_decoding();
  const std::vector<ParamSpec> specs = decoding_params();
  EXPECT_EQ(*foreign.own_name(specs, "no_repeat_ngram_size"), "no_repeat_ngram");
  EXPECT_EQ(*foreign.own_name(specs, "num_beams"), "num_beams");
  EXPECT_EQ(*foreign.own_name(specs, "nowhere"), "nowhere");
  EXPECT_EQ(foreign.own_value("early_stopping", true), ParamValue(std::string("yes")));
  EXPECT_EQ(foreign.own_value("early_stopping", false), ParamValue(std::string("no")));
  EXPECT_EQ(foreign.own_value("early_stopping", std::string("never")),
            ParamValue(std::string("never")));
  EXPECT_EQ(foreign.own_value("num_beams", true), ParamValue(true));
  EXPECT_EQ(foreign.values_of("early_stopping").size(), 2u);
  EXPECT_TRUE(foreign.values_of("num_beams").empty());
  EXPECT_THAT(foreign.own_name(specs, "do_sample").error().message, HasSubstr("'temperature'"));
}

TEST(DecodingParams, every_foreign_name_is_about_a_parameter_and_is_none_itself) {
  const std::vector<ParamSpec> specs = decoding_params();
  const auto declared = [&](std::string_view name) {
    return std::ranges::find(specs, name, &ParamSpec::name) != specs.end();
  };
  for (const ForeignName& foreign : foreign_decoding().names) {
    EXPECT_TRUE(declared(foreign.own)) << foreign.name;
    EXPECT_FALSE(declared(foreign.name)) << foreign.name;
  }
  for (const ForeignValue& value : foreign_decoding().values) EXPECT_TRUE(declared(value.own));
}

TEST(DecodingParams, what_does_not_go_together_is_refused_by_name) {
  EXPECT_THAT(refusal({{"top_p", 0.9}}), HasSubstr("'top_p' needs 'temperature'"));
  EXPECT_THAT(refusal({{"length_penalty", 2.0}}), HasSubstr("'length_penalty' needs 'num_beams'"));
  EXPECT_THAT(refusal({{"num_beams", int64_t{1}}, {"beam_rules", std::string("scorer")}}),
              HasSubstr("'beam_rules' needs 'num_beams' from 2"));
  EXPECT_THAT(refusal({{"num_beams", int64_t{4}}, {"temperature", 1.0}}), HasSubstr("one of them"));
  EXPECT_THAT(refusal({{"min_new_tokens", int64_t{9}}, {"max_new_tokens", int64_t{8}}}),
              HasSubstr("above 'max_new_tokens'"));
  EXPECT_THAT(refusal({{"min_new_tokens", int64_t{9}}, {"min_length", int64_t{9}}}),
              HasSubstr("give one"));
  EXPECT_EQ(refusal({{"num_beams", int64_t{4}}, {"length_penalty", 2.0}}), "accepted");
}

}  // namespace
}  // namespace qfs::decoding
