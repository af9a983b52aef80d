// metrics/rouge155 against the Perl script: printed lines byte for byte, scores of single
// evaluations, stems. Expected values: make_rouge155_expected.py.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "metrics/catalog.h"
#include "metrics/rouge155/cyl_stemmer.h"
#include "metrics/rouge155/evaluation.h"
#include "metrics/rouge155/report.h"
#include "metrics/rouge155/scorer.h"
#include "tests/support/rouge155_corpus.h"
#include "tests/support/rouge155_switches.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

namespace r155 = metrics::rouge155;

constexpr size_t kBlock = 100;

nlohmann::json read_json(const std::string& name) {
  std::ifstream file("tests/conformance/metrics/" + name);
  return nlohmann::json::parse(file);
}

std::shared_ptr<r155::Lexicon> own_lexicon(bool exceptions) {
  const nlohmann::json lists = read_json("rouge155_lists.json");
  auto lexicon = std::make_shared<r155::Lexicon>();
  if (exceptions) {
    for (const auto& [form, lemma] : lists.at("exceptions").items()) {
      lexicon->exceptions.lemma_of[form] = lemma;
    }
  }
  for (const nlohmann::json& word : lists.at("stop_words")) {
    lexicon->stop_words.words.insert(word.get<std::string>());
  }
  return lexicon;
}

/// The lists that the switches ask for.
std::shared_ptr<const r155::Lexicon> lexicon_for(const Rouge155Switches& switches,
                                                 std::shared_ptr<r155::Lexicon> lists) {
  lists->stem = switches.stem;
  if (!switches.stop) lists->stop_words = {};
  return lists;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Rouge155Conformance, EveryPrintedLineEqualsThePerlScripts) {
  const nlohmann::json sets = read_json("rouge155_sets.json");
  const nlohmann::json expected = read_json("rouge155_lines.json");
  ASSERT_EQ(sets.size(), expected.size());
  ASSERT_GE(sets.size(), 10U);
  for (size_t i = 0; i < sets.size(); ++i) {
    const nlohmann::json& set = sets[i];
    SCOPED_TRACE(set.at("name").get<std::string>());
    const Rouge155Switches switches = parse_rouge155_switches(set.at("switches"));
    const TemporaryFolder folder;
    const std::string path = write_rouge155_corpus(
        folder, rouge155_corpus(set.at("seed"), set.value("anchor", false)), set.at("format"));
    auto configuration = r155::parse_configuration(*read_file(path), path);
    ASSERT_TRUE(configuration.ok()) << configuration.error().to_string();
    if (set.value("jackknife", false)) *configuration = r155::jackknifed(*configuration);
    const std::vector<std::string> systems = set.contains("system")
                                                 ? std::vector<std::string>{set.at("system")}
                                                 : configuration->systems;
    const auto report =
        r155::evaluate(*configuration, systems, switches.options,
                       lexicon_for(switches, own_lexicon(set.value("exceptions", "") != "none")));
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_EQ(lines_of(report->lines), expected[i].at("lines").get<std::vector<std::string>>());
  }
}

/// Scores of single evaluations against digests of those that -d printed.
void expect_equal_scores(const std::vector<std::pair<std::string, std::string>>& pairs,
                         const nlohmann::json& expected, std::shared_ptr<r155::Lexicon> lists) {
  ASSERT_EQ(pairs.size(), expected.at("count").get<size_t>());
  const Rouge155Switches switches = parse_rouge155_switches(expected.at("switches"));
  r155::Scorer scorer(switches.options.scoring, lexicon_for(switches, std::move(lists)));
  std::vector<std::vector<r155::InstanceScore>> scores(scorer.variants().size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<r155::Summary> references = {
        scorer.encode(r155::split_lines(pairs[i].first))};
    const auto counts =
        scorer.counts(scorer.encode(r155::split_lines(pairs[i].second)), references);
    ASSERT_TRUE(counts.ok()) << counts.error().to_string();
    for (size_t v = 0; v < scores.size(); ++v) {
      scores[v].push_back(
          {std::to_string(i + 1) + ".S", scorer.triple(scorer.variants()[v], (*counts)[v])});
    }
  }
  ASSERT_EQ(expected.at("variants").size(), scores.size());
  for (size_t v = 0; v < scores.size(); ++v) {
    const std::string label = scorer.variants()[v].label;
    const nlohmann::json& blocks = expected.at("variants").at("ROUGE-" + label);
    const std::string head = "S ROUGE-" + label + " Eval ";
    std::vector<std::string> rows = lines_of(r155::format_instances({"S", label, "95"}, scores[v]));
    rows.erase(rows.begin());
    for (size_t b = 0; b < blocks.size(); ++b) {
      std::string text;
      for (size_t i = b * kBlock; i < std::min((b + 1) * kBlock, rows.size()); ++i) {
        text += (text.empty() ? "" : "\n") + rows[i].substr(head.size());
      }
      EXPECT_EQ(sha256_hex(text).substr(0, 16), blocks[b].get<std::string>())
          << label << ": an evaluation after " << b * kBlock << " differs";
    }
  }
}

