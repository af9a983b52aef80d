// RougeScorer against rouge_score 0.1.2 on real references: SQuALITY dev (each response against the
// other three) and QMSum answers (each against the next). Expected values: make_rouge_expected.py.
#include "tests/conformance/metrics/expected_values.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

struct Item {
  std::vector<std::string> references;
  std::string candidate;
};

std::vector<nlohmann::json> json_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

void expect_equal_to_rouge_score(const std::vector<Item>& items, const nlohmann::json& expected) {
  ASSERT_EQ(items.size(), expected.at("count").get<size_t>());
  for (bool stem : {true, false}) {
    const nlohmann::json& values = expected.at(stem ? "stem_on" : "stem_off");
    metrics::RougeScorer scorer({.stem = stem});
    std::vector<Row> rows;
    for (const Item& item : items) {
      const auto scores = scorer.score_multi(item.references, item.candidate);
      ASSERT_TRUE(scores.ok());
      rows.push_back(row_of(*scores));
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string what = "item " + std::to_string(i);
      if (values.contains("f")) {
        expect_rows_near({rows[i][2], rows[i][5], rows[i][8], rows[i][11]},
                         values.at("f")[i].get<Row>(), what);
      }
      EXPECT_EQ(digest(rows, i, i + 1).substr(0, 16), values.at("digests")[i].get<std::string>())
          << what;
    }
  }
}

TEST(RougeOnRealReferences, SqualityDevResponsesAgainstTheOtherThree) {
  const auto path = shared_data("squality/data/v1-3/txt/dev.jsonl");
  QFS_SKIP_WITHOUT_DATA(path);
  std::vector<Item> items;
  for (const nlohmann::json& story : json_lines(path)) {
    for (const nlohmann::json& question : story.at("questions")) {
      const nlohmann::json& responses = question.at("responses");
      for (size_t i = 0; i < responses.size(); ++i) {
        Item item;
        for (size_t j = 0; j < responses.size(); ++j) {
          auto text = responses[j].at("response_text").get<std::string>();
          if (j == i) {
            item.candidate = std::move(text);
          } else {
            item.references.push_back(std::move(text));
          }
        }
        items.push_back(std::move(item));
      }
    }
  }
  expect_equal_to_rouge_score(items, expected_values("rouge_real.json").at("squality_dev"));
}

TEST(RougeOnRealReferences, QmsumAnswersAgainstTheNext) {
  std::vector<std::string> answers;
  for (const char* split : {"val", "test"}) {
    const auto path = shared_data("qmsum/data/ALL/jsonl/" + std::string(split) + ".jsonl");
    QFS_SKIP_WITHOUT_DATA(path);
    for (const nlohmann::json& meeting : json_lines(path)) {
      for (const char* kind : {"general_query_list", "specific_query_list"}) {
        for (const nlohmann::json& query : meeting.at(kind)) answers.push_back(query.at("answer"));
      }
    }
  }
  std::vector<Item> items;
  for (size_t i = 0; i + 1 < answers.size(); ++i) items.push_back({{answers[i]}, answers[i + 1]});
  expect_equal_to_rouge_score(items, expected_values("rouge_real.json").at("qmsum_answers"));
}

}  // namespace
}  // namespace qfs::test
