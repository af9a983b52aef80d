#include <gtest/gtest.h>

#include <algorithm>

#include "harness/host/described_spec.h"
#include "methods/models/prompting/truncation.h"

namespace qfs::host {
namespace {

Description described(std::string name) {
  Description description;
  description.name = std::move(name);
  description.version = 3;
  return description;
}

TEST(DescribedSpec, CarriesTheDeclarationOfTheProgram) {
  Description description = described("my_method");
  description.references = true;
  description.params = {{.name = "k", .type = ParamType::integer}};
  auto spec = make_described_spec(description);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ((*spec)->name(), "my_method");
  EXPECT_EQ((*spec)->version(), 3);
  EXPECT_TRUE((*spec)->needs({}).external);
  EXPECT_TRUE((*spec)->needs({}).references);
  EXPECT_FALSE((*spec)->needs({}).evidence);
  EXPECT_EQ((*spec)->params().at(0).name, "k");
}

const ParamSpec& param(const MethodSpec& spec, const std::string& name) {
  static std::vector<ParamSpec> params;
  params = spec.params();
  return *std::ranges::find(params, name, &ParamSpec::name);
}

TEST(DescribedSpec, HasTheParametersByWhichItsDocumentsAreCut) {
  auto spec = make_described_spec(described("m"));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(param(**spec, "local_context").unit, "tokens");
  EXPECT_FALSE(param(**spec, "local_context").default_value);
  EXPECT_EQ(param(**spec, "truncate").choices, prompting::truncation_policy_names());
  EXPECT_FALSE(param(**spec, "truncate").default_value) << "a default would change ids";
  Params params;
  EXPECT_FALSE((*spec)->needs(params).tokenizer);
  params.set("truncate", std::string("tail"));
  EXPECT_FALSE((*spec)->validate(params).ok());
  params.set("local_context", int64_t{8});
  EXPECT_TRUE((*spec)->validate(params).ok());
  EXPECT_TRUE((*spec)->needs(params).tokenizer);
}

TEST(DescribedSpec, TakesItsOwnDefaultOfLocalContextAndNoOtherMeaning) {
  Description own = described("m");
  own.params = {
      {.name = "local_context", .type = ParamType::integer, .default_value = int64_t{64}}};
  auto spec = make_described_spec(own);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ((*spec)->params().size(), 2u);
  EXPECT_EQ(param(**spec, "local_context").minimum, 1);
  own.params[0].type = ParamType::text;
  own.params[0].default_value.reset();
  EXPECT_FALSE(make_described_spec(own).ok());
  own.params = {{.name = "truncate"}};
  EXPECT_FALSE(make_described_spec(own).ok());
}

TEST(DescribedSpec, RejectsNamesThatNoTableOrSweepCouldHold) {
  for (const char* name : {"", "My", "a-b", "1a", "a b", "é"}) {
    EXPECT_FALSE(make_described_spec(described(name)).ok()) << name;
  }
}

TEST(DescribedSpec, RejectsParametersThatNoEntryOfASweepCouldSet) {
  for (const char* name : {"tokenizer", "backbone", "label", "training"}) {
    Description own = described("m");
    own.params = {{.name = name, .type = ParamType::text}};
    const auto spec = make_described_spec(own);
    ASSERT_FALSE(spec.ok()) << name;
    EXPECT_NE(spec.error().message.find(name), std::string::npos);
  }
}

TEST(DescribedSpec, RejectsParametersDeclaredTwiceOrWithAnEmptyRange) {
  Description twice = described("m");
  twice.params = {{.name = "k"}, {.name = "k"}};
  EXPECT_FALSE(make_described_spec(twice).ok());
  Description empty_range = described("m");
  empty_range.params = {{.name = "k", .minimum = 2, .maximum = 1}};
  EXPECT_FALSE(make_described_spec(empty_range).ok());
}

}  // namespace
}  // namespace qfs::host
