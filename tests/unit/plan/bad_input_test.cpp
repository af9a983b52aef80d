// What a sweep that decodes can still get wrong: each with its kind, its place and its message.
#include <gtest/gtest.h>

#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

struct BadSweep {
  std::string name;
  std::string sweep;
  ErrorKind kind;
  std::string message;
};

void PrintTo(const BadSweep& bad, std::ostream* out) { *out << bad.name; }

class BadInput : public testing::TestWithParam<BadSweep> {};

TEST_P(BadInput, IsRefusedBeforeAnythingRuns) {
  test::Planning planning;
  const Result<Plan> plan = planning(GetParam().sweep);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(to_string(plan.error().kind), to_string(GetParam().kind));
  EXPECT_EQ(plan.error().to_string(), GetParam().message);
}

std::string methods(const std::string& entries) { return test::sweep_text(entries); }
std::string lead_and(const std::string& rest) {
  return test::sweep_text(R"({"method": "lead"})", rest);
}
std::string over(const std::string& dataset, const std::string& rest = "") {
  return test::sweep_text(R"({"method": "lead"})", rest, dataset);
}

constexpr ErrorKind kArgument = ErrorKind::invalid_argument;
constexpr ErrorKind kNotFound = ErrorKind::not_found;

const std::vector<BadSweep> kNames = {
    {"method", methods(R"({"method": "leed"})"), kNotFound,
     "s.json#/methods/0/method: unknown method 'leed' (did you mean 'lead'?)"},
    {"dataset", over(R"({"name": "tinny"})"), kNotFound,
     "s.json#/datasets/0: unknown data set 'tinny' (did you mean 'tiny'?)"},
    {"metric", lead_and(R"("metrics": ["rouge", "roge:stem=off"])"), kNotFound,
     "s.json#/metrics/1: unknown metric 'roge' (did you mean 'rouge'?)"},
    {"parameter", methods(R"({"method": "lead", "max_word": 5})"), kArgument,
     "s.json#/methods/0/max_word: method 'lead' has no parameter 'max_word' (did you mean "
     "'max_words'?)"},
    {"entry_key", methods(R"({"method": "lead", "lable": "first"})"), kArgument,
     "s.json#/methods/0/lable: method 'lead' has no parameter 'lable' (did you mean 'label'?)"},
    {"grid_key", lead_and(R"("grid": {"local_contex": [1]})"), kArgument,
     "s.json#/grid/local_contex: no method of the sweep has a parameter 'local_contex' (did you "
     "mean 'local_context'?)"},
    {"rule_key", lead_and(R"("exclude": [{"local_contex": 1}])"), kArgument,
     "s.json#/exclude/0/local_contex: no method of the sweep has a parameter 'local_contex' (did "
     "you mean 'local_context'?)"},
    {"rule_method", lead_and(R"("exclude": [{"method": "led"}])"), kNotFound,
     "s.json#/exclude/0/method: no method of the sweep is called 'led' (did you mean 'lead'?)"},
    {"rule_dataset", lead_and(R"("include": [{"dataset": "tin"}])"), kNotFound,
     "s.json#/include/0/dataset: no data set of the sweep is called 'tin' (did you mean 'tiny'?)"},
    {"backbone", methods(R"({"method": "zero_shot", "backbone": "smal"})"), kNotFound,
     "s.json#/methods/0/backbone: unknown backbone 'smal' (did you mean 'small'?)"},
    {"tokenizer", methods(R"({"method": "lead", "tokenizer": "smal"})"), kNotFound,
     "s.json#/methods/0/tokenizer: unknown backbone 'smal' (did you mean 'small'?)"},
    {"report_axis", lead_and(R"("report": {"columns": ["local_contxt"]})"), kNotFound,
     "s.json#/report/columns/0: no cell of the sweep has a 'local_contxt' (did you mean "
     "'local_context'?)"},
    {"report_value", lead_and(R"("metrics": ["rouge"], "report": {"values": ["rouge1.g"]})"),
     kNotFound,
     "s.json#/report/values/0: no metric of the sweep has the column 'rouge1.g' (did you mean "
     "'rouge1.f'?)"},
    {"report_fact",
     lead_and(R"("metrics": ["rouge"], "report": {"values": ["fact.x.y", "rouge1.g"]})"), kNotFound,
     "s.json#/report/values/1: no metric of the sweep has the column 'rouge1.g' (did you mean "
     "'rouge1.f'?)"},
    {"report_metric",
     lead_and(R"("metrics": ["rouge"], "report": {"values": ["rouge:stem=off/rouge1.f"]})"),
     kNotFound,
     "s.json#/report/values/0: no metric of the sweep has the column 'rouge:stem=off/rouge1.f'"},
};

