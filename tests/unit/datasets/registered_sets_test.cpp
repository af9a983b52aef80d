// QMSum, SQuALITY and CovidET from small files of their formats: names, views, places of defects,
// absence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/readers/catalog.h"
#include "datasets/readers/covidet.h"
#include "datasets/readers/qmsum.h"
#include "datasets/readers/squality.h"
#include "harness/core/sha256.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kMeeting =
    R"({"general_query_list": [{"query": "All?", "answer": "Yes."}], "specific_query_list": [], )"
    R"("meeting_transcripts": [{"speaker": "A", "content": "x"}]})";

constexpr std::string_view kStory =
    R"({"metadata": {"passage_id": "61"}, "document": "One.\nline\n \nTwo.", "questions": [)"
    R"({"question_text": "Plot?", "question_number": 1, "responses": [)"
    R"({"response_text": "r1"}, {"response_text": "r2"}]}, )"
    R"({"question_text": "Who?", "question_number": 2, "responses": [{"response_text": "r3"}]}]})";

TEST(QmsumLines, MeetingsAreNamedByTheirLine) {
  std::string text = std::string(kMeeting) + "\n\n" + std::string(kMeeting) + "\r\n";
  Result<std::vector<Meeting>> meetings = parse_meeting_lines(text, "val", "v.jsonl");
  ASSERT_TRUE(meetings.ok()) << meetings.error().to_string();
  ASSERT_EQ(meetings->size(), 2u);
  EXPECT_EQ((*meetings)[0].id, "val-001");
  EXPECT_EQ((*meetings)[1].id, "val-003");
}

TEST(QmsumLines, DefectsAreAtFileLineAndPointer) {
  std::string text = std::string(kMeeting) + "\n{\"meeting_transcripts\": [{}]}\n";
  Result<std::vector<Meeting>> meetings = parse_meeting_lines(text, "val", "v.jsonl");
  ASSERT_FALSE(meetings.ok());
  EXPECT_EQ(meetings.error().where, "v.jsonl:2#/meeting_transcripts/0");
  meetings = parse_meeting_lines(std::string(kMeeting) + "\n{oops\n", "val", "v.jsonl");
  ASSERT_FALSE(meetings.ok());
  EXPECT_EQ(meetings.error().kind, ErrorKind::data);
  EXPECT_THAT(meetings.error().where, HasSubstr("v.jsonl:2:"));
}

TEST(QmsumDomains, AreToldByTheSpeakers) {
  const auto of = [](const std::vector<std::string>& speakers) {
    Meeting meeting;
    for (const std::string& speaker : speakers) meeting.turns.push_back({"x", speaker});
    return domain_of(meeting);
  };
  EXPECT_EQ(of({"Project Manager", "Marketing"}), MeetingDomain::product);
  EXPECT_EQ(of({"PhD B", "Grad A", "Postdoc Z"}), MeetingDomain::academic);
  EXPECT_EQ(of({"PhD B", "Professor Jones"}), MeetingDomain::committee);
  EXPECT_EQ(of({"Marketing", "Ann"}), MeetingDomain::committee);
  EXPECT_EQ(of({"The Chair A"}), MeetingDomain::committee);
  EXPECT_EQ(of({"PhD"}), MeetingDomain::committee);
  EXPECT_EQ(of({}), MeetingDomain::committee);
}

TEST(SqualityStories, WholeViewGivesOneExamplePerQuestionWithAllReferences) {
  Result<std::vector<Example>> examples = parse_stories(kStory, ReferenceView::whole, "s.jsonl");
  ASSERT_TRUE(examples.ok()) << examples.error().to_string();
  ASSERT_EQ(examples->size(), 2u);
  EXPECT_EQ((*examples)[0].key, "61/q1");
  EXPECT_EQ((*examples)[0].document_id, "61");
  EXPECT_EQ((*examples)[0].references, (std::vector<std::string>{"r1", "r2"}));
  EXPECT_EQ((*examples)[0].document, (std::vector<Segment>{{"One.\nline\n ", ""}, {"Two.", ""}}));
  EXPECT_EQ(rendered_document((*examples)[0]), "One.\nline\n \nTwo.");
}

