// BERTScore of whole texts equals bert_score 0.3.13's on tiny BERT, DistilBERT, RoBERTa and BART
// encoders and on all-MiniLM-L6-v2: token ids, and values to 2e-5; by
// make_bertscore_models_expected.py. MiniLM comes from ./bootstrap.sh minilm; without it its tests
// are skipped.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/apps/bertscore_session.h"
#include "methods/models/architectures/bert/text_embedder.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/registry/registry.h"
#include "metrics/bertscore/baseline.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::metrics {
namespace {

using nlohmann::json;

constexpr double kTolerance = 2e-5;

json expected(const std::string& name) {
  std::ifstream file("tests/conformance/metrics/" + name);
  return json::parse(file);
}

/// [text, times] for a text that is repeated with spaces between.
std::string text_of(const json& text) {
  if (text.is_string()) return text;
  std::string repeated = text[0];
  for (int i = 1; i < text[1].get<int>(); ++i) repeated += " " + text[0].get<std::string>();
  return repeated;
}

struct Corpus {
  std::vector<CorpusText> texts;
  std::vector<TextPairs> items;
};

Corpus corpus_of(const json& items) {
  Corpus corpus;
  std::map<std::string, int64_t> numbers;
  const auto number = [&](const json& text, int64_t uses) {
    const std::string whole = text_of(text);
    const auto [place, added] =
        numbers.try_emplace(whole, static_cast<int64_t>(corpus.texts.size()));
    if (added) corpus.texts.push_back({whole, 0});
    corpus.texts[static_cast<size_t>(place->second)].reference_uses += uses;
    return place->second;
  };
  for (const json& item : items) {
    TextPairs pairs;
    pairs.ordinal = static_cast<int64_t>(corpus.items.size());
    pairs.candidate = number(item[0], 0);
    for (const json& reference : item[1]) pairs.references.push_back(number(reference, 1));
    corpus.items.push_back(pairs);
  }
  return corpus;
}

SessionRequest request_of(const Resource& model, int64_t layer, const json& options,
                          const std::string& baseline) {
  SessionRequest request;
  request.backbone = model;
  request.params.set("layer", layer);
  request.params.set("idf", options.value("idf", false));
  request.params.set("prefix_space", options.value("prefix_space", false));
  request.params.set("batch", options.value("batch", int64_t{0}));
  if (options.value("rescale", false)) {
    const auto row = read_baseline(baseline, "baseline.tsv", layer);
    request.params.set("baseline_p", row->precision);
    request.params.set("baseline_r", row->recall);
    request.params.set("baseline_f", row->f);
  }
  return request;
}

void expect_ids(const Resource& model, int64_t layer, const json& options, const json& ids) {
  ResourceCache cache;
  const auto embedder = architectures::TextEmbedder::open(
      model, {.layer = layer, .prefix_space = options.value("prefix_space", false)}, cache);
  ASSERT_TRUE(embedder.ok()) << embedder.error().to_string();
  for (const auto& [text, list] : ids.items()) {
    // bert_score strips; texts of white space alone are there as their special tokens.
    const size_t begin = text.find_first_not_of(" \n");
    std::string stripped = begin == text.npos ? "" : text;
    if (text == " \u3000\n") stripped.clear();
    if (text == "\u00a0cat\u00a0") stripped = "cat";
    const auto tokens = (*embedder)->tokens(stripped);
    ASSERT_TRUE(tokens.ok());
    EXPECT_EQ(tokens->ids, list.get<std::vector<int32_t>>()) << text;
  }
}

/// Items are added and scored in two requests unless batches go over them.
void expect_scores(const SessionRequest& request, const json& items, const json& scores) {
  ResourceCache cache;
  const auto session = apps::bertscore_factory().open(request, cache);
  ASSERT_TRUE(session.ok()) << session.error().to_string();
  const Corpus corpus = corpus_of(items);
  (*session)->begin_corpus();
  const auto added = (*session)->add_texts(corpus.texts);
  ASSERT_TRUE(added.ok()) << added.error().to_string();
  EXPECT_GE(added->truncated.size(), 2U);
  const size_t half =
      request.params.get<int64_t>("batch") == 0 ? corpus.items.size() / 2 : corpus.items.size();
  std::vector<Statistics> rows;
  for (const auto& part :
       {std::span(corpus.items).first(half), std::span(corpus.items).subspan(half)}) {
    const auto measured = (*session)->score(part);
    ASSERT_TRUE(measured.ok()) << measured.error().to_string();
    rows.insert(rows.end(), measured->begin(), measured->end());
  }
  ASSERT_EQ(rows.size(), scores.size());
  double largest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(rows[i][c], scores[i][c].get<double>(), kTolerance) << items[i].dump();
      largest = std::max(largest, std::abs(rows[i][c] - scores[i][c].get<double>()));
    }
  }
  testing::Test::RecordProperty("largest_difference", std::to_string(largest));
}

TEST(BertScoreModels, TinyEncodersGiveBertScoresIdsAndValues) {
  ASSERT_TRUE(nn::configure_torch({}).ok());
  const json file = expected("bertscore_models_expected.json");
  ASSERT_GE(file.at("cases").size(), 10U);
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const test::TemporaryFolder folder;
    const std::string path = test::write_tiny_checkpoint(folder, test_case);
    for (const auto& [name, text] : test_case.at("files").items()) {
      folder.write(name, text.get<std::string>());
    }
    const auto directory = checkpoints::ModelDirectory::open(path);
    ASSERT_TRUE(directory.ok());
    const Resource model{"local", path, *directory->digest()};
    const json& options = test_case.at("options");
    const int64_t layer = test_case.at("layer");
    expect_ids(model, layer, options, test_case.at("ids"));
    expect_scores(request_of(model, layer, options, test_case.at("baseline")),
                  test_case.at("items"), test_case.at("scores"));
  }
}

TEST(BertScoreModels, MiniLmGivesBertScoresIdsAndValues) {
  const Result<Resource> model = registry::resolve_backbone("minilm");
  if (!model.ok()) GTEST_SKIP() << "all-MiniLM-L6-v2: " << model.error().to_string();
  ASSERT_TRUE(nn::configure_torch({}).ok());
  const json file = expected("bertscore_minilm_expected.json");
  expect_ids(*model, 6, json::object(), file.at("ids"));
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    expect_scores(
        request_of(*model, test_case.at("layer"), test_case.at("options"), file.at("baseline")),
        file.at("items"), test_case.at("scores"));
  }
}

}  // namespace
}  // namespace qfs::metrics
