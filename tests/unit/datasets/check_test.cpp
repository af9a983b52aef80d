// What `data check` finds in a data set, and what it counts.
#include "datasets/check.h"

#include <gtest/gtest.h>

namespace qfs::datasets {
namespace {

Example good(const std::string& key) {
  Example example;
  example.key = key;
  example.document_id = "d";
  example.group = key;
  example.document = {{"three words here", "Ann"}, {"two more", ""}};
  example.query = "why " + key;
  example.references = {"one two", "three"};
  example.evidence = {{0, 1}};
  return example;
}

Dataset set_of(std::vector<Example> examples) {
  Dataset dataset;
  for (const Example& example : examples)
    dataset.example_hashes.push_back("hash of " + example.query);
  dataset.examples = std::move(examples);
  return dataset;
}

std::vector<std::string> findings_of(const Example& bad) {
  std::vector<std::string> names;
  for (const CheckFinding& finding : check(set_of({good("a"), bad})).findings) {
    names.push_back(finding.what);
    EXPECT_EQ(finding.count, 1);
    EXPECT_EQ(finding.keys, std::vector<std::string>{bad.key});
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Check, TextsInQuotesWithDoubledOnesAreTold) {
  Example quoted = good("b");
  quoted.references = {"He said \"hi\".", "\"He said \"\"hi\"\".\""};
  ASSERT_EQ(findings_of(quoted).size(), 1u);
  EXPECT_NE(findings_of(quoted)[0].find("cells of CSV in a TSV?"), std::string::npos);
  quoted.references = {"\"plain\"", "\"a\" and \"b\"", "\"\"\""};
  EXPECT_EQ(findings_of(quoted), Names());
}

TEST(Check, AGoodSetIsOkAndCounted) {
  Example second = good("b");
  second.document = {{"one", ""}};
  second.evidence.clear();
  CheckReport report = check(set_of({good("a"), second}));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.examples, 2);
  EXPECT_EQ(report.documents, 1);
  EXPECT_EQ(report.groups, 2);
  EXPECT_EQ(report.with_evidence, 1);
  EXPECT_EQ(report.words_per_document.minimum, 1);
  EXPECT_EQ(report.words_per_document.maximum, 6) << "\"Ann: three words here\" and \"two more\"";
  EXPECT_EQ(report.words_per_document.median, 1);
  EXPECT_DOUBLE_EQ(report.words_per_document.mean, 3.5);
  EXPECT_EQ(report.words_per_query.maximum, 2);
  EXPECT_DOUBLE_EQ(report.words_per_reference.mean, 1.5);
  EXPECT_EQ(report.references_per_example.maximum, 2);
  EXPECT_EQ(report.segments_per_document.maximum, 2);
}

TEST(Check, EachDefectIsFoundWithItsExample) {
  EXPECT_EQ(findings_of(good("a")),
            (Names{"duplicate key", "same document, query and references as an earlier example"}));
  Example bad = good("b");
  bad.document = {{" \n", "Ann"}};
  bad.evidence.clear();
  EXPECT_EQ(findings_of(bad), Names{"empty document"});
  bad = good("b");
  bad.query = " ";
  EXPECT_EQ(findings_of(bad), Names{"empty query"});
  bad = good("b");
  bad.references.clear();
  EXPECT_EQ(findings_of(bad), Names{"no reference"});
  bad = good("b");
  bad.references[1] = "";
  EXPECT_EQ(findings_of(bad), Names{"empty reference"});
  bad = good("b");
  bad.references[1] = "['one', 'another']";
  EXPECT_EQ(findings_of(bad),
            Names{"a reference that is a Python list written as text: several references in one?"});
  for (SegmentSpan span : {SegmentSpan{0, 2}, SegmentSpan{1, 0}, SegmentSpan{-1, 0}}) {
    bad = good("b");
    bad.evidence = {span};
    EXPECT_EQ(findings_of(bad), Names{"evidence outside the document"});
  }
}

TEST(Check, ASetWithoutAnyQueryIsNotDefective) {
  Example a = good("a");
  Example b = good("b");
  a.query.clear();
  b.query.clear();
  Dataset dataset = set_of({a, b});
  dataset.example_hashes = {"1", "2"};
  EXPECT_TRUE(check(dataset).ok());
}

TEST(CountWords, SplitsAtUnicodeWhiteSpace) {
  EXPECT_EQ(count_words(""), 0);
  EXPECT_EQ(count_words(" a\tb\n c "), 3);
  EXPECT_EQ(count_words("a\u00a0b\u3000\u4e2d \u2003"), 3) << "no-break, ideographic and em space";
}

TEST(Check, OnlyTheFirstKeysAreListed) {
  std::vector<Example> examples;
  for (int i = 0; i < 9; ++i) {
    examples.push_back(good(std::to_string(i)));
    examples.back().references.clear();
  }
  CheckReport report = check(set_of(examples));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].count, 9);
  EXPECT_EQ(report.findings[0].keys.size(), 5u);
}

}  // namespace
}  // namespace qfs::datasets
