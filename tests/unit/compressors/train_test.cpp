// What is learned of the sequences that compressors make of prompts.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "methods/compressors/session_lora_compressors.h"
#include "methods/compressors/session_selfcp.h"
#include "methods/compressors/session_train.h"
#include "methods/models/nn/sequences.h"
#include "tests/support/compressor_sessions.h"
#include "tests/support/wrapped_tokenizer.h"

namespace qfs::compressors {
namespace {

using ::qfs::test::CompressorSessionsTest;

TEST_F(CompressorSessionsTest, labels_are_those_of_the_response_alone) {
  const std::map<std::string, prompted::MakeAdapter> methods = {
      {"selfcp", &make_selfcp}, {"autocompressor", &make_autocompressor}, {"icae", &make_icae}};
  for (const auto& [name, make] : methods) {
    SCOPED_TRACE(name);
    use_method(name);
    ResourceCache cache;
    const auto prompts = prompted::open_prompts(request_, cache);
    ASSERT_TRUE(prompts.ok()) << prompts.error().to_string();
    const auto decoder = prompts->backbone->network->decoder(request_.runtime, "digest", cache);
    ASSERT_TRUE(decoder.ok());
    const auto adapter = make({request_, *prompts, *decoder});
    ASSERT_TRUE(adapter.ok()) << adapter.error().to_string();
    const auto prompt = prompts->maker.prepare_any_length(example(3).example);
    ASSERT_TRUE(prompt.ok());
    const std::vector<int64_t> response = {65, 66, 67, qfs::test::TinyLlama::kEnd};
    training::LabelledSequence sequence{prompt->input, {}};
    sequence.labels.assign(prompt->input.ids.size() - 1, nn::kNoLabel);
    sequence.labels.insert(sequence.labels.end(), response.begin(), response.end());
    sequence.input.ids.insert(sequence.input.ids.end(), response.begin(), response.end() - 1);
    for (const std::optional<uint64_t> draw : {std::optional<uint64_t>(), {7}}) {
      const training::GraphRow row{sequence, draw};
      const auto read = (*adapter)->read({&row, 1});
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      const training::LabelledSequence& read_row = read->sequences.at(0);
      const std::vector<int64_t>& labels = read_row.labels;
      ASSERT_EQ(labels.size(), read_row.input.ids.size());
      const auto first = labels.end() - static_cast<std::ptrdiff_t>(response.size());
      EXPECT_EQ(std::vector(first, labels.end()), response);
      EXPECT_EQ(std::count(labels.begin(), first, nn::kNoLabel), first - labels.begin());
    }
  }
}

/// Documents of one letter, which their summaries say.
NumberedExample letter(int64_t ordinal, int64_t length) {
  NumberedExample numbered;
  numbered.ordinal = ordinal;
  numbered.example.key = "letter-" + std::to_string(ordinal);
  const char said = ordinal % 2 == 0 ? 'a' : 'z';
  numbered.example.document = {{std::string(static_cast<size_t>(length), said), ""}};
  numbered.example.query = "which?";
  numbered.example.references = {std::string(1, said)};
  return numbered;
}

TEST_F(CompressorSessionsTest, what_only_the_memory_shows_is_learned_from_it) {
  data_ = {};
  for (int64_t i = 0; i < 16; ++i) data_.train.push_back(letter(i, 12 + i / 2));
  TrainingData swapped;  // each document beside what another says: as likely to whoever reads none
  for (int64_t i = 20; i < 24; ++i) {
    data_.development.push_back(letter(i, 14));
    swapped.development.push_back(letter(i, 14));
    swapped.development.back().example.references = letter(i + 1, 1).example.references;
  }
  swapped.train = data_.train;
  for (const char* name : {"selfcp", "autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_method(name);
    request_.params.set("train_batch", int64_t{8});
    request_.params.set("steps", int64_t{100});
    Curve own;
    ASSERT_TRUE(fit(name, own).ok());
    write_with(name);
    request_.params.set("learning_rate", 0.0);
    request_.params.set("steps", int64_t{1});
    request_.params.set("evaluate_every", int64_t{1});
    std::swap(data_, swapped);
    Curve other;
    ASSERT_TRUE(fit(std::string(name) + "-swapped", other).ok());
    std::swap(data_, swapped);
    EXPECT_GT(other.last("development.loss"), own.last("development.loss") + 1);
  }
}

/// How a training reads so many tokens, in many draws; a window has 100, and half of up to two is
/// compressed.
struct DrawnPlans {
  explicit DrawnPlans(SelfcpDraws draws, int64_t tokens) {
    const Selfcp method({}, {}, nullptr, {.rules = {.window = 100}}, draws);
    const PromptParts parts{{}, std::vector<int32_t>(static_cast<size_t>(tokens), 65), {}};
    Rng rng = Rng::derived(7, "plans");
    for (int i = 0; i < kDraws; ++i) {
      const Plan plan = *method.drawn_plan(parts, &rng);
      ++memory[plan.segments.front().memory];
      former += plan.segments.front().content.first == 0 ? 1 : 0;
    }
    fixed = *method.drawn_plan(parts, nullptr);
  }
  static constexpr int kDraws = 4000;
  std::map<int64_t, int> memory;  ///< rows of the first segment -> draws
  int former = 0;
  Plan fixed;  ///< for a development loss
};

TEST(DrawnPlans, ADevelopmentLossOfTheReleasesMixIsOfTwoWindows) {
  EXPECT_EQ(DrawnPlans({.released = true}, 500).fixed, DrawnPlans({.released = true}, 200).fixed);
  EXPECT_NE(DrawnPlans({}, 500).fixed, DrawnPlans({}, 200).fixed);
}

TEST(DrawnPlans, RatiosAreDrawnEvenlyOfTheirRange) {
  const DrawnPlans drawn({.least_ratio = 2, .largest_ratio = 6}, 60);
  const std::map<int64_t, int> rows = {{15, 2}, {10, 3}, {8, 4}, {6, 5}, {5, 6}};
  ASSERT_EQ(drawn.memory.size(), rows.size());
  for (const auto& [memory, ratio] : rows) {
    EXPECT_NEAR(drawn.memory.at(memory), DrawnPlans::kDraws / 5, 100) << ratio;
  }
  EXPECT_EQ(drawn.fixed.segments.front().memory, 5) << "12 to 1, within the range";
  EXPECT_EQ(DrawnPlans({.least_ratio = 4, .largest_ratio = 4}, 60).memory.size(), 1U);
}

TEST(DrawnPlans, ACoinSaysWhichSideIsCompressed) {
  EXPECT_NEAR(DrawnPlans({}, 150).former, DrawnPlans::kDraws / 2, 130);
  EXPECT_EQ(DrawnPlans({.side = Side::former}, 150).former, DrawnPlans::kDraws);
  const DrawnPlans latter({.side = Side::latter}, 150);
  EXPECT_EQ(latter.former, 0);
  EXPECT_EQ(latter.fixed.kept, (Range{0, 75}));
}

/// What AutoCompressor or ICAE reads of 40 tokens, in windows of 24 whose memory is 6 rows, with
/// matrices of rank 8.
template <typename Method>
std::vector<ReadPass> passes(const LoraForm& form,
                             const std::shared_ptr<const nn::Decoder>& decoder) {
  auto tensors = *new_lora_tensors(form, *decoder, 6 + form.mode_rows, 8, 8, 0, 7);
  const Method method(form, std::move(tensors), decoder, {.window = 24, .memory = 6});
  const PromptParts parts{{1, 2, 3}, std::vector<int32_t>(40, 65), {4}};
  const Plan plan = *method.plan(parts);
  const CompressionTask task{parts, plan};
  return method.compress({&task, 1})->front().passes;
}

TEST_F(CompressorSessionsTest, what_was_read_is_counted_by_the_papers_formulas) {
  ResourceCache cache;
  const auto prompts = *prompted::open_prompts(request_, cache);
  const auto decoder = *prompts.backbone->network->decoder(request_.runtime, "digest", cache);
  // Two layers of width 32, whose keys and values have 16 columns.
  const int64_t q = 8 * (32 + 32);
  const int64_t v = 8 * (32 + 16);
  const auto summaries = passes<Autocompressor>(autocompressor_form(), decoder);
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].tokens, 20 + 6);
  EXPECT_EQ(summaries[1].tokens, 6 + 20 + 6) << "behind the summary of the first";
  EXPECT_EQ(summaries[1].beside, 32 * 2 * (2 * q + 2 * v)) << "q, k, v and o";
  const auto slots = passes<Icae>(icae_form(), decoder);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots[0].tokens, 1 + 23 + 6) << "a window with the token in front";
  EXPECT_EQ(slots[0].beside, 30 * 2 * (q + v)) << "q and v";
}

