// Broken records of every published format: each is a `data` error at its file and line, or at the
// JSON pointer inside it.
//
// A sample of tests/support/set_samples.h is broken in one place at a time. For JSON lines every
// field is left out and is given another type; what else can be wrong stands in tables.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/memory_files.h"
#include "tests/support/set_samples.h"

namespace qfs::datasets {
namespace {

using nlohmann::json;

test::SetSample sample_of(const std::string& set, const std::string& split) {
  for (test::SetSample& sample : test::set_samples()) {
    if (sample.set == set && sample.split == split) return std::move(sample);
  }
  ADD_FAILURE() << "no sample of " << set;
  return {};
}

/// The sample with another text in the file that is broken.
void expect_broken(const test::SetSample& sample, const std::string& text, const std::string& where,
                   const std::string& what) {
  std::map<std::string, std::string> files = sample.files;
  files[sample.path] = text;
  const auto read = test::read_set(sample.set, sample.split, files);
  ASSERT_FALSE(read.ok()) << sample.set << ": " << what << " is read";
  EXPECT_EQ(read.error().kind, ErrorKind::data) << sample.set << ": " << what;
  EXPECT_EQ(read.error().where, where)
      << sample.set << ": " << what << ": " << read.error().message;
  EXPECT_FALSE(read.error().message.empty());
}

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(lines, line);
  return line;
}

std::string with_line(const std::string& text, int number, const std::string& line) {
  std::istringstream lines(text);
  std::string out;
  std::string own;
  for (int i = 1; std::getline(lines, own); ++i) out += (i == number ? line : own) + "\n";
  return out;
}

struct JsonFormat {
  std::string set;
  std::string split;
  std::vector<std::string> fields;    ///< that a record must have, of their type
  std::vector<std::string> elements;  ///< of lists, which must be of their type
};

class BrokenJsonLines : public ::testing::TestWithParam<JsonFormat> {};

TEST_P(BrokenJsonLines, AreErrorsAtTheirLineAndPointer) {
  const JsonFormat& format = GetParam();
  const test::SetSample sample = sample_of(format.set, format.split);
  const std::string good = sample.files.at(sample.path);
  const std::string record = line_of(good, sample.line);
  const std::string line = sample.path + ":" + std::to_string(sample.line);
  int broken = 0;
  const auto expect = [&](const std::string& text, const std::string& where,
                          const std::string& what) {
    expect_broken(sample, with_line(good, sample.line, text), where, what);
    ++broken;
  };
  const auto column = [&](size_t at) { return line + ":" + std::to_string(at); };
  for (const std::string& field : format.fields) {
    const json::json_pointer pointer(field);
    const std::string parent = pointer.parent_pointer().to_string();
    json without = json::parse(record);
    without[pointer.parent_pointer()].erase(pointer.back());
    expect(without.dump(), parent.empty() ? line : line + "#" + parent, field + " left out");
  }
  for (const std::vector<std::string>* places : {&format.fields, &format.elements}) {
    for (const std::string& field : *places) {
      json other = json::parse(record);
      other[json::json_pointer(field)] = true;
      expect(other.dump(), line + "#" + field, field + " of another type");
    }
  }
  expect("true", line, "no object");
  expect("[]", line, "a list");
  expect("\"text\"", line, "a text");
  expect("{\"a\": 1, \"a\": 2}", column(10), "a key that is there twice");
  expect("{", column(2), "an object that does not end");
  expect("{} {}", column(4), "two objects");
  expect("{'a': 1}", column(2), "single quotes");
  expect("{\"a\": NaN}", column(7), "no number");
  expect("{\"a\": \"\xC3(\"}", line, "ill-formed UTF-8");
  expect(std::string(80, '['), column(65), "lists in lists");
  std::cout << format.set << ": " << broken << " broken records\n";
}

INSTANTIATE_TEST_SUITE_P(
    AllFormats, BrokenJsonLines,
    ::testing::Values(
        JsonFormat{"ami",
                   "val",
                   {"/id", "/meeting", "/meeting/0/speaker", "/meeting/1/role", "/meeting/0/utt",
                    "/meeting/2/utt/word", "/summary"},
                   {"/meeting/1", "/meeting/1/utt/word/0", "/summary/1"}},
        JsonFormat{"cicero-v2",
                   "test",
                   {"/ID", "/Dialogue", "/Target", "/Question", "/Choices", "/Correct Answers"},
                   {"/Dialogue/1", "/Choices/2", "/Correct Answers/0"}},
        JsonFormat{"cicero", "train", {"/Human Written Answer"}, {"/Human Written Answer/0"}},
        JsonFormat{"arxiv-summarization",
                   "test",
                   {"/article_id", "/article_text", "/abstract_text"},
                   {"/article_text/1", "/abstract_text/0"}},
        JsonFormat{"vcsum",
                   "dev",
                   {"/id", "/context", "/speaker", "/discussion", "/agenda"},
                   {"/context/1", "/context/0/1", "/speaker/1"}},
        JsonFormat{"vcsum-long", "dev", {"/id", "/summary"}, {}},
        JsonFormat{"dialogsum",
                   "test",
                   {"/fname", "/dialogue", "/summary1", "/summary2", "/summary3"},
                   {}},
        JsonFormat{"clcv", "test", {"/indictment", "/judgment"}, {}},
        JsonFormat{"govreport", "val", {"/report", "/summary"}, {"/id"}}),
    [](const auto& info) {
      std::string name = info.param.set;
      std::ranges::replace(name, '-', '_');
      return name;
    });

struct Break {
  std::string from;  ///< of the text, its first place
  std::string to;
  std::string where;
  std::string says;
};

void expect_breaks(const std::string& set, const std::string& split,
                   const std::vector<Break>& breaks, const std::string& path = "") {
  test::SetSample sample = sample_of(set, split);
  if (!path.empty()) sample.path = path;
  const std::string good = sample.files.at(sample.path);
  for (const Break& change : breaks) {
    const size_t at = good.find(change.from);
    ASSERT_NE(at, std::string::npos) << change.from;
    std::string text = good;
    text.replace(at, change.from.size(), change.to);
    std::map<std::string, std::string> files = sample.files;
    files[sample.path] = text;
    const auto read = test::read_set(set, split, files);
    ASSERT_FALSE(read.ok()) << change.says;
    EXPECT_EQ(read.error().kind, ErrorKind::data) << read.error().to_string();
    EXPECT_EQ(read.error().where, change.where) << read.error().message;
    EXPECT_NE(read.error().message.find(change.says), std::string::npos) << read.error().message;
  }
}

TEST(BrokenRecords, OfJsonFormatsThatHaveTheRightTypes) {
  expect_breaks("ami", "val",
                {{"\"M1\"", "\"M2\"", "AMI_proprec/dev/split_0.jsonl.gz:2", "already that of"}});
  const std::string cicero = "v2/data/test.json:1#/Correct Answers";
  expect_breaks("cicero-v2", "test",
                {{"[0, 2]", "[3]", cicero + "/0", "one of the 3 choices"},
                 {"[0, 2]", "[0, -1]", cicero + "/1", "from 0"},
                 {"[0, 2]", "[0.5]", cicero + "/0", "from 0"},
                 {"[0, 2]", "[]", cicero, "no choice is right"}});
  expect_breaks("cicero", "train",
                {{"\"Human Written Answer\": [2]", "\"Human Written Answer\": [9]",
                  "v1/data/train.json:1#/Human Written Answer/0", "choices"}});
  expect_breaks("arxiv-summarization", "test",
                {{"\"p1\"", "\"p2\"", "arxiv-dataset/test.txt:2", "already that of"}});
  const std::string segment = "vcsum_data/short_dev.txt";
  expect_breaks("vcsum", "dev",
                {{"7_0", "7", segment + ":2#/id", "such as \"13_0\""},
                 {"7_0", "_0", segment + ":2#/id", "such as \"13_0\""},
                 {"7_0", "7_1", segment + ":2", "already that of"},
                 {"[1, 2]", "[1]", segment + ":2#/speaker", "1 speakers of 2 turns"},
                 {"[1, 2]", "[1, \"2\"]", segment + ":2#/speaker/1", "number of a speaker"}});
  expect_breaks("vcsum-long", "dev",
                {{"\"7\"", "\"8\"", "vcsum_data/long_dev.txt:2#/id", "no segment of meeting '8'"}});
  expect_breaks("dialogsum", "test",
                {{"t_0", "t_1", "DialogSum_Data/dialogsum.test.jsonl:2", "already that of"},
                 {"\"t_0\"", "\"\"", "DialogSum_Data/dialogsum.test.jsonl:2", "must not be empty"},
                 {"\"c\"", "[1]", "DialogSum_Data/dialogsum.test.jsonl:2#/summary3/0", "text"},
                 {"\"c\"", "null", "DialogSum_Data/dialogsum.test.jsonl:2", "'summary3'"}});
  expect_breaks("govreport", "val", {{"g2", "val-1", "valid.jsonl:2", "already that of"}});
}

TEST(BrokenRecords, OfLinesThatBelongTogether) {
  const std::string shorter = "nothing belongs to this line: test.target has 2 lines";
  expect_breaks("govreport", "test",
                {{"S three.", "", "test.source:3", shorter},
                 {"S one.\r\n", "", "test.source:3", shorter},
                 {"S three.", "S three.\nS four.", "test.target:4", "test.source has 3 lines"},
                 {"S three.", "S three.\n\n", "test.target:4", "test.source has 3 lines"},
                 {"S two.", "", "test.target:2", "an empty line"},
                 {"S two.", " \t", "test.target:2", "an empty line"},
                 {"S two.", "S\xFF", "test.target:2", "ill-formed UTF-8"}});
  expect_breaks("govreport", "test",
                {{"R one.", "", "test.source:1", "an empty line"},
                 {"R three.\n", "", "test.target:3", "test.source has 2 lines"},
                 {"R two.\n", "R two.\n\n", "test.source:4", "test.target has 3 lines"},
                 {"R two.", "R two.\nR 2b.", "test.source:4", "test.target has 3 lines"},
                 {"R three.", "\xED\xA0\x80", "test.source:3", "ill-formed UTF-8"}},
                "test.source");
  test::SetSample sample = sample_of("govreport", "test");
  sample.files["test.jsonl"] = "{}";
  const auto both = test::read_set("govreport", "test", sample.files);
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().message,
            "the split 'test' is there twice, as test.source and test.jsonl; keep one");
}

