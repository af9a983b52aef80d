// What the decoder says about every file of the corpus: the canonical form of good ones
// (x.resolved), place and message of bad ones (x.expected).
#include "tests/golden/config/corpus.h"

#include <gtest/gtest.h>

#include "harness/config/load.h"
#include "tests/support/golden.h"

namespace qfs::config {
namespace {

class GoodSweep : public testing::TestWithParam<std::string> {};

TEST_P(GoodSweep, HasThisCanonicalForm) {
  const Result<Experiment> experiment = load_experiment(GetParam() + ".json");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  test::expect_golden(GetParam() + ".resolved", experiment->resolved.text + "\n");
}

class BadSweep : public testing::TestWithParam<std::string> {};

TEST_P(BadSweep, IsRefusedWithThisMessage) {
  const Result<Experiment> experiment = load_experiment(GetParam() + ".json");
  ASSERT_FALSE(experiment.ok());
  const Error& error = experiment.error();
  EXPECT_TRUE(error.where.starts_with(GetParam() + ".json")) << error.where;
  test::expect_golden(GetParam() + ".expected",
                      std::string(to_string(error.kind)) + "\n" + error.to_string() + "\n");
}

std::string file_name(const testing::TestParamInfo<std::string>& info) {
  return info.param.substr(info.param.find_last_of('/') + 1);
}

INSTANTIATE_TEST_SUITE_P(Corpus, GoodSweep, testing::ValuesIn(test::corpus_files("good")),
                         file_name);
INSTANTIATE_TEST_SUITE_P(Corpus, BadSweep, testing::ValuesIn(test::corpus_files("bad")), file_name);

}  // namespace
}  // namespace qfs::config
