// Published sets in their original files: what becomes the document, the query and the references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/readers/catalog.h"
#include "tests/support/memory_files.h"
#include "tests/support/set_samples.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;
using Document = std::vector<Segment>;

std::vector<Example> sample(const std::string& set, const std::string& split) {
  for (const test::SetSample& sample : test::set_samples()) {
    if (sample.set != set || sample.split != split) continue;
    auto read = test::read_set(set, split, sample.files);
    EXPECT_TRUE(read.ok()) << (read ? "" : read.error().to_string());
    if (read) return *read;
  }
  ADD_FAILURE() << "no sample of " << set;
  return std::vector<Example>(9);
}

TEST(HmnetMeetings, SpeakersAreRolesAndHaveALetterWhereSeveralShareOne) {
  const std::vector<Example> meetings = sample("ami", "val");
  ASSERT_EQ(meetings.size(), 2u);
  EXPECT_EQ(meetings[0].key, "M2");
  EXPECT_EQ(meetings[1].document, (Document{{"Well .", "PM"}, {"Yes", "ME B"}, {"No", "ME C"}}));
  EXPECT_EQ(meetings[1].references, Texts{"They met . They parted ."});
  EXPECT_EQ(meetings[1].query, "");
}

TEST(CiceroQuestions, AskAboutATurnAndHaveEveryRightChoice) {
  const std::vector<Example> questions = sample("cicero-v2", "test");
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[1].key, "d-1/q2") << "several questions are about a dialogue";
  EXPECT_EQ(questions[1].document_id, "d-1");
  EXPECT_EQ(questions[0].document, (Document{{"I am late .", "A"}, {"Again ?", "B"}}));
  EXPECT_EQ(questions[0].query, "Why? \"Again ?\"");
  EXPECT_EQ(questions[0].references, (Texts{"Traffic.", "He overslept."}));
  EXPECT_EQ(questions[0].evidence, (std::vector<SegmentSpan>{{1, 1}}));
  EXPECT_THAT(questions[0].extra.text, HasSubstr("A cat."));
  EXPECT_EQ(sample("cicero", "train")[0].references, Texts{"He overslept."})
      << "of v1 the answer that somebody wrote";
}

TEST(ScientificPapers, AreSentencesAndAnAbstractWithoutItsMarks) {
  const std::vector<Example> papers = sample("arxiv-summarization", "test");
  ASSERT_EQ(papers.size(), 2u);
  EXPECT_EQ(papers[1].key, "p1");
  EXPECT_EQ(papers[1].document, (Document{{"we study x .", ""}, {"it works .", ""}}));
  EXPECT_EQ(papers[1].references, Texts{"we study x .\ngood ."});
}

TEST(VcsumSegments, AreTurnsOfAMeetingUnderAHeadline) {
  const std::vector<Example> segments = sample("vcsum", "dev");
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[1].key, "7_0");
  EXPECT_EQ(segments[1].document_id, "7");
  EXPECT_EQ(segments[1].language, "zh");
  EXPECT_EQ(segments[1].query, "开始");
  EXPECT_EQ(segments[1].document, (Document{{"你好。开始。", "1"}, {"好。", "2"}}));
  EXPECT_EQ(segments[1].references, Texts{"开会。"});
}

TEST(VcsumSegments, MakeUpTheirMeeting) {
  const std::vector<Example> meetings = sample("vcsum-long", "dev");
  ASSERT_EQ(meetings.size(), 1u);
  EXPECT_EQ(meetings[0].key, "7");
  EXPECT_EQ(meetings[0].document.size(), 3u);
  EXPECT_EQ(meetings[0].document[2], (Segment{"完。", "1"}));
  EXPECT_EQ(meetings[0].references, Texts{"总结。"});
}

TEST(DialogsumDialogues, HaveThreeReferencesInTest) {
  const std::vector<Example> dialogues = sample("dialogsum", "test");
  ASSERT_EQ(dialogues.size(), 2u);
  EXPECT_EQ(dialogues[1].key, "t_0");
  EXPECT_EQ(dialogues[1].document, (Document{{"#Person1#: Hi.", ""}, {"#Person2#:Bye.", ""}}));
  EXPECT_EQ(dialogues[1].references, (Texts{"a", "b", "c"}));
  const auto dev = test::read_set("dialogsum", "dev",
                                  {{"DialogSum_Data/dialogsum.dev.jsonl",
                                    R"({"fname": "d", "dialogue": "x", "summary": "s"})"}});
  ASSERT_TRUE(dev.ok()) << dev.error().to_string();
  EXPECT_EQ(dev->front().references, Texts{"s"});
  const auto hidden = test::read_set("dialogsum", "hiddentest",
                                     {{"DialogSum_Data/dialogsum.hiddentest.dialogue.jsonl",
                                       R"({"fname": "h", "dialogue": "x"})"}});
  ASSERT_TRUE(hidden.ok()) << hidden.error().to_string();
  EXPECT_EQ(hidden->front().references, Texts{});
}