TEST(BrokenRecords, OfColumns) {
  const std::string cola = "cola_public/raw/in_domain_dev.tsv";
  expect_breaks("cola", "dev",
                {{"gj04\t1\t\tIt", "gj04\t2\t\tIt", cola + ":1", "found '2'"},
                 {"gj04\t1\t\tIt", "gj04\t\t\tIt", cola + ":1", "found ''"},
                 {"gj04\t1\t\tIt", "gj04\t 1\t\tIt", cola + ":1", "found ' 1'"},
                 {"gj04\t1\t\tIt", "gj04\tyes\t\tIt", cola + ":1", "found 'yes'"},
                 {"gj04\t1\t\tIt", "gj04\t1\tIt", cola + ":1", "3 cells under a header of 4"},
                 {"gj04\t1\t\tIt", "gj04 1  It", cola + ":1", "1 cells"},
                 {"\t*\tRained", "\t*\tRai\tned", cola + ":2", "5 cells"},
                 {"\t*\tRained", "\t*\tRai\nned", cola + ":3", "1 cells"},
                 {"\t*\tRained", "Rained", cola + ":2", "2 cells"},
                 {"It rained", "It \xC0\xAF", cola + ":1", "ill-formed UTF-8"},
                 {"it did", "\xE9", cola + ":2", "ill-formed UTF-8"}});
  const std::string second = "cola_public/raw/out_of_domain_dev.tsv";
  expect_breaks("cola", "dev",
                {{"cj99\t0", "cj99\t-1", second + ":1", "found '-1'"},
                 {"cj99\t0", "cj99\t0.0", second + ":1", "found '0.0'"},
                 {"cj99\t0", "\n\ncj99\tO", second + ":3", "found 'O'"},
                 {"cj99\t", "cj99,", second + ":1", "3 cells"},
                 {"rained", "rained\nend", second + ":2", "1 cells"},
                 {"rained", "\xF5", second + ":1", "ill-formed UTF-8"}},
                second);
  const std::string csl = "benchmark/ts/test.tsv";
  expect_breaks("csl", "test",
                {{"\t题二", "", csl + ":2", "2 cells under a header of 3"},
                 {"\t题二", "\t题\t二", csl + ":2", "4 cells under a header of 3"},
                 {"to title\t摘要一。", "摘要一。", csl + ":1", "2 cells"},
                 {"题一", "题\n一", csl + ":2", "1 cells"},
                 {"题一", "\xE9\xA2", csl + ":1", "ill-formed UTF-8"}});
}

