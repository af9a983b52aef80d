// Configuration files, lists of pairs, word lists and the metric of ROUGE-1.5.5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"
#include "metrics/rouge155/configuration.h"
#include "metrics/rouge155/evaluation.h"
#include "metrics/rouge155/lexicon.h"
#include "metrics/rouge155/summary_form.h"
#include "metrics/rouge155/xml.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

namespace qfs::metrics::rouge155 {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string evaluation(const std::string& inside) {
  return "<ROUGE-EVAL>\n<EVAL ID=\"1\">\n" + inside + "</EVAL>\n</ROUGE-EVAL>\n";
}

constexpr const char* kFiles =
    "<PEER-ROOT> p </PEER-ROOT><model-root>m</model-root><INPUT-FORMAT TYPE=\"spl\"/>\n"
    "<PEERS><P ID=\"b\">1</P><P ID=\"a\">x<!-- no -->\n2 </P></PEERS>"
    "<MODELS><M ID=\"1\">r&amp;1</M><M ID=\"1\"><![CDATA[r]]>2</M></MODELS>\n";

TEST(Rouge155Configuration, NamesAreTheLastRunOfTextAndIdsThatRepeatCountTwice) {
  const auto configuration = parse_configuration(evaluation(kFiles), "c.xml");
  ASSERT_TRUE(configuration.ok()) << configuration.error().to_string();
  EXPECT_THAT(configuration->systems, ElementsAre("a", "b"));
  const Evaluation& one = configuration->evaluations.at(0);
  EXPECT_EQ(*one.candidate_of("a"), "p/2");
  EXPECT_EQ(*one.candidate_of("b"), "p/1");
  EXPECT_THAT(one.references, ElementsAre("m/r2", "m/r2"));
}

TEST(Rouge155Configuration, ErrorsNameTheLine) {
  const auto message = [](const std::string& inside) {
    return parse_configuration(evaluation(inside), "c.xml").error().to_string();
  };
  EXPECT_EQ(message("<PEERS><P>1</P></PEERS>"), "c.xml:3: <P> has no attribute ID");
  EXPECT_EQ(message("\n<INPUT-FORMAT TYPE=\"TXT\"/>"),
            "c.xml:4: input format 'TXT', expected SPL, SEE or ISI");
  EXPECT_EQ(message("<INPUT-FORMAT TYPE=\"SPL\"/>"),
            "c.xml:2: evaluation '1' has no references (MODELS)");
  EXPECT_EQ(message("<MODELS><M ID=\"1\">r</M></MODELS>"),
            "c.xml:2: evaluation '1' has no INPUT-FORMAT");
  EXPECT_EQ(message("<PEERS></MODELS>"),
            "c.xml:3: mismatched tag; <PEERS> of line 3 is not closed");
  EXPECT_EQ(message("R&D"),
            "c.xml:3: not well-formed (invalid token); in texts '&' is &amp; and '<' is &lt;");
}

TEST(Rouge155Xml, DepthIsBounded) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_EQ(parse_xml(deep, "d.xml").error().to_string(),
            "d.xml:1: elements are nested more than 64 deep");
}

TEST(Rouge155Xml, WhatIsNotReadIsAnError) {
  for (const char* text :
       {"", "x", "<a", "<a b>", "<a b=c/>", "<a b='1' b='2'/>", "<a></b>", "<a/><b/>", "<a>&x;</a>",
        "<!DOCTYPE a SYSTEM 'b'><a>&x;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "<a><!-- </a>",
        "<?xml version='1.0' encoding='latin-1'?><a/>", "<a>\xFF</a>", "<a b='<'/>"}) {
    EXPECT_FALSE(parse_xml(text, "x").ok()) << text;
  }
  EXPECT_TRUE(parse_xml("<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE a><a/><!-- b -->\n", "x"));
}