TEST(GovernmentReports, AreReadInBothForms) {
  const std::vector<Example> records = sample("govreport", "val");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].key, "val-1");
  EXPECT_EQ(records[1].key, "g2");
  EXPECT_EQ(records[1].references, Texts{"S two."});
  const std::vector<Example> lines = sample("govreport", "test");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].key, "test-2");
  EXPECT_EQ(lines[1].document, (Document{{"R two.", ""}}));
  EXPECT_EQ(lines[1].references, Texts{"S two."});
}

TEST(ColaSentences, AreAcceptableOrNot) {
  const std::vector<Example> sentences = sample("cola", "dev");
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_EQ(sentences[0].key, "in_domain_dev-1");
  EXPECT_EQ(sentences[0].references, Texts{"acceptable"});
  EXPECT_EQ(sentences[2].key, "out_of_domain_dev-1");
  EXPECT_EQ(sentences[2].document, (Document{{"The rain \"rained", ""}}));
  EXPECT_EQ(sentences[2].references, Texts{"unacceptable"});
  EXPECT_EQ(sentences[2].extra.text, R"({"mark":"??","source":"cj99"})");
}

TEST(CslAbstracts, HaveTheirTitleAsReference) {
  const std::vector<Example> papers = sample("csl", "test");
  ASSERT_EQ(papers.size(), 2u);
  EXPECT_EQ(papers[1].document, (Document{{"摘要二。", ""}}));
  EXPECT_EQ(papers[1].references, Texts{"题二"});
  EXPECT_EQ(papers[1].language, "zh");
}

TEST(ClcvVerdicts, AreTheReferencesOfIndictments) {
  const std::vector<Example> cases = sample("clcv", "test");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].document, (Document{{"诉二。", ""}}));
  EXPECT_EQ(cases[1].references, Texts{"判二。"});
  EXPECT_EQ(cases[1].query, "");
  EXPECT_EQ(cases[1].language, "zh");
}

TEST(XsumArticles, AreThoseOfTheSplitInItsOrder) {
  const std::vector<Example> articles = sample("xsum", "val");
  ASSERT_EQ(articles.size(), 2u);
  EXPECT_EQ(articles[0].key, "12");
  EXPECT_EQ(articles[1].document, (Document{{"Much.", ""}, {"More.", ""}}));
  EXPECT_EQ(articles[1].references, Texts{"It rains."});
}

TEST(DucClusters, AreDocumentsUnderATopicWithAllModelSummaries) {
  const std::vector<Example> topics = sample("duc-2007", "test");
  ASSERT_EQ(topics.size(), 2u);
  EXPECT_EQ(topics[0].key, "D0701A");
  EXPECT_EQ(topics[0].query, "Rain: Why does it rain?");
  EXPECT_EQ(topics[0].document, (Document{{"Headed", ""},
                                          {"Clouds & wind.", ""},
                                          {"between", ""},
                                          {"Rain.", ""},
                                          {"One line.", ""},
                                          {"Another.", ""}}));
  EXPECT_EQ(topics[0].references, (Texts{"It rains.\nOften.", "Rain."}));
  EXPECT_EQ(topics[0].extra.text,
            R"({"documents":[{"first":0,"name":"APW1"},{"first":4,"name":"XIE1"}]})");
  EXPECT_EQ(topics[1].references, Texts{"Sun."});
}

class CatalogOfFileSets : public ::testing::Test {
 protected:
  auto load(const DatasetRequest& request) const {
    return make_catalog({folder_ / "program", {folder_ / "none", folder_ / "sets"}})->load(request);
  }
  test::TemporaryFolder folder_;
};

