// The heat map of a gate: what is read of an output, the numbers beside it, and an image that says
// nothing else whatever the title.
#include "reports/writers/gate_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/nasty_corpus.h"

namespace qfs::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kMap =
    R"({"snippets": [7, 2], "extractor": [7500, 2500, 0, 0],
        "gate": [[10000, 0, 0, 0], [2500, 2500, 2500, 2500]]})";

TEST(GateMap, is_read_of_an_outputs_facts) {
  const auto map = read_gate_map(kMap);
  ASSERT_TRUE(map.ok()) << map.error().to_string();
  EXPECT_EQ(map->steps, (std::vector<std::vector<double>>{{1, 0, 0, 0}, {.25, .25, .25, .25}}));
  EXPECT_EQ(map->extractor, (std::vector<double>{.75, .25, 0, 0}));
  EXPECT_EQ(map->snippets, (std::vector<int64_t>{7, 2}));
}

TEST(GateMap, that_is_none_is_refused) {
  const auto refused = [](const char* extra) {
    const auto map = read_gate_map(extra);
    return map.ok() ? std::string() : map.error().message;
  };
  EXPECT_THAT(refused(R"({"snippets": [1]})"), HasSubstr("keeps no gate map"));
  EXPECT_THAT(refused("no json"), HasSubstr("keeps no gate map"));
  EXPECT_THAT(refused(R"({"gate": [[1]]})"), HasSubstr("no weights of the extractor"));
  EXPECT_THAT(refused(R"({"gate": [], "extractor": [1]})"), HasSubstr("no steps"));
  EXPECT_THAT(refused(R"({"gate": [[1], [1, 2]], "extractor": [1]})"),
              HasSubstr("at step 2 no weights of 1 snippets"));
  for (const char* step : {"[-1]", "[10001]", "[0]", "[0.5]", "[\"<b>\"]", "3"}) {
    const std::string extra = std::string(R"({"extractor": [1], "gate": [)") + step + "]}";
    EXPECT_THAT(refused(extra.c_str()), HasSubstr("at step 1 no weights")) << step;
  }
  EXPECT_THAT(refused(R"({"gate": [[1]], "extractor": [1], "snippets": ["a"]})"),
              HasSubstr("something else than places"));
}

TEST(GateMap, numbers_are_means_of_steps) {
  const GateNumbers numbers = numbers_of(*read_gate_map(kMap));
  EXPECT_NEAR(numbers.entropy, std::log(4.0) / 2, 1e-12);
  EXPECT_NEAR(numbers.top_three, (1 + .75) / 2, 1e-12);
  // Mean weights 5/8, 1/8, 1/8, 1/8 against 3/4, 1/4 and twice 1e-5, all by 1 + 2e-5.
  const double all = 1 + 2e-5;
  EXPECT_NEAR(numbers.divergence,
              .625 * std::log(.625 / (.75 / all)) + .125 * std::log(.125 / (.25 / all)) +
                  .25 * std::log(.125 / (1e-5 / all)),
              1e-12);
  EXPECT_EQ(gate_text(*read_gate_map(kMap)),
            "2 steps, 4 snippets: mean entropy 0.69 of at most 1.39, mass of the top 3 87.5 %, "
            "divergence of the mean from the extractor 2.16");
}

TEST(GateMap, the_image_draws_what_weighs) {
  const std::string svg = write_gate_svg(*read_gate_map(kMap), "dyle");
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(svg, write_gate_svg(*read_gate_map(kMap), "dyle"));
  // The whole weight of the first step, black; the extractor's 3/4 in its row.
  EXPECT_THAT(svg, HasSubstr("<path fill=\"rgb(0,0,0)\" d=\"M44 74h12v5h-12z\"/>"));
  EXPECT_THAT(svg, HasSubstr("M44 58h12v12h-12z"));
  // Nothing of what weighs nothing: second to fourth of the first step.
  EXPECT_THAT(svg, Not(HasSubstr("M56 74")));
  EXPECT_THAT(svg, HasSubstr(">7</text>"));
}

TEST(GateMap, titles_stay_text) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string svg = write_gate_svg(*read_gate_map(kMap), text);
    EXPECT_THAT(svg, Not(HasSubstr("<script"))) << text;
    EXPECT_EQ(std::count(svg.begin(), svg.end(), '<'), std::count(svg.begin(), svg.end(), '>'))
        << text;
  }
}

}  // namespace
}  // namespace qfs::reports
