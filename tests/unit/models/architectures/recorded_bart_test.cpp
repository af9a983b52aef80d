// Steps of an encoder-decoder are recorded by rows and by parts of both attentions; records end
// when sources move to larger memory. On a device that only pretends to record.
#include <gtest/gtest.h>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/device/step_graphs.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/fake_graphs.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::FakeGraphs;
using ::qfs::test::some_tokens;
using ::qfs::test::TinySeq2Seq;

class RecordedBartTest : public ::testing::Test {
 protected:
  RecordedBartTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const TinySeq2Seq tiny = {.positions = 600};
    const auto directory = checkpoints::ModelDirectory::open(tiny.write(folder_));
    EXPECT_TRUE(directory.ok());
    const auto loaded = load_bart_weights(*directory);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    weights_ = *loaded;
  }

  std::unique_ptr<nn::SequenceModel> model(bool recording) const {
    nn::DeviceServices services = nn::cpu_device_services();
    if (recording) services.graphs = &FakeGraphs::table();
    return std::make_unique<nn::DeviceModel>(make_bart_decoder(weights_), services);
  }

  /// Logits of two inputs and of `steps` steps: two rows, in turn one of them alone, then the first
  /// input twice.
  static std::vector<float> decode(nn::SequenceModel& model, int64_t first_tokens, int steps) {
    EXPECT_TRUE(model.begin(2, 40).ok());
    std::vector<float> all;
    std::vector<float> logits(2 * TinySeq2Seq::kVocabulary);
    const auto keep = [&](const Status& status, size_t rows) {
      EXPECT_TRUE(status.ok()) << status.error().to_string();
      all.insert(all.end(), logits.begin(),
                 logits.begin() + static_cast<std::ptrdiff_t>(rows * TinySeq2Seq::kVocabulary));
    };
    const std::span<float> one(logits.data(), TinySeq2Seq::kVocabulary);
    keep(model.prefill(0, {.ids = some_tokens(first_tokens, 1)}, one), 1);
    keep(model.prefill(1, {.ids = some_tokens(20, 2)}, one), 1);
    for (int i = 0; i < steps; ++i) {
      if (i == steps / 2) {
        EXPECT_TRUE(model.reassign(std::vector<int64_t>{1}, std::vector<int64_t>{0}).ok());
      }
      const std::vector<int64_t> rows =
          i % 3 == 1 ? std::vector<int64_t>{i % 2} : std::vector<int64_t>{1, 0};
      std::vector<int32_t> tokens;
      for (size_t r = 0; r < rows.size(); ++r) {
        tokens.push_back(static_cast<int32_t>((i * 31 + static_cast<int>(r) * 7) % 250));
      }
      keep(model.decode(rows, tokens, {logits.data(), rows.size() * TinySeq2Seq::kVocabulary}),
           rows.size());
    }
    return all;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const BartWeights> weights_;
};

TEST_F(RecordedBartTest, replayed_steps_give_the_bits_of_steps_that_run) {
  FakeGraphs& fake = FakeGraphs::fresh();
  const auto recording = model(true);
  EXPECT_EQ(decode(*recording, 300, 24), decode(*model(false), 300, 24));
  // Two rows, one row over two parts of its source, one row over one part.
  EXPECT_EQ(fake.recorded, 3);
  // Prefill takes a step for the decoder's first token; the second source's room, which moves the
  // first one, begins the counts anew.
  EXPECT_EQ(fake.replayed, 24 + 2 - 1 - 3 * nn::StepGraphs::kStepsBefore);
}

TEST_F(RecordedBartTest, records_outlive_a_session_unless_sources_move) {
  FakeGraphs& fake = FakeGraphs::fresh();
  const auto recording = model(true);
  decode(*recording, 300, 24);
  decode(*recording, 512, 24);  // as many parts
  EXPECT_EQ(fake.recorded, 3);
  EXPECT_EQ(decode(*recording, 513, 24), decode(*model(false), 513, 24));
  EXPECT_EQ(fake.recorded, 6);
  EXPECT_EQ(fake.alive.size(), 3u);
}

}  // namespace
}  // namespace qfs::architectures
