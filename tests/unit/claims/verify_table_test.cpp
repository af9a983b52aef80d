// Anybody's table: what a CSV says, its mistakes, and the text for a review.
#include "harness/claims/verify_table.h"

#include <gtest/gtest.h>

namespace qfs::claims {
namespace {

constexpr const char* kHeader =
    "row,column,printed,predictions,references,metric,value,tolerance,cell\n";

std::string failure(const std::string& text) {
  const Result<VerifyTable> table = read_verify_table(text, "table.csv");
  return table.ok() ? "" : table.error().to_string();
}

TEST(VerifyTable, MakesAClaimOfEachLine) {
  const auto table = read_verify_table(
      std::string(kHeader) + "Ours,R-1,33.5,ours.txt,gold.txt,rouge,rouge1.f,0.1,method=lead\n" +
          "Ours,R-L,20.1,ours.txt,gold.txt,rouge,rougeL.f,,\n" +
          "Theirs,R-1,31.0,theirs.jsonl,,rouge,rouge1.f,,\n",
      "folder/table.csv");
  ASSERT_TRUE(table.ok()) << table.error().to_string();
  const ShownTable shown = table->shown();
  ASSERT_EQ(shown.claims().size(), 3U);
  const Claim& first = *shown.claims()[0];
  EXPECT_EQ(first.id(), "table/1/R-1");
  EXPECT_EQ(first.scale, 100);
  EXPECT_EQ(first.tolerance, 0.1);
  EXPECT_EQ(first.files->predictions, "ours.txt");
  EXPECT_EQ(shown.claims()[1]->id(), "table/1/R-L");
  EXPECT_EQ(shown.claims()[2]->id(), "table/2/R-1");
  EXPECT_EQ(table->lines[0].cell, "method=lead");
  EXPECT_EQ(table->lines[1].cell, "");
}

TEST(VerifyTable, SaysWhereAMistakeIs) {
  EXPECT_EQ(failure("row,column,printed,predictions,references,metric\n"),
            "table.csv:1: the column 'value' is missing; expected row, column, printed, "
            "predictions, references, metric, value and, if you like, tolerance, cell");
  EXPECT_EQ(failure("row,colum,printed\n"),
            "table.csv:1: unknown column 'colum' (did you mean 'column'?); known are row, column, "
            "printed, "
            "predictions, references, metric, value, tolerance, cell");
  EXPECT_EQ(failure(kHeader), "table.csv: the table has no line");
  EXPECT_EQ(failure(std::string(kHeader) + "A,R-1,3.3.5,p,g,rouge,rouge1.f,,\n"),
            "table.csv:2: expected a number as printed, such as 22.17, 31,664, 17M or <1K; found "
            "'3.3.5'");
  EXPECT_EQ(failure(std::string(kHeader) + "A,R-1,33.5,p,g,rouge,rouge1.f,-1,\n"),
            "table.csv:2: expected a tolerance in printed units, such as 0.1; found '-1'");
  EXPECT_NE(
      failure(std::string(kHeader) + "A,R-1,33.5,p,g,rouge,rouge1.f,1e999,\n").find("tolerance"),
      std::string::npos);
  EXPECT_NE(failure(std::string(kHeader) + "A,R-1,\"33,5\",p,g,rouge,rouge1.f,,\n")
                .find("',' stands between thousands (31,664), '.' before decimals; found '33,5'"),
            std::string::npos);
  EXPECT_EQ(failure(std::string(kHeader) + "A,R-1,33.5,,g,rouge,rouge1.f,,\n"),
            "table.csv:2: 'predictions' is empty");
}

TEST(VerifyTable, ReadsNothingOutsideTheFolderOfPredictions) {
  EXPECT_EQ(failure(std::string(kHeader) + "A,R-1,33.5,../p,g,rouge,rouge1.f,,\n"),
            "table.csv:2: 'predictions' is a path below the folder of predictions, found '../p'");
  EXPECT_EQ(failure(std::string(kHeader) + "A,R-1,33.5,p,/etc/g,rouge,rouge1.f,,\n"),
            "table.csv:2: 'references' is a path below the folder of predictions, found '/etc/g'");
}

TEST(VerifyTable, TellsAReviewerWhatATableAllowsItself) {
  const auto table = read_verify_table(std::string(kHeader) +
                                           "Ours,R-1,40,ours.txt,gold.txt,rouge,rouge1.f,20,\n" +
                                           "Ours,R-2,<60,ours.txt,gold.txt,rouge,rouge2.f,,\n" +
                                           "Ours,R-L,52.2,ours.txt,gold.txt,rouge,rougeL.f,1,\n",
                                       "table.csv");
  ASSERT_TRUE(table.ok());
  const ShownTable shown = table->shown();
  std::vector<Finding> findings(3);
  for (size_t i = 0; i < 3; ++i) {
    findings[i].claim = shown.claims()[i];
    findings[i].state = State::reproduced;
    findings[i].measured = Measured{.value = 52.21, .n = 20};
  }
  EXPECT_EQ(review_text(*table, findings),
            "We recomputed 3 of 3 numbers of the table (table.csv) from the authors' output files. "
            "1 is printed as published, 2 are not but within the tolerance or bound that the table "
            "states, 0 differ from the published value.\n"
            "- Ours, R-1: printed 40, recomputed 52.2 by rouge over 20 outputs: within the "
            "tolerance of 20 that the table states\n"
            "- Ours, R-2: printed <60, recomputed 52.2 by rouge over 20 outputs: within the bound "
            "that the table states");
}

TEST(VerifyTable, TellsAReviewerWhatDiffers) {
  const auto table = read_verify_table(std::string(kHeader) +
                                           "Ours,R-1,33.5,ours.txt,gold.txt,rouge,rouge1.f,,\n" +
                                           "Ours,R-L,20.1,ours.txt,gold.txt,rouge,rougeL.f,,\n" +
                                           "Theirs,R-1,31.0,theirs.txt,gold.txt,rouge,rouge1.f,,\n",
                                       "table.csv");
  ASSERT_TRUE(table.ok());
  const ShownTable shown = table->shown();
  std::vector<Finding> findings(3);
  for (size_t i = 0; i < 3; ++i) findings[i].claim = shown.claims()[i];
  findings[0].state = State::reproduced;
  findings[0].measured = Measured{.value = 33.52, .n = 20};
  findings[1].state = State::differs;
  findings[1].measured = Measured{.value = 19.43, .interval = Bounds{18.9, 20.0}, .n = 20};
  findings[2].detail = "theirs.txt: there is no such file";
  EXPECT_EQ(review_text(*table, findings),
            "We recomputed 2 of 3 numbers of the table (table.csv) from the authors' output files. "
            "1 is printed as published, 1 differs from the published value.\n"
            "- Ours, R-L: printed 20.1, recomputed 19.43 [18.90, 20.00] by rouge over 20 outputs: "
            "differs\n"
            "- Theirs, R-1: not recomputed, theirs.txt: there is no such file");
}

}  // namespace
}  // namespace qfs::claims