TEST_F(CatalogOfFileSets, ASetThatCannotBeFetchedSaysWhatToPutWhere) {
  const auto absent = load(named("govreport"));
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(absent.error().message,
            "data set 'govreport' is not on this machine (looked in " +
                (folder_ / "none/govreport") + ", " + (folder_ / "sets/govreport") +
                "); it cannot be fetched; put SPLIT.source and SPLIT.target with a text a line, or "
                "SPLIT.jsonl with \"report\" and \"summary\" there");
  folder_.write("sets/govreport/train.source", "x\n");
  const auto incomplete = load(named("govreport"));
  ASSERT_FALSE(incomplete.ok());
  EXPECT_EQ(incomplete.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(incomplete.error().where, folder_ / "sets/govreport/test.source");
  EXPECT_THAT(incomplete.error().message, HasSubstr("SPLIT.jsonl"));
}

TEST_F(CatalogOfFileSets, FilesThatNobodyPinnedAreInTheManifestWithTheirDigests) {
  for (const test::SetSample& sample : test::set_samples()) {
    if (sample.set != "duc-2007") continue;
    for (const auto& [path, text] : sample.files) folder_.write("sets/duc-2007/" + path, text);
  }
  const auto loaded = load(named("duc-2007"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  const DatasetManifest& manifest = (*loaded)->manifest;
  EXPECT_TRUE(manifest.no_redistribution);
  EXPECT_EQ(manifest.reader, "duc@2");
  ASSERT_EQ(manifest.files.size(), 7u);
  EXPECT_EQ(manifest.files[0].name, "docs/D0701A/APW1");
  EXPECT_EQ((*loaded)->examples[0].group, "D0701A");
  EXPECT_EQ((*loaded)->examples[0].document_id, "D0701A");
  const auto rows = load(named("duc-2007", {.view = "per_reference"}));
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)->examples.size(), 3u);
  EXPECT_EQ((*rows)->examples[1].key, "D0701A/r2");
  folder_.write("sets/duc-2007/models/D0701.M.250.A.C", "Other words.");
  EXPECT_NE((*load(named("duc-2007")))->id, (*loaded)->id);
}

TEST_F(CatalogOfFileSets, DylesFormIsPiecesOfSentencesWithoutWhatItLeavesOut) {
  std::string report;
  for (const char* number : {"one", "two", "three", "four", "five", "six", "seven", "eight"}) {
    report += std::string("Number ") + number + "! ";
  }
  std::string words = "W";
  for (int i = 1; i < 65; ++i) words += " w";
  const std::string second = "Mr. Roe (\"No.\") left " + report + words + ".";
  folder_.write("sets/govreport/test.source", report + "\n" + second + "\n");
  folder_.write("sets/govreport/test.target", "Short.\nIt didn't work.\n");
  EXPECT_EQ((*load(named("govreport")))->examples.size(), 2u);
  const auto reports = load(named("govreport", {.text_form = "dyle"}));
  ASSERT_TRUE(reports.ok()) << reports.error().to_string();
  EXPECT_EQ((*reports)->manifest.text_form, "dyle@2");
  ASSERT_EQ((*reports)->examples.size(), 1u) << "the first has eight pieces, not ten";
  const Example& kept = (*reports)->examples.front();
  EXPECT_EQ(kept.key, "test-2");
  EXPECT_EQ(kept.references, Texts{"it did n't work ."});
  ASSERT_EQ(kept.document.size(), 11u);
  EXPECT_EQ(kept.document[0].text, "mr. roe ( `` no . ``") << "tokenized twice, as released";
  EXPECT_EQ(kept.document[1].text, ") left number one !");
  EXPECT_EQ(kept.document[9].text.size(), 64 * 2 - 1);
  EXPECT_EQ(kept.document[10].text, "w .");

  folder_.write(
      "sets/scientific_papers/arxiv-dataset/test.txt",
      R"({"article_id": "a", "article_text": ["It works."], "abstract_text": ["<S> a. </S>"]})"
      "\n"
      R"({"article_id": "b", "article_text": ["It works.", "We show."], "abstract_text": ["<S> It works. </S>", "<S> Well. </S>"]})"
      "\n");
  const auto papers = load(named("arxiv-summarization", {.text_form = "dyle"}));
  ASSERT_TRUE(papers.ok()) << papers.error().to_string();
  ASSERT_EQ((*papers)->examples.size(), 1u);
  EXPECT_EQ((*papers)->examples[0].document, (Document{{"it works .", ""}, {"we show .", ""}}));
  EXPECT_EQ((*papers)->examples[0].references, Texts{"it works . well ."});
}

TEST_F(CatalogOfFileSets, SetsOfOneFolderArePinnedEachByItsOwnName) {
  std::string text;
  for (const test::SetSample& sample : test::set_samples()) {
    if (sample.set == "cicero-v2") text = sample.files.begin()->second;
  }
  folder_.write("program/registry.json",
                R"({"sets": [{"name": "cicero-v2", "folder": "cicero", "licence": "MIT",
                    "source": "here", "base_url": "https://x.org/", "files": [
                    {"path": "v2/data/test.json", "bytes": 1, "sha256": ")" +
                    sha256_hex(text) + R"("}]}]})");
  folder_.write("sets/cicero/v2/data/test.json", text);
  const auto loaded = load(named("cicero-v2"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->manifest.source, "here");
  const auto other = load(named("cicero-v2", {.split = "val"}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "'v2/data/val.json' of data set 'cicero-v2' is not pinned");
  folder_.write("sets/cicero/v2/data/test.json", text + " ");
  EXPECT_EQ(load(named("cicero-v2")).error().kind, ErrorKind::data);
}

}  // namespace
}  // namespace qfs::datasets
