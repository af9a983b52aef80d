// glob_files: what patterns match, and that links do not lead out of the folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/core/files.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GlobFiles : public ::testing::Test {
 protected:
  GlobFiles() {
    for (const char* name : {"run.py", "Run.py", "a1.txt", "a2.txt", "b1.txt", ".hidden.py",
                             "ckpt/model.safetensors", "ckpt/deep/er/x.py", ".git/config.py"}) {
      folder_.write(name, "");
    }
  }
  std::vector<std::string> found(const std::string& pattern) {
    Result<std::vector<std::string>> files = glob_files(folder_.path(), pattern);
    if (!files) return {"error: " + files.error().message};
    return *std::move(files);
  }

  TemporaryFolder folder_;
};

TEST_F(GlobFiles, MatchesInOneFolderSortedBytewise) {
  EXPECT_THAT(found("*.py"), ElementsAre("Run.py", "run.py"));
  EXPECT_THAT(found("a?.txt"), ElementsAre("a1.txt", "a2.txt"));
  EXPECT_THAT(found("[ab]1.txt"), ElementsAre("a1.txt", "b1.txt"));
  EXPECT_THAT(found("ckpt/*.safetensors"), ElementsAre("ckpt/model.safetensors"));
  EXPECT_THAT(found("run.py"), ElementsAre("run.py"));
  EXPECT_THAT(found("./run.py"), ElementsAre("run.py"));
}

TEST_F(GlobFiles, DoubleStarMatchesAnyDepthAlsoNone) {
  EXPECT_THAT(found("**/*.py"), ElementsAre("Run.py", "ckpt/deep/er/x.py", "run.py"));
  EXPECT_THAT(found("ckpt/**"), ElementsAre("ckpt/deep/er/x.py", "ckpt/model.safetensors"));
  EXPECT_THAT(found("**/**/x.py"), ElementsAre("ckpt/deep/er/x.py"));
}

TEST_F(GlobFiles, MatchesHiddenFilesOnlyByName) {
  EXPECT_THAT(found(".*.py"), ElementsAre(".hidden.py"));
  EXPECT_THAT(found(".git/*"), ElementsAre(".git/config.py"));
}

TEST_F(GlobFiles, ReturnsFilesNotFolders) { EXPECT_THAT(found("ckp*"), IsEmpty()); }

TEST_F(GlobFiles, FollowsLinksThatStayInside) {
  std::filesystem::create_symlink("../run.py", folder_ / "ckpt/link.py");
  std::filesystem::create_symlink("ckpt", folder_ / "alias");
  EXPECT_THAT(found("ckpt/*.py"), ElementsAre("ckpt/link.py"));
  EXPECT_THAT(found("alias/*.safetensors"), ElementsAre("alias/model.safetensors"));
}

TEST_F(GlobFiles, RefusesLinksThatLeaveTheFolder) {
  const TemporaryFolder outside;
  outside.write("secret.py", "");
  std::filesystem::create_symlink(outside / "secret.py", folder_ / "linked.py");
  std::filesystem::create_symlink(outside.path(), folder_ / "outside");
  EXPECT_THAT(found("link*.py"),
              ElementsAre(HasSubstr("'linked.py' is a symbolic link that leaves")));
  EXPECT_THAT(found("outside/*"),
              ElementsAre(HasSubstr("'outside' is a symbolic link that leaves")));
  EXPECT_THAT(found("a*.txt"), ElementsAre("a1.txt", "a2.txt"));
}

TEST_F(GlobFiles, IsNotFooledByAFolderWhoseNameBeginsLikeTheRoot) {
  const std::string sibling = folder_.path() + "-sibling";
  std::filesystem::create_directory(sibling);
  std::filesystem::create_symlink(sibling, folder_ / "out");
  EXPECT_THAT(found("out/*"), ElementsAre(HasSubstr("leaves")));
  std::filesystem::remove(sibling);
}

TEST_F(GlobFiles, DoesNotRunInLinkLoops) {
  std::filesystem::create_symlink("..", folder_ / "ckpt/up");
  EXPECT_THAT(found("ckpt/**/*.py"), ElementsAre("ckpt/deep/er/x.py"));
}

TEST_F(GlobFiles, RefusesPatternsThatLeaveTheFolder) {
  for (const char* pattern : {"/etc/*", "../*", "ckpt/../../x", "", "a//b", "x/"}) {
    const Result<std::vector<std::string>> files = glob_files(folder_.path(), pattern);
    ASSERT_FALSE(files.ok()) << pattern;
    EXPECT_EQ(files.error().kind, ErrorKind::invalid_argument) << pattern;
  }
}

TEST_F(GlobFiles, NamesAMissingFolder) {
  EXPECT_EQ(glob_files(folder_ / "absent", "*").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace qfs
