// Files that people write: comments in JSON, YAML as the same tree, and what of YAML is refused.
#include "harness/config/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/config/load.h"
#include "harness/core/files.h"
#include "tests/golden/config/corpus.h"

namespace qfs::config {
namespace {

using nlohmann::json;

Result<json> tree(std::string_view text, const std::string& path) {
  return parse_document(text, path, size_t{1} << 20);
}

/// The tree, or the error's text as one.
json yaml(std::string_view text) {
  const auto value = tree(text, "f.yaml");
  return value ? *value : json(value.error().to_string());
}

TEST(Comments, AreWhiteSpaceInJson) {
  const auto value =
      tree("// first\n{ \"a\": [1, /* two\n lines */ 2], // é\n \"b\": \"// /* */\" }\n// end",
           "f.json");
  ASSERT_TRUE(value.ok()) << value.error().to_string();
  EXPECT_EQ(*value, (json{{"a", {1, 2}}, {"b", "// /* */"}}));
}

TEST(Comments, LeaveErrorsWhereTheyAre) {
  EXPECT_EQ(
      tree("{ /* é */ \"a\": 1, /* \"a\" */\n /* é */ \"a\": 2 }", "f.json").error().to_string(),
      "f.json:2:10: the key 'a' occurs twice in one object");
  EXPECT_THAT(tree("{ \"a\": 1 /* no end\n }", "f.json").error().to_string(),
              testing::StartsWith("f.json:1:10: not valid JSON: "));
  EXPECT_THAT(tree("{ \"a\": \"// \\\" /* \", b }", "f.json").error().to_string(),
              testing::StartsWith("f.json:1:21: not valid JSON: "));
  EXPECT_FALSE(tree("{ # no comment of JSON\n }", "f.json").ok());
}

TEST(YamlAbsent, IsRefusedWithAReason) {
  if (QFS_YAML) GTEST_SKIP() << "this build reads YAML";
  const auto refused = tree("a: 1", "f.yaml");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(refused.error().to_string(), testing::HasSubstr("reads no YAML"));
}

class Yaml : public testing::Test {
 protected:
  void SetUp() override {
    if (!QFS_YAML) GTEST_SKIP() << "built without libyaml-cpp";
  }
};

TEST_F(Yaml, JsonIsYaml) {
  std::vector<std::string> files = test::corpus_files("good");
  for (const char* const own :
       {"experiments/lc_sweep", "experiments/papers", "experiments/ideal_memory"}) {
    files.emplace_back(own);
  }
  for (const std::string& name : files) {
    const auto text = read_file(name + ".json", size_t{1} << 20);
    ASSERT_TRUE(text.ok());
    const auto as_json = decode_experiment(*text, name + ".json");
    const auto as_yaml = decode_experiment(*text, name + ".yaml");
    ASSERT_TRUE(as_json.ok()) << as_json.error().to_string();
    ASSERT_TRUE(as_yaml.ok()) << as_yaml.error().to_string();
    EXPECT_EQ(as_json->resolved, as_yaml->resolved) << name;
  }
}

TEST_F(Yaml, ScalarsAreThoseOfJson) {
  EXPECT_EQ(yaml("a: text\nb: -1\nc: 0.50\nd: 1e-3\ne: true\nf: null\ng:\nh: \"1\"\ni: '010'\n"
                 "j: '2026-11-24'\nk: 0.1.2\nl: a b\nm: \"no\"\nn: 18446744073709551615\n"
                 "o: http://x:80/y\np: \"null\"\nq: ~\n"),
            (json{{"a", "text"},
                  {"b", -1},
                  {"c", 0.5},
                  {"d", 1e-3},
                  {"e", true},
                  {"f", nullptr},
                  {"g", nullptr},
                  {"h", "1"},
                  {"i", "010"},
                  {"j", "2026-11-24"},
                  {"k", "0.1.2"},
                  {"l", "a b"},
                  {"m", "no"},
                  {"n", 18446744073709551615U},
                  {"o", "http://x:80/y"},
                  {"p", "null"},
                  {"q", nullptr}}));
  EXPECT_TRUE(yaml("2").is_number_unsigned());
  EXPECT_TRUE(yaml("2.0").is_number_float());
  EXPECT_EQ(yaml("t: |\n  one\n   two\n\nf: >-\n  three\n  four\n"),
            (json{{"t", "one\n two\n"}, {"f", "three four"}}));
}

TEST_F(Yaml, AnchorsNameWhatIsCopied) {
  EXPECT_EQ(yaml("a: &x { n: [1, 2] }\nb: *x\nc: [*x, &y text, *y]\n&k key: 1\n"),
            (json{{"a", {{"n", {1, 2}}}},
                  {"b", {{"n", {1, 2}}}},
                  {"c", {{{"n", {1, 2}}}, "text", "text"}},
                  {"key", 1}}));
}

TEST_F(Yaml, AliasesAreBounded) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += (k > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    laughs += "]\n";
  }
  EXPECT_THAT(yaml(laughs).get<std::string>(),
              testing::MatchesRegex("f.yaml:[456]:[0-9]+: anchors and aliases copy more than "
                                    "1048576 bytes"));
  EXPECT_EQ(yaml("a: &x [1, *x]"), "f.yaml:1:11: an alias inside of what it names");
  std::string deep = "- &a0 []\n";
  for (int i = 1; i < 70; ++i) {
    deep += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_THAT(yaml(deep).get<std::string>(), testing::HasSubstr("nested deeper than 64 levels"));
}

TEST_F(Yaml, SizeAndDepthAreBounded) {
  EXPECT_EQ(yaml(std::string(64, '[') + std::string(64, ']')).is_array(), true);
  EXPECT_EQ(yaml(std::string(65, '[') + std::string(65, ']')),
            "f.yaml:1:65: nested deeper than 64 levels");
  EXPECT_TRUE(yaml(std::string(100000, '[')).is_string()) << "an error, and no stack is at its end";
  EXPECT_EQ(parse_yaml(std::string(kMaxYamlBytes + 1, ' '), "f.yaml").error().to_string(),
            "f.yaml: YAML of 1048577 bytes, allowed are 1048576");
}

struct Refusal {
  const char* text;
  const char* message;
};

TEST_F(Yaml, WhatReadersReadDifferentlyIsRefused) {
  for (const char* const word : {"no", "On", "YES", "off", "True", "FALSE", "y", "N"}) {
    const auto refused = yaml("é: [a, " + std::string(word) + "]");
    EXPECT_EQ(refused, "f.yaml:1:8: '" + std::string(word) +
                           "' is true or false to some readers of YAML and a text to "
                           "others: write true or false, or the text in quotes");
  }
  for (const char* const number : {"010", "0o17", "0x1F", "1_000", "1:20", "1:20:30.5", "+1", ".5",
                                   "1.", "-.inf", ".NaN", "0b11", "00", "1e", "-01.5"}) {
    const auto refused = yaml("a:\n  b: " + std::string(number) + "\n");
    EXPECT_EQ(refused, "f.yaml:2:6: '" + std::string(number) +
                           "' is a number to some readers of YAML and a text to others: write the "
                           "number as JSON does, or the text in quotes");
  }
}

TEST_F(Yaml, DatesAndOtherVersionsAreRefused) {
  for (const char* const date : {"2024-01-01", "2024-01-01 10:00:00", "2024-01-01T10:00:00Z"}) {
    EXPECT_EQ(
        yaml("a: " + std::string(date)),
        "f.yaml:1:4: '" + std::string(date) +
            "' is a date to some readers of YAML and a text to others: write the text in quotes");
  }
  EXPECT_THAT(yaml("a: =").get<std::string>(), testing::HasSubstr("'=' is a default to some"));
  EXPECT_EQ(yaml("n: 2024-01-012\ny: a=b"), (json{{"n", "2024-01-012"}, {"y", "a=b"}}));
  EXPECT_EQ(yaml("# a\n%YAML 1.1\n---\na: 1"),
            "f.yaml:2:1: YAML of another version than 1.2; leave the directive out");
  EXPECT_EQ(yaml("%YAML 1.2\n---\na: 1"), (json{{"a", 1}}));
  EXPECT_THAT(tree(std::string_view("a: \0", 4), "f.yaml").error().message,
              testing::StartsWith("not valid YAML"));
}

TEST_F(Yaml, RefusalsSayWhere) {
  for (const Refusal& wrong : std::initializer_list<Refusal>{
           {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: the key 'a' occurs twice in one object"},
           {"{\"é\": 1, 'é': 2}", "f.yaml:1:10: the key 'é' occurs twice in one object"},
           {"on: 1", "f.yaml:1:1: 'on' is true or false to some readers"},
           {"1: a", "f.yaml:1:1: the key 1 is a number; keys are texts: write it in quotes"},
           {"? [a]\n: 1", "f.yaml:1:3: a list or an object as a key; keys are texts"},
           {"a: &x {b: 1}\n<<: *x", "f.yaml:2:1: '<<' (a merge key)"},
           {"a: !!python/object:os.system x", "f.yaml:1:4: the tag 'tag:yaml.org,2002:python/"},
           {"a: !own [1]", "f.yaml:1:4: the tag '!own'"},
           {"a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document; the file must be one"},
           {"a: [1, 2\nb: 3", "f.yaml:2:"},
           {"a: \"b\\N\"", "f.yaml:1:4: the escapes \\N and \\_ are not read; write"},
           {"a: *nobody", "f.yaml:1:4: not valid YAML: "},
           {"a: \"open", "f.yaml:1:"},
           {"a: 123456789012345678901234", "f.yaml:1:4: the integer 1234"},
           {"a: \xff", "f.yaml:1:4: ill-formed UTF-8"}}) {
    const json refused = yaml(wrong.text);
    ASSERT_TRUE(refused.is_string()) << refused;
    EXPECT_THAT(refused.get<std::string>(), testing::StartsWith(wrong.message)) << wrong.text;
  }
}

TEST_F(Yaml, ErrorsOfMeaningHaveAPointer) {
  const auto wrong = decode_experiment(
      "name: s\ndatasets: [{name: d}]\nmethods: [{method: lead}]\n"
      "seeds: [x]\n",
      "s.yml");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().to_string(), testing::StartsWith("s.yml#/seeds/0: expected"));
}

}  // namespace
}  // namespace qfs::config