TEST(Rouge155Configuration, JackknifeLeavesOutOneReferenceAtATime) {
  const auto list = parse_pair_list("# no\n c r1 r2\tr3\n\nd r4\n", "l", InputFormat::spl, "X");
  ASSERT_TRUE(list.ok());
  const Configuration parts = jackknifed(*list);
  ASSERT_EQ(parts.evaluations.size(), 4U);
  EXPECT_EQ(parts.evaluations[0].id, "1.1");
  EXPECT_THAT(parts.evaluations[0].references, ElementsAre("r2", "r3"));
  EXPECT_THAT(parts.evaluations[2].references, ElementsAre("r1", "r2"));
  EXPECT_EQ(parts.evaluations[3].id, "2");
  EXPECT_EQ(parse_pair_list("a\n", "l", InputFormat::spl, "X").error().to_string(),
            "l:1: expected a candidate and its references");
}

TEST(Rouge155Lexicon, WordNetsFolderGivesTheTableThatItsFilesSay) {
  const TemporaryFolder folder;
  folder.write("verb.exc", "is be\nmade make\n");
  folder.write("noun.exc", "axes ax axis\nis is\n");
  folder.write("adv.exc", "better well\n");
  folder.write("adj.exc", "better good well\n");
  const auto list = read_exceptions(folder.path());
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->lemma_of.at("is"), "is");
  EXPECT_EQ(list->lemma_of.at("axes"), "ax");
  EXPECT_EQ(list->lemma_of.at("better"), "good");
  const auto table =
      read_exceptions(folder.write("table.tsv", "made\tmake\nis\tis\naxes\tax\nbetter\tgood\n"));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->digest, list->digest);
  EXPECT_EQ(read_exceptions(folder.write("bad", "made make\n\nword\n")).error().where,
            folder / "bad:3");
  EXPECT_EQ(read_exceptions(folder.write("empty", ""))->digest, "none");
}

TEST(Rouge155Lexicon, AnEmptyDatabaseIsRemarkedUpon) {
  const TemporaryFolder folder;
  folder.write("WordNet-2.0.exc.db", std::string(12288, 'x'));
  EXPECT_THAT(look_into_data_folder(folder.path()).warning, HasSubstr("no entry"));
  folder.write("WordNet-2.0.exc.db", std::string(294912, 'x'));
  EXPECT_EQ(look_into_data_folder(folder.path()).warning, "");
}

TEST(Rouge155Forms, Files2rougeSplitsAfterStopsOnly) {
  std::string storage;
  EXPECT_EQ(sentences_of(" a b . c. d .e <q> f \n", SummaryForm::files2rouge, storage),
            (Sentences{"a b .", " c. d .", "e "}));
  EXPECT_EQ(sentences_of("a < b\n<x>\n", SummaryForm::see, storage), (Sentences{"a "}));
  EXPECT_EQ(sentences_of("a < b", SummaryForm::see_escaped, storage), (Sentences{"a &lt; b"}));
  EXPECT_EQ(sentences_of("a < b", SummaryForm::lines, storage), (Sentences{"a < b"}));
}

TEST(Rouge155Forms, InstancesAreSortedAsStrings) {
  EXPECT_THAT(instance_order(11, SummaryForm::lines),
              ElementsAre(0, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8));
  // Files s.0 s.1 s.10 s.2 …: evaluation 3 is item 10; evaluations come as 1, 10, 11, 2, 3 ….
  EXPECT_THAT(instance_order(11, SummaryForm::files2rouge),
              ElementsAre(0, 8, 9, 1, 10, 2, 3, 4, 5, 6, 7));
}

std::vector<ScoreItem> two_items() {
  std::vector<ScoreItem> items(2);
  items[0].candidate = "the cats sat .\nb <unk> c";
  items[0].references = {"the cat sat .\nb c", "a dog"};
  items[1].id = 1;
  items[1].candidate = "x y";
  items[1].references = {"x z"};
  return items;
}