/// What is learned of a document of so many tokens, from 1 on, behind a head and before a tail.
Result<training::LabelledSequence> learned(const prompted::TrainedAdapter& adapter,
                                           int32_t tokens) {
  training::LabelledSequence sequence;
  sequence.input.ids = {90, 91};
  for (int32_t id = 1; id <= tokens; ++id) sequence.input.ids.push_back(id);
  sequence.input.document = {2, tokens};
  sequence.input.ids.push_back(92);
  sequence.labels.assign(sequence.input.ids.size() - 1, nn::kNoLabel);
  sequence.labels.push_back(93);
  return adapter.learned(std::move(sequence));
}

/// A training's adapter, and what it stands on.
struct MadeAdapter {
  MadeAdapter(const SessionRequest& request, const prompted::MakeAdapter& make)
      : prompts(*prompted::open_prompts(request, cache)),
        decoder(*prompts.backbone->network->decoder(request.runtime, "digest", cache)),
        adapter(*make({request, prompts, decoder})) {}

  ResourceCache cache;
  prompted::Prompts prompts;
  std::shared_ptr<const nn::Decoder> decoder;
  std::unique_ptr<prompted::TrainedAdapter> adapter;
};

TEST_F(CompressorSessionsTest, a_share_of_auto_encoding_learns_what_follows) {
  use_method("icae");
  request_.params.set("objective", std::string("auto_encoding"));
  request_.params.set("continuation_share", 1.0);
  const MadeAdapter all(request_, &make_icae);
  const auto labels = [](const training::LabelledSequence& of) {
    std::vector<int64_t> known;
    for (const int64_t label : of.labels) {
      if (label != nn::kNoLabel) known.push_back(label);
    }
    return known;
  };
  // 23 tokens are compressed, with the one in front a window, and as many learned.
  const auto longer = labels(*learned(*all.adapter, 60));
  ASSERT_EQ(longer.size(), 23U);
  EXPECT_EQ(longer.front(), 24);
  EXPECT_EQ(longer.back(), 46);
  // Of a document that has not as many behind it one half.
  EXPECT_EQ(labels(*learned(*all.adapter, 30)).front(), 16);
  EXPECT_EQ(labels(*learned(*all.adapter, 30)).back(), 30);
  EXPECT_EQ(labels(*learned(*all.adapter, 9)), (std::vector<int64_t>{6, 7, 8, 9}));
  EXPECT_EQ(labels(*learned(*all.adapter, 1)),
            (std::vector<int64_t>{1, qfs::test::TinyLlama::kEnd}));
  request_.params.set("continuation_share", 0.3);
  const MadeAdapter some(request_, &make_icae);
  int follows = 0;
  for (int32_t tokens = 2; tokens < 402; ++tokens) {
    const auto known = labels(*learned(*some.adapter, tokens));
    follows += known.front() == 1 ? 0 : 1;
    EXPECT_EQ(labels(*learned(*some.adapter, tokens)), known) << "another coin";
  }
  EXPECT_NEAR(follows, 120, 30);

  // The two are written behind rows of their own.
  const auto sequence = *learned(*all.adapter, 30);
  const training::GraphRow row{sequence};
  const at::Tensor table = all.adapter->tensors().at(icae_form().table);
  const auto rows = (*all.adapter->read({&row, 1})).sequences.front().input.embedded;
  EXPECT_TRUE(at::equal(rows.back().rows, table.narrow(0, 6 + 1, 1)));
  request_.params.set("continuation_share", 0.0);
  const MadeAdapter none(request_, &make_icae);
  const auto itself = *learned(*none.adapter, 30);
  const training::GraphRow again{itself};
  EXPECT_TRUE(
      at::equal((*none.adapter->read({&again, 1})).sequences.front().input.embedded.back().rows,
                table.narrow(0, 6, 1)));

  request_.params.set("continuation_share", 0.5);
  request_.params.set("steps", int64_t{40});
  Curve curve;
  ASSERT_TRUE(fit("mixed", curve).ok());
  EXPECT_LT(curve.last("loss"), 0.9 * curve.first("loss"));
}

