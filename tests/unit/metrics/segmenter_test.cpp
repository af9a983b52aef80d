// Segmenters: where words end, what the signature says, and how files that are wrong are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/jieba_dictionary.h"
#include "metrics/chinese/jieba_segmenter.h"
#include "metrics/chinese/plain_segmenters.h"
#include "metrics/chinese/probability_table.h"
#include "tests/support/jieba_folder.h"

namespace qfs::test {
namespace {

using namespace metrics;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

std::vector<std::string> words(const Segmenter& segmenter, std::string_view text) {
  std::vector<std::string_view> views;
  const Status status = segmenter.segment(text, views);
  if (!status) return {status.error().to_string()};
  return {views.begin(), views.end()};
}

TEST(CharSegmenter, ACodePointIsAWordButLatinRunsStayWhole) {
  EXPECT_THAT(words(CharSegmenter(), "GDP增长5.2%"),
              ElementsAre("GDP", "增", "长", "5", ".", "2", "%"));
  EXPECT_THAT(words(CharSegmenter(), "é 　a"), ElementsAre("é", "a"));
}

TEST(PretokSegmenter, WordsLieBetweenPythonsWhiteSpace) {
  EXPECT_THAT(words(PretokSegmenter(), " 小明　毕业\u2028于\x1f。\n"),
              ElementsAre("小明", "毕业", "于", "。"));
  EXPECT_THAT(words(PretokSegmenter(), " \n"), ElementsAre());
}

TEST(IcuSegmenter, FindsWordsAndNamesItsVersions) {
  // ICU's dictionary differs by version; that 中国 is a word does not.
  EXPECT_THAT(words(IcuSegmenter(), "中国 A股"), ElementsAre("中国", " ", "A", "股"));
  EXPECT_THAT(IcuSegmenter().signature(), MatchesRegex("seg:icu\\|icu:[0-9.]+\\|icudata:[0-9.]+"));
}

TEST(JiebaSegmenter, ReadsTheFolderThatIsNamed) {
  const JiebaFolder jieba;
  const auto files = find_jieba({});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  const JiebaSegmenter segmenter(*files);
  // jieba 0.42.1 with this dictionary and these tables gives the same (jieba_conformance_test).
  EXPECT_THAT(words(segmenter, "南京市长江大桥，3.5%"),
              ElementsAre("南京市", "长江大桥", "，", "3.5%"));
  EXPECT_THAT(segmenter.signature(),
              MatchesRegex("seg:jieba-0\\.42\\.1\\|dict:[0-9a-f]{12}\\|hmm:[0-9a-f]{12}"));
}

TEST(JiebaSegmenter, ADictionaryOfTheUserReplacesThatOfThePackage) {
  const JiebaFolder jieba;
  const std::string path = jieba.folder().write("mine.txt", "南京市长 5 n\n江大桥 5\n");
  const auto files = find_jieba({.dictionary = path, .hmm = false});
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(words(JiebaSegmenter(*files), "南京市长江大桥"), ElementsAre("南京市长", "江大桥"));
  EXPECT_THAT(JiebaSegmenter(*files).signature(), HasSubstr("|hmm:off"));
}

TEST(JiebaSegmenter, WithoutItsFilesSaysHowToGetThem) {
  const TemporaryFolder empty;
  const EnvironmentVariable folder("QFS_JIEBA_DIR", empty.path());
  const auto missing = find_jieba({});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr(empty.path()), HasSubstr("pip install jieba==0.42.1")));
  const auto dictionary = find_jieba({.dictionary = "no/such.txt"});
  ASSERT_FALSE(dictionary.ok());
  EXPECT_EQ(dictionary.error().kind, ErrorKind::not_found);
}

TEST(JiebaSegmenter, WithoutPythonSaysHowToGetThem) {
  const TemporaryFolder empty;
  const EnvironmentVariable folder("QFS_JIEBA_DIR", std::nullopt);
  const EnvironmentVariable cache("QFS_CACHE_DIR", empty.path());
  const EnvironmentVariable path("PATH", empty.path());
  const auto missing = find_jieba({});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("./bootstrap.sh jieba"));
}

TEST(JiebaSegmenter, FilesInTheCacheComeBeforeAnInstalledPackage) {
  const TemporaryFolder cached;
  const EnvironmentVariable folder("QFS_JIEBA_DIR", std::nullopt);
  const EnvironmentVariable cache("QFS_CACHE_DIR", cached.path());
  cached.write("jieba-0.42.1/dict.txt", "南京市长 5 n\n江大桥 5\n");
  const auto files = find_jieba({.hmm = false});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  EXPECT_THAT(words(JiebaSegmenter(*files), "南京市长江大桥"), ElementsAre("南京市长", "江大桥"));
}

TEST(JiebaSegmenter, AFileThatChangedAfterSigningIsAnError) {
  const JiebaFolder jieba;
  const auto files = find_jieba({});
  ASSERT_TRUE(files.ok());
  const JiebaSegmenter segmenter(*files);
  jieba.folder().write("dict.txt", "别的 1\n");
  EXPECT_THAT(words(segmenter, "会议"), ElementsAre(HasSubstr("changed while it was in use")));
}

std::string fault(std::string_view dictionary) {
  const auto parsed = JiebaDictionary::parse(dictionary, "d.txt");
  return parsed.ok() ? "" : parsed.error().to_string();
}

TEST(JiebaDictionary, MalformedLinesAreNamed) {
  EXPECT_EQ(fault("会议 5 n\n项目 3"), "");
  EXPECT_THAT(fault("会议 5\n\n项目 3\n"), HasSubstr("d.txt:2: the dictionary's line is not of"));
  EXPECT_THAT(fault("会议 five\n"), HasSubstr("frequency 'five', expected a whole number"));
  EXPECT_THAT(fault("会议 -5\n"), HasSubstr("frequency '-5'"));
  EXPECT_THAT(fault("会\xFF 5\n"), HasSubstr("is not valid UTF-8"));
  EXPECT_THAT(fault("会议 0\n"), HasSubstr("no word with a frequency above 0"));
  EXPECT_THAT(fault("a 9007199254740992\nb 1\n"), HasSubstr("sum to more than 2^53"));
}

TEST(ProbabilityTable, ReadsWhatJiebaWritesAndNothingElse) {
  const auto table = read_probability_table("P={'B': {'\\u4e00': -3.5, '一': 2e+1},}\n", 2, "p.py");
  ASSERT_TRUE(table.ok()) << table.error().to_string();
  ASSERT_EQ(table->size(), 2U);
  EXPECT_EQ((*table)[0].outer, U'B');
  EXPECT_EQ((*table)[0].inner, U'一');
  EXPECT_EQ((*table)[0].value, -3.5);
  EXPECT_EQ((*table)[1].value, 20);
  for (const char* wrong :
       {"", "P={", "P={'B'}", "P={'BB': 1}", "P={'B': x}", "P={'B': 1} and more", "P={'\\x41': 1}",
        "P={'B': nan}", "P={'B': {'a': 1}}"}) {
    const auto refused = read_probability_table(wrong, 1, "p.py");
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().where, "p.py:1") << wrong;
  }
}

}  // namespace
}  // namespace qfs::test