TEST(Rouge155Evaluation, TwoOfOneNameAreAnError) {
  const TemporaryFolder folder;
  const std::string text = folder.write("c", "a cat");
  Configuration list;
  list.systems = {"X"};
  for (const char* id : {"1", "1.1"}) {
    Evaluation& one = list.evaluations.emplace_back();
    one.id = id;
    one.where = std::string("e.xml:") + id;
    one.format = InputFormat::spl;
    one.candidates = {{"X", text}};
    one.references = {text, text};
  }
  list.evaluations[1].references.pop_back();
  const auto report = evaluate(jackknifed(list), {"X"}, {}, std::make_shared<Lexicon>());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().where, "e.xml:1.1");
  EXPECT_THAT(report.error().message, HasSubstr("two evaluations are called '1.1'"));
}

TEST(Rouge155Metric, CorpusValueIsWhatTheEvaluationPrints) {
  const TemporaryFolder folder;
  std::string pairs;
  const std::vector<ScoreItem> items = two_items();
  for (const ScoreItem& item : items) {
    pairs += folder.write("c" + std::to_string(item.id), item.candidate);
    for (size_t i = 0; i < item.references.size(); ++i) {
      pairs +=
          " " + folder.write("r" + std::to_string(item.id) + std::to_string(i), item.references[i]);
    }
    pairs += "\n";
  }
  EvaluationOptions options;
  options.scoring.max_n = 1;
  const auto list = parse_pair_list(pairs, "l", InputFormat::spl, "X");
  const auto report = evaluate(*list, {"X"}, options, std::make_shared<Lexicon>());
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  const auto metric = BuiltinMetrics().make("rouge-1.5.5:n=1");
  ASSERT_TRUE(metric.ok());
  const auto rows = (*metric)->measure(items);
  ASSERT_TRUE(rows.ok());
  for (const Score& score : (*metric)->aggregate(*rows)) {
    char text[64];
    const char value = static_cast<char>(score.name.back() - 'a' + 'A');
    std::snprintf(text, sizeof(text), "X ROUGE-%c Average_%c: %.5f (", score.name[5], value,
                  score.value);
    EXPECT_THAT(report->lines, HasSubstr(text));
  }
}

TEST(Rouge155Metric, JackknifeIsTheMeanOverReferencesLeftOut) {
  const auto metric = BuiltinMetrics().make("rouge-1.5.5:n=1,lcs=off,jackknife=on,average=mean");
  ASSERT_TRUE(metric.ok()) << metric.error().to_string();
  const auto rows = (*metric)->measure(two_items());
  ASSERT_TRUE(rows.ok());
  // Item 0: recall 4/5 without "a dog", 0/2 without the other; candidate has 6 words with "unk".
  EXPECT_EQ((*rows)[0], (Statistics{(0.66667 + 0) / 2, (0.8 + 0) / 2, (0.72727 + 0) / 2}));
}

TEST(Rouge155Metric, SignatureHasTheDigestOfTheListAndNoPath) {
  const TemporaryFolder folder;
  const std::string path = folder.write("list.tsv", "cats\tcat\n");
  const auto metric = BuiltinMetrics().make("rouge-1.5.5:stem=on,exceptions=" + path);
  ASSERT_TRUE(metric.ok()) << metric.error().to_string();
  const std::string digest = read_exceptions(path)->digest.substr(0, 12);
  EXPECT_THAT((*metric)->signature(), HasSubstr("|stem:porter-cyl|exceptions:" + digest + "|"));
  EXPECT_THAT((*metric)->signature(), testing::Not(HasSubstr("list.tsv")));
  EXPECT_EQ((*metric)->name(), "rouge-1.5.5:stem=on,exceptions=" + digest);
}

