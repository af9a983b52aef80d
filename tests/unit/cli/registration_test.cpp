// The explicit lists agree: every method without tensors that is run has a session in the light
// host, and no session is without a specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "methods/families.h"
#include "methods/light_sessions.h"

namespace qfs::methods {
namespace {

Params defaults_of(const MethodSpec& spec) {
  Params defaults;
  for (const ParamSpec& param : spec.params()) {
    if (param.default_value) defaults.set(param.name, *param.default_value);
  }
  return defaults;
}

std::set<std::string> light_specs() {
  std::set<std::string> names;
  for (const auto& spec : builtin_specs()) {
    const Needs needs = spec->needs(defaults_of(*spec));
    if (!needs.tensors && !needs.imported) names.emplace(spec->name());
  }
  return names;
}

TEST(Registration, LightSessionsAndSpecsAreTheSameMethods) {
  std::set<std::string> sessions;
  for (const SessionFactory& factory : light_sessions()) {
    EXPECT_TRUE(sessions.insert(factory.method).second) << factory.method << " twice";
    EXPECT_NE(factory.open, nullptr);
  }
  EXPECT_EQ(sessions, light_specs());
  EXPECT_THAT(sessions, testing::IsSupersetOf({"lead", "bm25", "oracle"}));
}

TEST(Registration, NamesAreUniqueAndFound) {
  const auto catalog = make_method_catalog();
  std::set<std::string> names;
  for (const MethodSpec* spec : catalog->specs()) {
    EXPECT_TRUE(names.insert(std::string(spec->name())).second) << spec->name() << " twice";
    EXPECT_FALSE(spec->doc().empty()) << spec->name();
    const auto found = catalog->find(spec->name());
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, spec);
  }
}

// Whatever draws reads the seed; what a server does with one is not known.
TEST(Registration, SeedsMatterWhereSomethingIsDrawn) {
  for (const auto& spec : builtin_specs()) {
    Params params = defaults_of(*spec);
    const std::string name(spec->name());
    const bool always = name == "random" || name == "endpoint";
    EXPECT_EQ(spec->seed_matters(params), always) << name;
    if (name != "zero_shot" && name != "chunk_merge" && name != "refine") continue;
    params.set("num_beams", int64_t{4});
    EXPECT_FALSE(spec->seed_matters(params)) << name << " with beams";
    params.set("decoding", std::string("checkpoint"));
    EXPECT_TRUE(spec->seed_matters(params)) << name << " with the checkpoint's settings";
    params = defaults_of(*spec);
    params.set("temperature", 0.7);
    EXPECT_TRUE(spec->seed_matters(params)) << name << " with a temperature";
  }
}

TEST(Registration, AnUnknownMethodNamesTheNearest) {
  const auto found = make_method_catalog()->find("leed");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
  EXPECT_NE(found.error().message.find("did you mean 'lead'?"), std::string::npos);
}

}  // namespace
}  // namespace qfs::methods