TEST_F(CompressorSessionsTest, every_token_of_a_text_is_learned_and_then_summaries) {
  use_method("autocompressor");
  request_.params.set("objective", std::string("lm"));
  const MadeAdapter made(request_, &make_autocompressor);
  const auto text = *learned(*made.adapter, 41);
  ASSERT_EQ(text.labels.size(), 40U);
  EXPECT_EQ(std::ranges::count(text.labels, nn::kNoLabel), 1);
  EXPECT_EQ(text.labels[20], nn::kNoLabel) << "the last of the first half";
  for (const std::optional<uint64_t> draw : {std::optional<uint64_t>(), {7}}) {
    const training::GraphRow row{text, draw};
    const auto read = *made.adapter->read({&row, 1});
    ASSERT_EQ(read.sequences.size(), 4U);
    ASSERT_EQ(read.passes.size(), 3U);
    std::vector<int64_t> labels;
    for (size_t i = 0; i < 4; ++i) {
      const training::LabelledSequence& segment = read.sequences[i];
      ASSERT_EQ(segment.labels.size(), segment.input.ids.size());
      for (size_t at = 0; at < segment.labels.size(); ++at) {
        const int64_t label = segment.labels[at];
        if (label == nn::kNoLabel) continue;
        EXPECT_GE(at, 6 * i) << "behind the summaries";
        EXPECT_EQ(label, segment.input.ids[at] + 1);
        labels.push_back(label);
      }
    }
    EXPECT_EQ(std::ssize(labels), 39) << "as many as the text has";
    EXPECT_EQ(labels.front(), 2);
    EXPECT_EQ(labels.back(), 41);
  }
  EXPECT_EQ(learned(*made.adapter, 3)->labels, (std::vector<int64_t>{2, 3}));
  EXPECT_THAT(learned(*made.adapter, 1).error().message,
              ::testing::HasSubstr("a document of one token"));

  // The loss is the mean over a text's tokens, and of texts that of theirs.
  data_.train.resize(2);
  request_.params.set("train_batch", int64_t{1});
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{1});
  request_.params.set("evaluate_every", int64_t{1});
  Curve still;
  ASSERT_TRUE(fit("still", still).ok());
  double mean = 0;
  for (const NumberedExample& numbered : data_.development) {
    const int64_t summary = std::ssize(numbered.example.references.front()) + 2;  // " …" and an end
    const auto prompt = *made.prompts.maker.prepare_within(numbered.example, summary, 160);
    training::LabelledSequence behind{prompt.input, {}};
    behind.labels.assign(behind.input.ids.size() - 1, nn::kNoLabel);
    behind.labels.push_back(65);
    const auto one = *made.adapter->learned(std::move(behind));
    const training::GraphRow row{one};
    double sum = 0;
    const auto read = made.adapter->read({&row, 1});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    for (const training::LabelledSequence& segment : read->sequences) {
      const at::Tensor logits = *nn::sequence_logits(*made.decoder, segment.input);
      for (int64_t at = 0; at < std::ssize(segment.labels); ++at) {
        const int64_t label = segment.labels[static_cast<size_t>(at)];
        if (label != nn::kNoLabel) sum -= at::log_softmax(logits[at], 0)[label].item<double>();
      }
    }
    const auto count = std::ssize(one.labels) - std::ranges::count(one.labels, nn::kNoLabel);
    mean += sum / static_cast<double>(count) / static_cast<double>(data_.development.size());
  }
  EXPECT_NEAR(still.last("development.loss"), mean, 1e-4);

  request_.params.set("learning_rate", 0.02);
  request_.params.set("steps", int64_t{60});
  Curve curve;
  ASSERT_TRUE(fit("texts", curve).ok());
  EXPECT_LT(curve.last("development.loss"), 0.8 * curve.points[3].values.at("development.loss"));
  use_method("autocompressor", false);
  write_with("texts");
  request_.params.set("steps", int64_t{2});
  Curve answers;
  const auto outcome = fit("answers", answers);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
}