TEST(Rouge155Metric, ANameIsReadAgainWhereTheFolderHasThatList) {
  const TemporaryFolder folder;
  const std::string path = folder.write("wordnet-2.0.exc.tsv", "cats\tcat\n");
  const test::EnvironmentVariable data("QFS_ROUGE155_DATA", folder.path());
  const auto first = BuiltinMetrics().make("rouge-1.5.5:stem=on,exceptions=" + path);
  ASSERT_TRUE(first.ok());
  const auto again = BuiltinMetrics().make((*first)->name());
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ((*again)->signature(), (*first)->signature());
  folder.write("wordnet-2.0.exc.tsv", "cats\tfeline\n");
  EXPECT_THAT(BuiltinMetrics().make((*first)->name()).error().message, HasSubstr("has digest"));
}

TEST(Rouge155Metric, Files2rougeStemsWithoutExceptions) {
  const auto metric = BuiltinMetrics().make("files2rouge");
  ASSERT_TRUE(metric.ok()) << metric.error().to_string();
  EXPECT_EQ((*metric)->name(), "rouge-1.5.5:stem=on,exceptions=none,sentences=files2rouge");
  EXPECT_THAT((*metric)->signature(), HasSubstr("exceptions:none"));
  std::vector<ScoreItem> items = two_items();
  items[1].candidate = " ";
  EXPECT_THAT((*metric)->measure(items).error().to_string(),
              HasSubstr("item 1: files2rouge stops"));
}

TEST(Rouge155Metric, DylesLinesAreMadeOfPlainText) {
  const TemporaryFolder folder;
  folder.write("abbrev_types.txt", "dr\n");
  folder.write("collocations.tab", "");
  folder.write("sent_starters.txt", "");
  folder.write("ortho_context.tab", "");
  const std::string profile = "dyle-rouge:exceptions=none";
  const std::string dyle = profile + ",sentences=dyle,punkt=" + folder.path();
  const auto score = [](const std::string& name, const std::string& candidate,
                        const std::string& reference) {
    ScoreItem item;
    item.candidate = candidate;
    item.references = {reference};
    const auto metric = metrics::BuiltinMetrics().make(name);
    EXPECT_TRUE(metric.ok()) << metric.error().to_string();
    return metric.ok() ? *(*metric)->measure({&item, 1}) : std::vector<Statistics>();
  };
  const std::string plain = "Dr. Lee didn't agree. They <met> again! Soon.";
  const std::string lines = "Dr. Lee did n't agree .\nThey < met > again !\nSoon .";
  const std::string reference = "They agree.\nDr. Lee met them again.";
  const std::string reference_lines = "They agree .\nDr. Lee met them again .";
  EXPECT_EQ(score(dyle, plain, reference), score(profile, lines, reference_lines));
  EXPECT_NE(score(profile, plain, reference), score(profile, lines, reference_lines))
      << "plain text is one sentence without it";
  const auto metric = *metrics::BuiltinMetrics().make(dyle);
  EXPECT_THAT(metric->signature(),
              HasSubstr("|split:dyle(treebank-nltk-3.6.2,punkt-nltk-3.6,data:"));
  EXPECT_EQ(metric->signature().find(folder.path()), std::string::npos);
  EXPECT_THAT((*metrics::BuiltinMetrics().make(profile))->signature(),
              HasSubstr("|split:newline-see-escaped|"));
  const auto wrong = metrics::BuiltinMetrics().make(profile + ",punkt=x");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("option punkt belongs to sentences=dyle"));
}

TEST(Rouge155Metric, AbsentListsSayWhatToDo) {
  const TemporaryFolder folder;
  const test::EnvironmentVariable data("QFS_ROUGE155_DATA", folder.path());
  const auto metric = BuiltinMetrics().make("rouge-1.5.5:stem=on");
  ASSERT_FALSE(metric.ok());
  EXPECT_EQ(metric.error().message,
            "metric 'rouge-1.5.5:stem=on': WordNet's exception list is not found in " +
                folder.path() +
                "; set QFS_ROUGE155_DATA to a folder that holds it or say exceptions=PATH or "
                "exceptions=none");
}

}  // namespace
}  // namespace qfs::metrics::rouge155
