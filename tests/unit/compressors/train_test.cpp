// What is learned of the sequences that compressors make of prompts.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "methods/compressors/session_lora_compressors.h"
#include "methods/compressors/session_selfcp.h"
#include "methods/compressors/session_train.h"
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