TEST(SqualityStories, PerReferenceViewGivesOneRowPerResponseInOneGroup) {
  Result<std::vector<Example>> rows =
      parse_stories(kStory, ReferenceView::per_reference, "s.jsonl");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ((*rows)[1].key, "61/q1/r2");
  EXPECT_EQ((*rows)[1].group, "61/q1");
  EXPECT_EQ((*rows)[1].references, std::vector<std::string>{"r2"});
  EXPECT_EQ((*rows)[2].group, "61/q2");
}

TEST(SqualityStories, DefectsAreAtFileLineAndPointer) {
  std::string twice = std::string(kStory) + "\n" + std::string(kStory);
  Result<std::vector<Example>> examples = parse_stories(twice, ReferenceView::whole, "s.jsonl");
  ASSERT_FALSE(examples.ok());
  EXPECT_EQ(examples.error().where, "s.jsonl:2#/questions/0");
  EXPECT_EQ(examples.error().message, "question 1 of passage '61' is there twice");
  examples = parse_stories(R"({"metadata": {"passage_id": "1"}, "document": "x", "questions": [)"
                           R"({"question_text": "?", "question_number": "1"}]})",
                           ReferenceView::whole, "s.jsonl");
  ASSERT_FALSE(examples.ok());
  EXPECT_EQ(examples.error().where, "s.jsonl:1#/questions/0/question_number");
  examples = parse_stories(R"({"metadata": {}, "document": "x"})", ReferenceView::whole, "s.jsonl");
  ASSERT_FALSE(examples.ok());
  EXPECT_EQ(examples.error().where, "s.jsonl:1#/metadata");
}

class RegisteredSetTest : public ::testing::Test {
 protected:
  RegisteredSetTest() {
    folder_.write("program/registry.json",
                  R"({"sets": [{"name": "qmsum", "licence": "MIT", "source": "here",
                      "base_url": "https://x.org/", "files": [
                      {"path": "data/ALL/train/B1.json", "bytes": )" +
                      std::to_string(kMeeting.size()) + R"(, "sha256": ")" + sha256_hex(kMeeting) +
                      R"("}]}]})");
  }
  Result<std::shared_ptr<const Dataset>> load() const {
    return make_catalog({folder_ / "program", {folder_ / "none", folder_ / "sets"}})
        ->load(named("qmsum", {.split = "train"}));
  }
  test::TemporaryFolder folder_;
};

TEST_F(RegisteredSetTest, TrainMeetingsAreNamedByTheirFile) {
  folder_.write("sets/qmsum/data/ALL/train/B1.json", kMeeting);
  auto loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->examples[0].key, "B1/g1");
  EXPECT_EQ((*loaded)->manifest.files[0].name, "data/ALL/train/B1.json");
  EXPECT_EQ((*loaded)->manifest.source, "here");
}

TEST_F(RegisteredSetTest, AnAbsentSetSaysWhereItLookedAndHowToGetIt) {
  auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(loaded.error().message,
            "data set 'qmsum' is not on this machine (looked in " + (folder_ / "none/qmsum") +
                ", " + (folder_ / "sets/qmsum") +
                "); get it with `qfs-bench data fetch qmsum`, or from a folder with `qfs-bench "
                "data fetch qmsum --from DIR`");
}

TEST_F(RegisteredSetTest, AnIncompleteSetNamesTheFileAndTheCommand) {
  folder_.write("sets/qmsum/README", "");
  auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(loaded.error().to_string(), HasSubstr("data/ALL/train/B1.json"));
  EXPECT_THAT(loaded.error().message, HasSubstr("`qfs-bench data fetch qmsum`"));
}