TEST(BrokenRecords, OfArticlesInSections) {
  const std::string article = "bbc-summary-data/11.summary";
  expect_breaks("xsum", "val",
                {{"[SN]FIRST-SENTENCE[SN]", "[SN]FIRST[SN]", article, "no section [SN]FIRST-SENT"},
                 {"[SN]FIRST-SENTENCE[SN]", "", article, "no section"},
                 {"[SN]RESTBODY[SN]", "[SN]RESTBODY", article, "no section [SN]RESTBODY[SN]"},
                 {"[SN]RESTBODY[SN]", "[SN]restbody[SN]", article, "no section"},
                 {"[SN]RESTBODY[SN]", "x [SN]RESTBODY[SN]", article + ":10", "begin a line"},
                 {"It rains.", " \n", article + ":7", "is empty"},
                 {"Much.\nMore.\n", "", article + ":10", "is empty"},
                 {"More.", "More.\n[SN]RESTBODY[SN]\nAgain.", article + ":13", "there twice"},
                 {"It rains.", "It \x80", article + ":8", "ill-formed UTF-8"}});
  const std::string splits = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json";
  const std::string ids = splits + "#/validation";
  expect_breaks("xsum", "val",
                {{"\"validation\"", "\"valid\"", splits, "did you mean 'valid'?"},
                 {"[\"12\", \"11\"]", "{}", ids, "a list of texts"},
                 {"[\"12\", \"11\"]", "null", ids, "found null"},
                 {"\"11\"", "11", ids + "/1", "found a number"},
                 {"\"11\"", "\"\"", ids + "/1", "the number of an article"},
                 {"\"11\"", "\"../11\"", ids + "/1", "found '../11'"},
                 {"\"11\"", "\"12\"", ids + "/1", "already that of"},
                 {"\"11\"", "[]", ids + "/1", "found a list"},
                 {"{\"train\"", "[\"train\"", splits + ":1:9", "JSON"},
                 {"\"test\": []", "\"test\": [],", splits + ":1:57", "JSON"},
                 {"\"test\": []", "\"train\": []", splits + ":1:46", "train"}},
                splits);
}

