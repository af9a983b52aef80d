// How a document given as one string becomes segments.
#include "datasets/segments.h"

#include <gtest/gtest.h>

#include <string>

namespace qfs::datasets {
namespace {

std::vector<std::string> texts(std::string_view document) {
  std::vector<std::string> out;
  for (const Segment& segment : split_document(document)) out.push_back(segment.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(SplitDocument, LinesAreSegmentsWithoutBlankLines) {
  EXPECT_EQ(texts("one\ntwo\nthree"), (Texts{"one", "two", "three"}));
}

TEST(SplitDocument, BlankLinesMakeParagraphsAndKeepTheLinesInside) {
  EXPECT_EQ(texts("a\nb\n \nc\nd"), (Texts{"a\nb\n ", "c\nd"}));
}

TEST(SplitDocument, BlankLinesAtTheEndsDoNotMakeParagraphs) {
  EXPECT_EQ(texts("\n\na\nb\n"), (Texts{"\n\na", "b\n"}));
}

TEST(SplitDocument, EmptyTextHasNoSegmentsAndBlankTextHasOne) {
  EXPECT_TRUE(texts("").empty());
  EXPECT_EQ(texts(" \n\n"), (Texts{" \n\n"}));
}

TEST(SplitDocument, CarriageReturnsStayInTheirLine) {
  EXPECT_EQ(texts("a\r\n\r\nb"), (Texts{"a\r\n\r", "b"}));
}

}  // namespace
}  // namespace qfs::datasets
