// Parameters of decoding: what is declared, which go together.
#include "methods/models/decoding/decoding_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(DecodingParams, what_does_not_go_together_is_refused_by_name) {
  EXPECT_THAT(refusal({{"top_p", 0.9}}), HasSubstr("'top_p' needs 'temperature'"));
  EXPECT_THAT(refusal({{"length_penalty", 2.0}}), HasSubstr("'length_penalty' needs 'num_beams'"));
  EXPECT_THAT(refusal({{"num_beams", int64_t{1}}, {"beam_rules", std::string("scorer")}}),
              HasSubstr("'beam_rules' needs 'num_beams' from 2"));
  EXPECT_THAT(refusal({{"num_beams", int64_t{4}}, {"temperature", 1.0}}), HasSubstr("one of them"));
  EXPECT_THAT(refusal({{"min_new_tokens", int64_t{9}}, {"max_new_tokens", int64_t{8}}}),
              HasSubstr("above 'max_new_tokens'"));
  EXPECT_EQ(refusal({{"num_beams", int64_t{4}}, {"length_penalty", 2.0}}), "accepted");
}

}  // namespace
}  // namespace qfs::decoding
