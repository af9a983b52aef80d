// What the program says about itself.
#include "harness/core/build_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST(BuildInfo, NamesVersionCommitCompilerAndSources) {
  const BuildInfo& info = build_info();
  EXPECT_THAT(std::string(info.version), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(std::string(info.commit), MatchesRegex("unknown|[0-9a-f]{40}(\\+dirty)?"));
  EXPECT_THAT(std::string(info.compiler), HasSubstr(std::to_string(__GNUC__)));
  EXPECT_THAT(std::string(info.flags), HasSubstr("-ffp-contract=off"));
  EXPECT_THAT(std::string(info.source_digest), MatchesRegex("[0-9a-f]{64}"));
}

TEST(BuildFacts, AreCanonicalJsonOfTheSameFacts) {
  const nlohmann::json facts = *parse_json(build_facts().text, "facts");
  EXPECT_EQ(facts.at("commit").get<std::string>(), build_info().commit);
  EXPECT_EQ(facts.at("source_digest").get<std::string>(), build_info().source_digest);
  EXPECT_EQ(canonical_json(facts)->text, build_facts().text);
}

/// The generator on a small tree outside any repository.
class GenerateBuildInfo : public ::testing::Test {
 protected:
  std::string generated() {
    const std::string output = folder_ / "out.cpp";
    const std::string command =
        QFS_CMAKE_COMMAND " -DSOURCE_DIR=" + (folder_ / "tree") + " -DOUTPUT=" + output +
        " -DVERSION=1.2.3 -DCOMPILER=\"g++ 12\" -DFLAGS=\"-O2 -DX=\\\"y\\\"\""
        " -DBUILD_TYPE=Release -P cmake/GenerateBuildInfo.cmake";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_file(output).ok() ? *read_file(output) : "";
  }

  TemporaryFolder folder_;
};

TEST_F(GenerateBuildInfo, WorksOutsideGit) {
  folder_.write("tree/harness/a.cpp", "int a;\n");
  const std::string text = generated();
  EXPECT_THAT(text, HasSubstr("R\"qfs(unknown)qfs\""));
  EXPECT_THAT(text, HasSubstr("R\"qfs(1.2.3)qfs\""));
  EXPECT_THAT(text, HasSubstr("R\"qfs(-O2 -DX=\"y\")qfs\""));
}

TEST_F(GenerateBuildInfo, DigestsPathsAndContentsOfCompiledFilesInOrder) {
  folder_.write("tree/metrics/b.h", "b");
  folder_.write("tree/harness/a.cpp", "a");
  folder_.write("tree/harness/README.md", "not compiled");
  folder_.write("tree/tests/t.cpp", "not part of the programs");
  const std::string lines =
      "harness/a.cpp " + sha256_hex("a") + "\nmetrics/b.h " + sha256_hex("b") + "\n";
  EXPECT_THAT(generated(), HasSubstr(sha256_hex(lines)));
}

TEST_F(GenerateBuildInfo, MarksAChangedTree) {
  folder_.write("tree/harness/a.cpp", "a");
  const std::string git = "git -C " + (folder_ / "tree") + " -c user.name=t -c user.email=t@t ";
  if (std::system((git + "init -q 2>/dev/null").c_str()) != 0) GTEST_SKIP() << "git is missing";
  ASSERT_EQ(std::system((git + "add -A").c_str()), 0);
  ASSERT_EQ(std::system((git + "commit -q -m one").c_str()), 0);
  EXPECT_THAT(generated(), Not(HasSubstr("unknown")));
  EXPECT_THAT(generated(), Not(HasSubstr("+dirty")));
  folder_.write("tree/harness/a.cpp", "changed");
  EXPECT_THAT(generated(), HasSubstr("+dirty"));
}

TEST_F(GenerateBuildInfo, IgnoresARepositoryAroundTheTree) {
  folder_.write("tree/harness/a.cpp", "a");
  const std::string git = "git -C " + folder_.path() + " -c user.name=t -c user.email=t@t ";
  if (std::system((git + "init -q 2>/dev/null").c_str()) != 0) GTEST_SKIP() << "git is missing";
  ASSERT_EQ(std::system((git + "commit -q --allow-empty -m one").c_str()), 0);
  EXPECT_THAT(generated(), HasSubstr("R\"qfs(unknown)qfs\""));
}

}  // namespace
}  // namespace qfs
