// parse_python_list: what repr() of a list of str gives (Python 3.11), and what is no such list.
#include "datasets/python_list.h"

#include <gtest/gtest.h>

namespace qfs::datasets {
namespace {

using Texts = std::vector<std::string>;

TEST(PythonList, ReadsWhatReprWrites) {
  EXPECT_EQ(parse_python_list("[]"), Texts{});
  EXPECT_EQ(parse_python_list("['a', 'b, c']"), (Texts{"a", "b, c"}));
  // repr(["it's", 'say "x"', "both ' and \"", "line\nbreak\ttab\\"])
  EXPECT_EQ(parse_python_list(R"(["it's", 'say "x"', 'both \' and "', 'line\nbreak\ttab\\'])"),
            (Texts{"it's", "say \"x\"", "both ' and \"", "line\nbreak\ttab\\"}));
  // repr(["\x00\x85", "\u2028", "\U000e0001", "café"])
  EXPECT_EQ(parse_python_list(R"(['\x00\x85', '\u2028', '\U000e0001', 'café'])"),
            (Texts{std::string("\0\xC2\x85", 3), "\xE2\x80\xA8", "\xF3\xA0\x80\x81", "café"}));
}

TEST(PythonList, AcceptsATrailingCommaAndSpaces) {
  EXPECT_EQ(parse_python_list(" [ 'a' , ] \n"), Texts{"a"});
}

TEST(PythonList, AnythingElseIsNoList) {
  for (const char* text : {"", "text", "[", "[1]", "['a'", "['a'] b", "['a' 'b']", "[,]",
                           "['\\ud800']", "['\\x4']", "[['a']]", "['a\\q']", "[a]", "('a',)"}) {
    EXPECT_EQ(parse_python_list(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace qfs::datasets