TEST(Rouge155Conformance, TwentyThousandGeneratedPairs) {
  const nlohmann::json expected = read_json("rouge155_pairs.json");
  expect_equal_scores(rouge155_pairs(expected.at("seed"), expected.at("count")), expected,
                      own_lexicon(true));
}

TEST(Rouge155Conformance, TwoThousandXsumPairsWithTheGenuineLists) {
  const auto folder = shared_data("xsum/xsum-model-predictions");
  const auto lists = shared_data("rouge155_data");
  QFS_SKIP_WITHOUT_DATA(folder);
  QFS_SKIP_WITHOUT_DATA(lists);
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto gold = lines_of(*read_file((folder / "gold-test-sentences.txt").string()));
  for (const char* system : {"lead", "ptgen"}) {
    const auto outputs =
        lines_of(*read_file((folder / (std::string(system) + "-test-output.txt")).string()));
    for (size_t i = 0; i < 1000; ++i) pairs.emplace_back(gold[i], outputs[i]);
  }
  const nlohmann::json real = read_json("rouge155_real.json");
  for (const auto& [switches, expected] : real.items()) {
    SCOPED_TRACE(switches);
    auto lexicon = std::make_shared<r155::Lexicon>();
    lexicon->exceptions = *r155::read_exceptions((lists / "wordnet-2.0.exc.tsv").string());
    lexicon->stop_words = *r155::read_stop_words((lists / "smart_common_words.txt").string());
    expect_equal_scores(pairs, expected, std::move(lexicon));
  }
}

/// "1 ROUGE-2 Average_R: 0.13469" as {"rouge2.r", 0.13469}.
std::map<std::string, double> printed_averages(const std::vector<std::string>& lines) {
  std::map<std::string, double> averages;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string system, variant, statistic;
    double value = 0;
    if (!(words >> system >> variant >> statistic >> value)) continue;
    const char letter = static_cast<char>(statistic.at(8) - 'A' + 'a');
    averages["rouge" + variant.substr(6) + "." + letter] = value;
  }
  return averages;
}

TEST(Rouge155Conformance, MetricGivesWhatWrappersPrint) {
  const nlohmann::json expected = read_json("rouge155_wrappers.json");
  std::vector<ScoreItem> items;
  for (const auto& [reference, candidate] :
       rouge155_pairs(expected.at("seed"), expected.at("count"))) {
    if (candidate.find_first_not_of(" \t\n\v\f\r") == std::string::npos) continue;
    ScoreItem item;
    item.candidate = candidate;
    item.references = {reference};
    items.push_back(std::move(item));
  }
  for (const char* form : {"see", "see-escaped", "files2rouge"}) {
    const auto metric = metrics::BuiltinMetrics().make(
        std::string("rouge-1.5.5:stem=on,exceptions=none,sentences=") + form);
    ASSERT_TRUE(metric.ok()) << metric.error().to_string();
    const auto rows = (*metric)->measure(items);
    ASSERT_TRUE(rows.ok()) << rows.error().to_string();
    std::map<std::string, double> values;
    for (const Score& score : (*metric)->aggregate(*rows)) values[score.name] = score.value;
    EXPECT_EQ(values.size(), 9U);
    EXPECT_EQ(values, printed_averages(expected.at(form).get<std::vector<std::string>>())) << form;
  }
}

TEST(Rouge155Conformance, FiftyThousandStems) {
  const nlohmann::json expected = read_json("rouge155_stems.json");
  const RandomTexts texts;
  SplitMix64 rng(expected.at("seed").get<uint64_t>());
  std::vector<std::string> stems;
  for (size_t i = 0; i < expected.at("count").get<size_t>(); ++i) {
    const std::string word = texts.word(rng);
    stems.push_back(r155::cyl_stem(word));
    if (i >= expected.at("first").size()) continue;
    EXPECT_EQ(expected.at("first")[i], nlohmann::json({word, stems.back()}));
  }
  const nlohmann::json& blocks = expected.at("blocks");
  for (size_t b = 0; b < blocks.size(); ++b) {
    std::string text;
    for (size_t i = b * 1000; i < (b + 1) * 1000; ++i)
      text += (i > b * 1000 ? "\n" : "") + stems[i];
    EXPECT_EQ(sha256_hex(text), blocks[b].get<std::string>()) << "a stem after " << b * 1000;
  }
}

}  // namespace
}  // namespace qfs::test
