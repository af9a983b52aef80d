// What is learned of the sequences that compressors make of prompts.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "methods/compressors/session_lora_compressors.h"
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

/// Begins a text with a token of its own.
struct BeginningTokenizer final : qfs::test::WrappedTokenizer {
  using WrappedTokenizer::WrappedTokenizer;
  tokenizers::TextFrame frame() const override { return {{'b'}, {}}; }
};

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
