// score --explain-diff: signatures read back, differences named, contributions that add up.
#include "harness/score/explain_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"

namespace qfs::score {
namespace {

using testing::HasSubstr;

const metrics::BuiltinMetrics kCatalog;

SignatureFields signature(const std::string& name, const std::string& more = "") {
  return *read_signature((*kCatalog.make(name))->signature() + more, kCatalog);
}

std::vector<ScoreItem> items() {
  std::vector<ScoreItem> items(2);
  items[0].candidate = "the cats were running home <q>";
  items[0].references = {"a cat ran home", "the cats were running all day"};
  items[1].candidate = "dogs barking at cats";
  items[1].references = {"the dogs barked at cats", "cats and a dog"};
  return items;
}

ExplainedDifference explain(const SignatureFields& a, const SignatureFields& b) {
  const auto texts = items();
  const auto from = computation_of(a, kCatalog);
  const auto to = computation_of(b, kCatalog);
  EXPECT_TRUE(from.ok() && to.ok());
  if (!from || !to) return {};
  auto explained = explain_difference(*from, *to, texts, kCatalog);
  EXPECT_TRUE(explained.ok()) << explained.error().to_string();
  return explained.ok() ? *std::move(explained) : ExplainedDifference();
}

TEST(Signatures, AreReadBack) {
  const SignatureFields fields =
      signature("rouge", "|n:2|post:[\"replace:pattern=a|b\"]|unit:item");
  EXPECT_EQ(fields.metric, "rouge");
  EXPECT_EQ(fields.value("stem"), "porter-nltk");
  EXPECT_EQ(fields.run_value("post"), "[\"replace:pattern=a|b\"]");
  EXPECT_EQ(fields.run_value("unit"), "item");
  EXPECT_EQ(read_signature("rouge:stem=off", kCatalog)->value("stem"), "none");
}

TEST(Signatures, OfSacrebleuAreOurs) {
  for (const char* name : {"bleu", "bleu:tokenize=none,lowercase=on",
                           "bleu:smooth=floor,smooth_value=0.5", "bleu:effective_order=on", "chrf",
                           "chrf++", "chrf:beta=3,whitespace=on", "chrf:eps_smoothing=on"}) {
    const auto metric = *kCatalog.make(name);
    const std::string text = metric->tool_signature(1, 1);
    ASSERT_TRUE(is_tool_signature(text)) << text;
    const auto read = read_tool_signature("as sacreBLEU: " + text, kCatalog);
    ASSERT_TRUE(read.ok()) << name << ": " << read.error().to_string();
    EXPECT_TRUE(differences(*read, signature(name, "|n:2|nrefs:1|missing:error")).empty()) << name;
    const auto theirs = computation_of(*read, kCatalog);
    const auto ours = computation_of(signature(name), kCatalog);
    ASSERT_TRUE(theirs.ok() && ours.ok()) << name;
    EXPECT_EQ(theirs->name(), ours->name());
    EXPECT_EQ(theirs->declared, ours->declared) << name;
  }
  EXPECT_FALSE(is_tool_signature((*kCatalog.make("bleu"))->signature()));
  EXPECT_FALSE(is_tool_signature("rouge:stem=off"));
}

TEST(Signatures, OfSacrebleuDifferByReleaseAndReferences) {
  const std::string old = "BLEU|nrefs:4|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|";
  const auto read = read_tool_signature(old + "version:2.0.0", kCatalog);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  const auto found = differences(*read, signature("bleu:tokenize=none", "|n:2|nrefs:1"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key + found[0].a + found[0].b, "tok13anone");
  EXPECT_EQ(found[1].key + found[1].a + found[1].b, "nrefs41");
  EXPECT_EQ(found[2].key + found[2].a + found[2].b, "version2.0.0");
  const auto ours = read_tool_signature((*kCatalog.make("bleu"))->tool_signature(4, 4), kCatalog);
  ASSERT_TRUE(ours.ok()) << ours.error().to_string();
  const auto releases = differences(*ours, *read);
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_EQ(releases[0].key + releases[0].a + "|" + releases[0].b, "version2.6.0|2.0.0");
  EXPECT_THAT(differences(*ours, signature("bleu", "|n:2|nrefs:4")), testing::IsEmpty());
  const auto message = [](const std::string& text) {
    const auto bad = read_tool_signature(text, kCatalog);
    return bad.ok() ? "" : bad.error().message;
  };
  EXPECT_THAT(message("TER|nrefs:1|case:lc"), HasSubstr("no metric gives the digits of 'TER'"));
  EXPECT_THAT(message(old + "tok:ja-mecab"), HasSubstr("twice"));
  EXPECT_THAT(message("BLEU|nrefs:1|case:mixed|eff:no|tok:ja-mecab|smooth:exp"),
              HasSubstr("ja-mecab"));
}

TEST(Signatures, WrongOnesNameTheNearestKey) {
  const auto message = [](const std::string& text) {
    const auto read = read_signature(text, kCatalog);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_THAT(message("rouge|stm:none"), HasSubstr("did you mean 'stem'?"));
  EXPECT_THAT(message("rogue|stem:none"), HasSubstr("did you mean 'rouge'?"));
  EXPECT_THAT(message("rouge|stem:none|stem:none"), HasSubstr("twice"));
  EXPECT_THAT(message("rouge|stem"), HasSubstr("key:value"));
  EXPECT_THAT(message("rouge|nrefs:1|#12ab34cd"), HasSubstr("--signature long"));
}

TEST(ExplainDiff, NamesDifferencesInWords) {
  std::vector<std::string> words;
  for (const auto& [key, a, b, of_run] :
       differences(signature("rouge", "|n:2"), signature("covidet", "|n:3"))) {
    words.push_back(key_in_words(key, of_run));
  }
  EXPECT_THAT(words, testing::ElementsAre("stemming", "how items become the corpus value",
                                          "the number of items"));
}

TEST(ExplainDiff, ContributionsAddUp) {
  const auto explained = explain(signature("rouge"), signature("rouge:stem=off,multi=pooled",
                                                               "|post:[\"cut_at:text=running\"]"));
  ASSERT_EQ(explained.contributions.size(), 3U);
  EXPECT_EQ(explained.contributions[0].key, "stem");
  EXPECT_EQ(explained.contributions[1].key, "multi");
  EXPECT_EQ(explained.contributions[2].key, "post");
  for (const auto& [column, a] : explained.a) {
    double alone = 0;
    double in_order = 0;
    for (const Contribution& part : explained.contributions) {
      alone += part.alone.at(column);
      in_order += part.in_order.at(column);
    }
    EXPECT_NEAR(explained.b.at(column), a + in_order, 1e-12) << column;
    EXPECT_NEAR(explained.b.at(column), a + alone + explained.interaction.at(column), 1e-12)
        << column;
  }
  EXPECT_EQ(explained.contributions[0].alone, explained.contributions[0].in_order);
  EXPECT_NE(explained.interaction.at("rouge1.f"), 0.0) << "stemming matters less for pooled counts";
}

TEST(ExplainDiff, EachContributionIsTheMetricWithThatOptionSwitched) {
  const auto explained =
      explain(signature("rouge"), signature("rouge:stem=off,multi=mean,agg=boot-median"));
  const auto value = [](const std::string& name) {
    const auto metric = *kCatalog.make(name);
    const auto texts = items();
    return metric->aggregate(*metric->measure(texts))[2].value;
  };
  ASSERT_EQ(explained.contributions.size(), 3U);
  EXPECT_EQ(explained.contributions[1].alone.at("rouge1.f"),
            value("rouge:multi=mean") - value("rouge"));
  EXPECT_EQ(explained.contributions[1].in_order.at("rouge1.f"),
            value("rouge:stem=off,multi=mean") - value("rouge:stem=off"));
  EXPECT_EQ(explained.b.at("rouge1.f"), value("rouge:stem=off,multi=mean,agg=boot-median"));
}

TEST(ExplainDiff, DifferentMetricsAreOneSwitch) {
  const auto explained =
      explain(signature("rouge:multi=first"), *read_signature("rouge-1.5.5:stem=off", kCatalog));
  ASSERT_EQ(explained.contributions.size(), 1U);
  EXPECT_EQ(explained.contributions[0].key, "metric");
  EXPECT_EQ(explained.interaction.at("rouge1.f"), 0.0);
}

TEST(ExplainDiff, OptionsWithoutMeaningAloneAreOneSwitch) {
  const auto explained = explain(signature("bleu:tokenize=none"),
                                 signature("bleu:smooth=floor,smooth_value=0.3,lowercase=on"));
  std::vector<std::string> keys;
  for (const Contribution& part : explained.contributions) keys.push_back(part.key);
  EXPECT_THAT(keys, testing::ElementsAre("tokenize", "smooth+smooth_value", "lowercase"));
  const auto metric = *kCatalog.make("bleu:smooth=floor,smooth_value=0.3,lowercase=on");
  EXPECT_EQ(explained.b.at("bleu"), metric->aggregate(*metric->measure(items()))[0].value);
}

/// Metrics whose signature says all their options.
class Rebuilt : public testing::TestWithParam<const char*> {};

TEST_P(Rebuilt, IsTheMetricWithThatSignature) {
  const auto metric = kCatalog.make(GetParam());
  if (!metric) GTEST_SKIP() << metric.error().to_string();
  const SignatureFields read = *read_signature((*metric)->signature() + "|n:2|unit:item", kCatalog);
  const auto computation = computation_of(read, kCatalog);
  ASSERT_TRUE(computation.ok()) << computation.error().to_string();
  const auto again = kCatalog.make(computation->name());
  ASSERT_TRUE(again.ok()) << computation->name();
  EXPECT_EQ((*again)->signature(), (*metric)->signature()) << computation->name();
}

INSTANTIATE_TEST_SUITE_P(
    Metrics, Rebuilt,
    testing::Values("rouge", "covidet", "scrolls", "rouge:multi=best:rougeL.f,agg=boot-median",
                    "rouge:multi=jack-knife,geometric_mean=on", "rouge:split=punkt", "squality",
                    "ideal", "ideal:split=newline,strip=off", "files2rouge", "dyle-rouge",
                    "rouge-1.5.5", "rouge-1.5.5:n=4,lcs=off,bytes=665,alpha=0.3",
                    "rouge-1.5.5:n=1,weight=1.2,skip=4,skip_unigrams=also,words=100",
                    "rouge-1.5.5:skip=any,skip_unigrams=only,formula=B,samples=250",
                    "rouge-1.5.5:stem=on,exceptions=none,sentences=see-escaped,average=mean",
                    "rouge-1.5.5:jackknife=on,formula=B,stem=on", "dyle-rouge:sentences=dyle",
                    "pltrdy-rouge", "pltrdy-rouge:empty=zero", "rouge-chinese:segmenter=char",
                    "longbench", "longbench:empty=error", "longbench:language=zh", "rouge-zh",
                    "rouge-zh:segmenter=char,punctuation=keep,nfkc=off,case=keep,sentences=newline",
                    "rouge-zh:segmenter=jieba,hmm=off", "bleu",
                    "bleu:tokenize=zh,smooth=add-k,smooth_value=2,effective_order=on", "chrf",
                    "chrf++", "chrf:char_order=4,word_order=1,beta=3,lowercase=on,whitespace=on",
                    "chrf:eps_smoothing=on", "coverage:segmenter=char,empty=error",
                    "density:case=keep", "compression:punctuation=drop",
                    "novel-ngrams:count=tokens,segmenter=pretok", "repetition:count=tokens",
                    "length:punctuation=keep", "query-coverage:stem=off,punctuation=keep"),
    [](const auto& info) { return std::to_string(info.index); });

TEST(ExplainDiff, WhatCannotBeComputedIsSaid) {
  const auto message = [&](const SignatureFields& fields) {
    const auto computation = computation_of(fields, kCatalog);
    return computation.ok() ? "" : computation.error().message;
  };
  SignatureFields other_version = signature("rouge");
  other_version.fields.back().second = "0";
  EXPECT_THAT(message(other_version), HasSubstr("has '0', this machine and version have '1'"));
  SignatureFields stem = signature("rouge:multi=first");
  for (auto& [key, value] : stem.fields) {
    if (key == "stem") value = "snowball";
  }
  EXPECT_THAT(message(stem), HasSubstr("stemming: the signature has 'snowball'"));
  EXPECT_THAT(message(stem), testing::Not(HasSubstr("several references")))
      << "what was found is not at fault";
  const auto external =
      read_signature("external|metric:mine@1|columns:mine|agg:mean|v:1", kCatalog);
  ASSERT_TRUE(external.ok());
  EXPECT_THAT(message(*external), HasSubstr("only the program that made it"));
}

}  // namespace
}  // namespace qfs::score