const std::vector<BadSweep> kValues = {
    {"too_small", methods(R"({"method": "lead", "max_words": 0})"), kArgument,
     "s.json#/methods/0/max_words: 'max_words' is 0, but must be at least 1 words"},
    {"too_large",
     methods(R"({"method": "zero_shot", "backbone": "small", "max_new_tokens": 4097})"), kArgument,
     "s.json#/methods/0/max_new_tokens: 'max_new_tokens' is 4097, but must be from 1 to 4096 "
     "tokens"},
    {"real_too_large",
     methods(R"({"method": "zero_shot", "backbone": "small", "temperature": 2.5})"), kArgument,
     "s.json#/methods/0/temperature: 'temperature' is 2.5, but must be from 0 to 2"},
    {"in_grid", lead_and(R"("grid": {"local_context": [128, -1]})"), kArgument,
     "s.json#/grid/local_context/1: 'local_context' is -1, but must be at least 1 tokens"},
    {"in_include", lead_and(R"("include": [{"local_context": 0}])"), kArgument,
     "s.json#/include/0/local_context: 'local_context' is 0, but must be at least 1 tokens"},
    {"choice", methods(R"({"method": "zero_shot", "backbone": "small", "cut": "tial"})"), kArgument,
     "s.json#/methods/0/cut: 'cut' cannot be 'tial' (did you mean 'tail'?)"},
    {"text_for_integer", methods(R"({"method": "lead", "max_words": "5"})"), kArgument,
     "s.json#/methods/0/max_words: 'max_words' of method 'lead' is an integer, found the text '5'"},
    {"real_for_integer", methods(R"({"method": "lead", "max_words": 5.0})"), kArgument,
     "s.json#/methods/0/max_words: 'max_words' of method 'lead' is an integer, found the real 5"},
    {"integer_for_boolean", methods(R"({"method": "zero_shot", "backbone": "small", "greedy": 1})"),
     kArgument,
     "s.json#/methods/0/greedy: 'greedy' of method 'zero_shot' is a boolean, found the integer 1"},
    {"required", methods(R"({"method": "needy"})"), kArgument,
     "s.json#/methods/0: method 'needy' needs the parameter 'k' (how many)"},
    {"rule_of_the_method", methods(R"({"method": "lead", "max_words": 9, "local_context": 5})"),
     kArgument, "s.json#/methods/0: max_words is above local_context"},
    {"pinned_and_axis",
     test::sweep_text(R"({"method": "lead", "local_context": 5})",
                      R"("grid": {"local_context": [1, 2]})"),
     kArgument,
     "s.json#/methods/0/local_context: 'local_context' is an axis of the grid too "
     "(/grid/local_context): remove one of them"},
    {"excludes_nothing",
     lead_and(R"("grid": {"local_context": [128]}, "exclude": [{"local_context": 256}])"),
     kArgument, "s.json#/exclude/0: this rule excludes nothing (that is not excluded already)"},
    {"excludes_all", lead_and(R"("exclude": [{"method": "lead"}])"), kArgument,
     "s.json#/exclude: 'exclude' leaves no cell"},
    {"includes_nothing",
     test::sweep_text(R"({"method": "lead"}, {"method": "needy", "k": 1})",
                      R"("include": [{"max_words": 5, "k": 2}])"),
     kArgument, "s.json#/include/0: this rule includes nothing: no method meets it"},
};