/// Begins a text with a token of its own.
struct BeginningTokenizer final : qfs::test::WrappedTokenizer {
  using WrappedTokenizer::WrappedTokenizer;
  tokenizers::TextFrame frame() const override { return {{'b'}, {}}; }
};

TEST_F(CompressorSessionsTest, what_is_written_in_windows_as_learned_may_choose) {
  for (const std::string name : {"selfcp", "autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_method(name);
    Params learned;  // a training has no parameters of writing
    for (const auto& [param, value] : request_.params.values()) {
      if (param != "local_context" && param != "ratio") learned.set(param, value);
    }
    request_.params = learned;
    request_.params.set("select_by", std::string("rouge1"));
    request_.params.set("steps", int64_t{2});
    request_.params.set("evaluate_every", int64_t{2});
    Curve curve;
    const auto outcome = fit(name, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(curve.points.back().values.count("development.rouge1"), 1U);
  }
}

TEST_F(CompressorSessionsTest, summary_rows_begin_as_the_end_token) {
  use_method("autocompressor");
  ResourceCache cache;
  auto prompts = prompted::open_prompts(request_, cache);
  ASSERT_TRUE(prompts.ok()) << prompts.error().to_string();
  const auto decoder = *prompts->backbone->network->decoder(request_.runtime, "digest", cache);
  auto backbone = std::make_shared<architectures::Backbone>(*prompts->backbone);
  backbone->tokenizer = std::make_shared<BeginningTokenizer>(backbone->tokenizer);
  prompts->backbone = backbone;
  const auto adapter = make_autocompressor({request_, *prompts, decoder});
  ASSERT_TRUE(adapter.ok()) << adapter.error().to_string();
  const at::Tensor table = (*adapter)->tensors().at(autocompressor_form().table);
  const at::Tensor row =
      decoder->embed(at::tensor({int64_t{qfs::test::TinyLlama::kEnd}}), at::arange(1));
  EXPECT_TRUE(at::equal(table, row.expand_as(table)));
}

}  // namespace
}  // namespace qfs::compressors