TEST_F(RegisteredSetTest, AChangedFileIsADataError) {
  std::string path =
      folder_.write("sets/qmsum/data/ALL/train/B1.json", std::string(kMeeting) + " ");
  auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::data);
  EXPECT_EQ(loaded.error().where, path);
  EXPECT_THAT(loaded.error().message, HasSubstr("expected " + sha256_hex(kMeeting)));
}

/// Eleven posts, so that "10" has to come after "2"; only the first one has two annotators.
std::string posts(const std::string& first_annotations) {
  std::string text = R"({"0": {"Reddit ID": "x", "Time Created": "t", "Reddit Post": "p0", )"
                     R"("Annotations": )" +
                     first_annotations + "}";
  for (int i = 1; i < 11; ++i) {
    const std::string number = std::to_string(i);
    text += ", \"" + number + R"(": {"Reddit Post": "p)" + number +
            R"(", "Annotations": {"Annotation 0 | Worker ID = A": )" +
            R"([{"Emotion": "joy", "Abstractive": "s"}]}})";
  }
  return text + "}";
}

const char* const kTwoAnnotators =
    R"({"Annotation 1 | Worker ID = B": [{"Emotion": "NA"}, {"Emotion": "fear", "Abstractive": " b "}], )"
    R"("Annotation 0 | Worker ID = A": [{"Emotion": "joy", "Abstractive": "j"}, )"
    R"({"Emotion": "fear", "Abstractive": "a"}]})";

TEST(CovidetPosts, APairOfPostAndEmotionIsAQuestionWithItsAnnotatorsSummaries) {
  const auto examples = parse_posts(posts(kTwoAnnotators), "val", ReferenceView::whole, "c.json");
  ASSERT_TRUE(examples.ok()) << examples.error().to_string();
  ASSERT_EQ(examples->size(), 12u);
  EXPECT_EQ((*examples)[0].key, "val-0/joy");
  EXPECT_EQ((*examples)[1].key, "val-0/fear");
  EXPECT_EQ((*examples)[1].query, "fear");
  EXPECT_EQ((*examples)[1].references, (std::vector<std::string>{"a", " b "}));
  EXPECT_EQ((*examples)[1].document, (std::vector<Segment>{{"p0", ""}}));
  EXPECT_EQ((*examples)[3].document_id, "val-2") << "posts are in the order of their numbers";
  EXPECT_EQ((*examples)[11].document_id, "val-10");
}

TEST(CovidetPosts, PerReferenceViewGivesOneRowPerSummaryInOneGroup) {
  const auto rows =
      parse_posts(posts(kTwoAnnotators), "val", ReferenceView::per_reference, "c.json");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 13u);
  EXPECT_EQ((*rows)[2].key, "val-0/fear/r2");
  EXPECT_EQ((*rows)[2].group, "val-0/fear");
  EXPECT_EQ((*rows)[2].references, (std::vector<std::string>{" b "}));
}

TEST(CovidetPosts, DefectsAreAtFileAndPointer) {
  const auto place_of = [](const std::string& text) {
    const auto examples = parse_posts(text, "val", ReferenceView::whole, "c.json");
    EXPECT_FALSE(examples.ok());
    return examples.ok() ? "" : examples.error().where;
  };
  const std::string annotation = "Annotation 0 | x";
  EXPECT_EQ(place_of(posts("{\"" + annotation + R"(": [{"Emotion": "fear"}]})")),
            "c.json#/0/Annotations/Annotation 0 | x/0");
  EXPECT_EQ(
      place_of(posts("{\"" + annotation + R"(": [{"Emotion": "feer", "Abstractive": "s"}]})")),
      "c.json#/0/Annotations/Annotation 0 | x/0/Emotion");
  EXPECT_EQ(place_of(posts(R"({"first": []})")), "c.json#/0/Annotations/first");
  EXPECT_EQ(place_of(R"({"1": {}})"), "c.json");
  EXPECT_EQ(place_of("[]"), "c.json");
  EXPECT_EQ(place_of(R"({"0": {"Reddit Post": 3}})"), "c.json#/0/Reddit Post");
}

}  // namespace
}  // namespace qfs::datasets