const std::vector<BadSweep> kResources = {
    {"no_backbone", methods(R"({"method": "zero_shot"})"), kArgument,
     "s.json#/methods/0: method 'zero_shot' needs a 'backbone': one of absent, large, small, a "
     "folder or a GGUF file"},
    {"useless_backbone", methods(R"({"method": "lead", "backbone": "small"})"), kArgument,
     "s.json#/methods/0/backbone: method 'lead' reads no backbone; remove the key"},
    {"useless_tokenizer", methods(R"({"method": "random", "tokenizer": "words"})"), kArgument,
     "s.json#/methods/0/tokenizer: method 'random' counts no tokens; remove the key"},
    {"no_tokenizer",
     R"({"name": "s", "datasets": [{"name": "tiny"}], "methods": [{"method": "lead"}]})", kArgument,
     "s.json#/methods/0: method 'lead' counts tokens: give it or the sweep the key 'tokenizer' "
     "(the "
     "name of a backbone, 'words', 'characters' or a file)"},
    {"missing_checkpoint", methods(R"({"method": "zero_shot", "backbone": "absent"})"),
     ErrorKind::unavailable,
     "s.json#/methods/0/backbone: the checkpoint of 'absent' is not on this machine"},
    {"missing_models", methods(R"({"method": "zero_shot", "backbone": "absent"},
                {"method": "zero_shot", "label": "again", "backbone": "absent"},
                {"method": "zero_shot", "label": "other", "backbone": "smal"})"),
     ErrorKind::unavailable,
     "s.json#/methods/0/backbone: the checkpoint of 'absent' is not on this machine\n"
     "s.json#/methods/2/backbone: unknown backbone 'smal' (did you mean 'small'?)"},
    {"bad_record", over(R"({"name": "broken"})"), ErrorKind::data,
     "data.jsonl:7: the record has no query"},
    {"empty_dataset", over(R"({"name": "empty"})"), ErrorKind::data,
     "s.json#/datasets/0: data set 'empty' has no examples"},
    {"no_references", over(R"({"name": "bare"})", R"("metrics": ["rouge"])"), kArgument,
     "s.json#/metrics/0: metric 'rouge' needs references, which example 'e0' of data set 'bare' "
     "has "
     "not"},
    {"external_not_allowed",
     methods(R"({"method": "external", "command": ["python3", "a.py"], "fingerprint": ["*.py"]})"),
     kArgument,
     "s.json#/methods/0/command: this method starts a program of yours ('python3'); pass "
     "--allow-external to permit this"},
};

std::string case_name(const testing::TestParamInfo<BadSweep>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Names, BadInput, testing::ValuesIn(kNames), case_name);
INSTANTIATE_TEST_SUITE_P(Values, BadInput, testing::ValuesIn(kValues), case_name);
INSTANTIATE_TEST_SUITE_P(Resources, BadInput, testing::ValuesIn(kResources), case_name);

TEST(BadInput, GridOfMillionsIsRefusedWithoutBeingBuilt) {
  std::string numbers = "1";
  for (int i = 2; i <= 1000; ++i) numbers.append(",").append(std::to_string(i));
  std::string grid = R"("grid": {"local_context": [)";
  grid.append(numbers).append(R"(], "max_words": [)").append(numbers).append("]}");
  test::Planning planning;
  const Result<Plan> plan = planning(test::sweep_text(R"({"method": "lead"})", grid));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().to_string(),
            "s.json#/grid/max_words: the sweep has more than 100000 cells");
}

TEST(BadInput, LimitMustBePositive) {
  test::Planning planning;
  planning.limit = 0;
  const Result<Plan> plan = planning(test::sweep_text(R"({"method": "lead"})"));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().to_string(), "the limit of examples is 0, but must be at least 1");
}

TEST(BadInput, NothingIsLoadedForASweepThatIsRefused) {
  test::Planning planning;
  EXPECT_FALSE(planning(test::sweep_text(R"({"method": "lead"}, {"method": "leed"})")).ok());
  EXPECT_TRUE(planning.datasets.loaded.empty());
}

TEST(BadBackbone, OfAnArchitectureThatTheMethodDoesNotTake) {
  test::Planning planning;
  planning.methods.spec("zero_shot").only = "llama";
  const auto sweep = [](const std::string& backbone) {
    return methods(R"({"method": "zero_shot", "backbone": ")" + backbone + R"("})");
  };
  EXPECT_TRUE(planning(sweep("small")).ok());
  const Result<Plan> refused = planning(sweep("large"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string(), "s.json#/methods/0: not for bart");
}

}  // namespace
}  // namespace qfs::plan