TEST(BrokenRecords, OfTopicsDocumentsAndModels) {
  expect_breaks(
      "duc-2007", "test",
      {{"<num> D0701A </num>", "", "topics.sgml:1", "one <num>, found 0"},
       {"<title> Rain </title>", "", "topics.sgml:1", "one <title>, found 0"},
       {"<title> Rain </title>", "<title>a</title><title>b</title>", "topics.sgml:1", "found 2"},
       {"<narr>When?</narr>", "", "topics.sgml:9", "one <narr>, found 0"},
       {" D0701A ", " ", "topics.sgml:2", "<num> is empty"},
       {"When?", "<b></b>", "topics.sgml:12", "<narr> is empty"},
       {" D0701A ", "../D0701A", "topics.sgml:1", "a topic's number"},
       {" D0701A ", "D*", "topics.sgml:1", "a topic's number"},
       {" D0701A ", "D0709A", "topics.sgml:1", "no document of the topic in docs/D0709A"},
       {"d0702b", "D0701A", "topics.sgml:9", "already that of topics.sgml:1"},
       {"</topic>\n<topic>", "", "topics.sgml:1", "found 2"},
       {"</narr>\n</topic>\n<topic>\n<num>d", "</narr>\n<num>d", "topics.sgml:1", "found 2"},
       {"When?</narr>\n</topic>", "When?</narr>", "topics.sgml:9", "<topic> is never closed"},
       {"</title>\n<narr>When?", "\n<narr>When?", "topics.sgml:11", "<title> is never closed"},
       {"Rain", "\xFF", "topics.sgml:3", "ill-formed UTF-8"}});
  expect_breaks("duc-2007", "test",
                {{"<TEXT>", "", "docs/D0701A/APW1", "without <TEXT>"},
                 {"</TEXT>", "", "docs/D0701A/APW1:3", "<TEXT> is never closed"},
                 {"Rain.</P>", "Rain.", "docs/D0701A/APW1:8", "<P> is never closed"},
                 {"Clouds", "\xA0", "docs/D0701A/APW1:5", "ill-formed UTF-8"}},
                "docs/D0701A/APW1");
  expect_breaks("duc-2007", "test", {{"Sun.", " \n ", "docs/d0702b/APW2", "without <TEXT>"}},
                "docs/d0702b/APW2");
  expect_breaks("duc-2007", "test",
                {{"Rain.", "R\xE9sum\xE9", "models/D0701.M.250.A.C:1", "ill-formed UTF-8"}},
                "models/D0701.M.250.A.C");
  test::SetSample sample = sample_of("duc-2007", "test");
  sample.files.erase("models/D0702.M.250.B.A");
  const auto without = test::read_set("duc-2007", "test", sample.files);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().to_string(), "topics.sgml:9: no model summary of the topic in models/");
  sample.files["topics.sgml"] = "<TOPIC>";
  EXPECT_EQ(test::read_set("duc-2007", "test", sample.files).error().to_string(),
            "topics.sgml: no <topic>");
}

}  // namespace
}  // namespace qfs::datasets
