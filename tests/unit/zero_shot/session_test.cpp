// A session of zero_shot on a tiny model: what is prompted, cut, produced and reported.
#include "methods/zero_shot/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "harness/core/sha256.h"
#include "harness/core/utf8.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/prompted/prompt_maker.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/tokenizer.h"
#include "methods/zero_shot/spec.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/wrapped_tokenizer.h"

namespace qfs::zero_shot {
namespace {

using ::qfs::test::RecordingSink;
using ::qfs::test::TinyLlama;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ZeroShotSessionTest : public ::testing::Test {
 protected:
  ZeroShotSessionTest() {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    use(TinyLlama{});
    for (const ParamSpec& param : ZeroShotSpec().params()) {
      if (param.default_value) request_.params.set(param.name, *param.default_value);
    }
    request_.params.set("chat", false);
    request_.params.set("prompt", std::string("D: {document}\nQ: {query}\nA:"));
    request_.params.set("max_new_tokens", int64_t{6});
    request_.tokenizer = tokenizers::builtin_tokenizer("words");
  }

  void use(const TinyLlama& tiny) {
    const std::string bytes = tiny.bytes();
    request_.backbone = Resource{"local:x", folder_.write("m.gguf", bytes), sha256_hex(bytes)};
  }
  Result<std::unique_ptr<MethodSession>> open() { return session_factory().open(request_, cache_); }

  RecordingSink run(const std::vector<NumberedExample>& unit) {
    RecordingSink sink;
    auto session = open();
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    const Status status = (*session)->run(unit, sink);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    return sink;
  }
  /// The error of an example that cannot be prompted.
  Error refusal(const NumberedExample& numbered) {
    auto session = open();
    EXPECT_TRUE(session.ok());
    RecordingSink sink;
    const Status status = (*session)->run({&numbered, 1}, sink);
    EXPECT_FALSE(status.ok());
    return status.ok() ? Error{} : status.error();
  }
  static NumberedExample example(int64_t ordinal, std::string query = "why?") {
    NumberedExample numbered;
    numbered.ordinal = ordinal;
    numbered.example.key = "example-" + std::to_string(ordinal);
    numbered.example.document = {{"one two three", "Ann"}, {"four five", ""}};
    numbered.example.query = std::move(query);
    return numbered;
  }

  qfs::test::TemporaryFolder folder_;
  ResourceCache cache_;
  SessionRequest request_;
};

TEST_F(ZeroShotSessionTest, the_prompt_holds_document_and_query_and_is_counted) {
  const RecordingSink sink = run({example(4)});
  const Prediction& prediction = sink.predictions.at(4);
  EXPECT_EQ(prediction.prompt, "D: Ann: one two three\nfour five\nQ: why?\nA:");
  EXPECT_EQ(prediction.tokens_in, static_cast<int64_t>(prediction.prompt.size()));  // bytes
  EXPECT_EQ(prediction.tokens_out, 6);
  EXPECT_EQ(prediction.finish, FinishReason::length);
  EXPECT_FALSE(first_ill_formed_utf8(prediction.text).has_value());
  EXPECT_EQ(sink.phases.at("prefill"), prediction.tokens_in);
  EXPECT_EQ(sink.phases.at("decode"), 5);
  EXPECT_EQ(sink.phases.at("first_token"), 1);
}

TEST_F(ZeroShotSessionTest, phases_say_their_work_and_the_machine_its_limits) {
  const RecordingSink sink = run({example(4)});
  ResourceCache cache;
  const auto backbone = architectures::open_backbone(*request_.backbone, cache);
  ASSERT_TRUE(backbone.ok());
  const nn::ModelWork model = (*backbone)->network->work({});
  const int64_t read = sink.phases.at("prefill");
  EXPECT_EQ(sink.work.at("prefill"), nn::prefill_work(model, {.tokens = read}));
  Work decoding;
  for (int64_t step = 0; step < sink.phases.at("decode"); ++step) {
    const nn::RowGroup row = {1, read + step};
    decoding += nn::decode_work(model, {&row, 1});
  }
  EXPECT_EQ(sink.work.at("decode"), decoding);
  EXPECT_GT(decoding.bytes, 0);
  EXPECT_FALSE(sink.work.contains("first_token"));

  auto session = open();
  ASSERT_TRUE(session.ok());
  const auto limits = (*session)->measure_limits();
  ASSERT_TRUE(limits.ok()) << limits.error().to_string();
  ASSERT_TRUE(limits->has_value());
  EXPECT_GT((*limits)->gemm_flops, 0);
}

TEST_F(ZeroShotSessionTest, only_the_document_is_cut_and_the_ledger_says_where) {
  request_.params.set("local_context", int64_t{2});
  const std::map<std::string, std::string> expected = {{"head", "D: Ann: one\nQ: why?\nA:"},
                                                       {"tail", "D: four five\nQ: why?\nA:"},
                                                       {"middle", "D: Ann:\nfive\nQ: why?\nA:"}};
  for (const auto& [policy, prompt] : expected) {
    request_.params.set("truncate", policy);
    const Prediction prediction = run({example(0)}).predictions.at(0);
    EXPECT_EQ(prediction.prompt, prompt) << policy;
    ASSERT_TRUE(prediction.truncation.has_value());
    EXPECT_EQ(prediction.truncation->document_tokens, 6);
    EXPECT_EQ(prediction.truncation->kept_tokens, 2);
    EXPECT_EQ(prediction.truncation->query_tokens, 1);
    EXPECT_TRUE(prediction.truncation->query_whole);
  }
}

TEST_F(ZeroShotSessionTest, prompt_and_output_together_have_so_many_tokens) {
  constexpr int64_t kWhole = 42;  // bytes are tokens
  const auto written = [&](int64_t total, int64_t reserved) {
    request_.params.set("total_tokens", total);
    request_.params.set("reserved_tokens", reserved);
    return run({example(0)}).predictions.at(0);
  };
  // Where the document fits, what is reserved is no bound: an output has what the prompt leaves.
  const Prediction whole = written(kWhole + 3, 3);
  EXPECT_EQ(whole.tokens_in, kWhole);
  EXPECT_EQ(whole.tokens_out, 3);
  EXPECT_EQ(written(kWhole + 6, 1).tokens_out, 6);
  EXPECT_EQ(written(kWhole + 9, 1).tokens_out, 6) << "max_new_tokens";
  // Else it is cut until that much is left, and a word more would leave less.
  const Prediction cut = written(kWhole + 2, 3);
  EXPECT_EQ(cut.prompt, "D: Ann: one two three\nfour\nQ: why?\nA:");
  EXPECT_EQ(cut.truncation->kept_tokens, 5);
  EXPECT_EQ(cut.tokens_out, 6);
  EXPECT_EQ(written(kWhole - 5 + 3, 3).tokens_out, 3);

  request_.params.set("total_tokens", int64_t{20});
  EXPECT_THAT(refusal(example(3)).message,
              HasSubstr("'example-3' and 3 more tokens leave no room"));
}

TEST_F(ZeroShotSessionTest, a_fixed_number_of_tokens_is_measured_whatever_a_prompt_leaves) {
  request_.params.set("total_tokens", int64_t{45});
  request_.params.set("reserved_tokens", int64_t{3});
  request_.runtime.ignore_eos = true;
  EXPECT_EQ(run({example(0)}).predictions.at(0).tokens_out, 6);
}

TEST_F(ZeroShotSessionTest, a_batch_gives_what_its_examples_give_alone) {
  const std::vector<NumberedExample> unit = {example(0, "a"), example(1, "a longer question?"),
                                             example(2, "")};
  const RecordingSink batch = run(unit);
  ASSERT_THAT(batch.predictions, SizeIs(3));
  for (const NumberedExample& numbered : unit) {
    const Prediction alone = run({numbered}).predictions.at(numbered.ordinal);
    EXPECT_EQ(batch.predictions.at(numbered.ordinal), alone);
  }
}

TEST_F(ZeroShotSessionTest, a_document_that_questions_share_is_read_once) {
  std::vector<NumberedExample> unit = {example(0, "a"), example(1, "a longer question?"),
                                       example(2, "")};
  unit[2].example.document = {{"an entirely other and much longer text", ""}};
  const RecordingSink whole = run(unit);
  request_.params.set("batch_size", int64_t{3});
  request_.params.set("prefix_reuse", true);
  const RecordingSink shared = run(unit);
  const std::string common = "D: Ann: one two three\nfour five\nQ: a";
  const auto positions = static_cast<int64_t>(common.size());  // a byte is a token
  EXPECT_EQ(shared.phases.at("prefill"), whole.phases.at("prefill") - positions);
  EXPECT_EQ(shared.predictions.at(1).extra.text,
            R"({"observed":{"shared_prefix_tokens":)" + std::to_string(positions) + "}}");
  EXPECT_EQ(shared.predictions.at(0), whole.predictions.at(0));
  EXPECT_EQ(shared.predictions.at(1).text, whole.predictions.at(1).text);
  EXPECT_EQ(shared.predictions.at(1).tokens_in, whole.predictions.at(1).tokens_in);
  EXPECT_EQ(shared.predictions.at(2), whole.predictions.at(2));
}

/// Puts a mark before each text that it is given.
struct MarkingTokenizer final : qfs::test::WrappedTokenizer {
  static constexpr int32_t kMark = TinyLlama::kEnd;

  using WrappedTokenizer::WrappedTokenizer;
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    std::vector<tokenizers::Token> tokens = WrappedTokenizer::encode(text);
    tokens.insert(tokens.begin(), {kMark, 0, 0});
    return tokens;
  }
};

TEST_F(ZeroShotSessionTest, pieces_of_a_prompt_are_tokenized_by_themselves) {
  ResourceCache cache;
  const auto opened = architectures::open_backbone(*request_.backbone, cache);
  ASSERT_TRUE(opened.ok());
  auto backbone = std::make_shared<architectures::Backbone>(**opened);
  backbone->tokenizer = std::make_shared<MarkingTokenizer>(backbone->tokenizer);
  const auto prepared = [&] {
    const auto maker = prompted::PromptMaker::open(request_.params, backbone, (*opened)->tokenizer);
    EXPECT_TRUE(maker.ok());
    auto prompt = maker->prepare(example(1).example, 6);
    EXPECT_TRUE(prompt.ok());
    return prompt->input;
  };
  const auto marks = [](const nn::SequenceInput& input) {
    return std::ranges::count(input.ids, MarkingTokenizer::kMark);
  };
  const nn::SequenceInput whole = prepared();
  request_.params.set("prompt_pieces", true);
  const nn::SequenceInput pieces = prepared();
  EXPECT_EQ(marks(whole), 1);
  EXPECT_EQ(marks(pieces), 5);  // "D: ", the document, "\nQ: ", the query, "\nA:"
  EXPECT_EQ(pieces.query.count, whole.query.count);
  EXPECT_EQ(pieces.query.first, whole.query.first + 3);
  EXPECT_EQ(pieces.document.first, whole.document.first + 1);

  EXPECT_TRUE(ZeroShotSpec().validate(request_.params).ok());
  const Params plain = request_.params;
  request_.params.set("prompt", std::string("Read.\n\nQ: {query}\n\nD: {document}\nA:"));
  request_.params.set("memory", std::string("infini"));
  request_.params.set("repeat_query", true);
  EXPECT_EQ(marks(prepared()), 7);  // "Read.\n\nQ: ", query, "\n\nD: ", document, "\n\nQ: ", …
  request_.params.set("preset", std::string("as_released"));
  EXPECT_EQ(marks(prepared()), 8);  // "Read.\n\n" and "Q: " by themselves
  request_.params = plain;
  request_.params.set("chat", true);
  EXPECT_THAT(ZeroShotSpec().validate(request_.params).error().message,
              HasSubstr("'prompt_pieces' needs \"chat\": false"));
}

/// A token for two bytes.
struct PairingTokenizer final : qfs::test::WrappedTokenizer {
  using WrappedTokenizer::WrappedTokenizer;
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    std::vector<tokenizers::Token> tokens;
    for (const tokenizers::Token& token : WrappedTokenizer::encode(text)) {
      if (!tokens.empty() && tokens.back().end - tokens.back().begin == 1) {
        tokens.back().end = token.end;
      } else {
        tokens.push_back(token);
      }
    }
    return tokens;
  }
};

TEST_F(ZeroShotSessionTest, a_document_is_cut_to_the_backbones_tokens_whatever_counts_it) {
  ResourceCache cache;
  const auto opened = architectures::open_backbone(*request_.backbone, cache);
  ASSERT_TRUE(opened.ok());
  auto backbone = std::make_shared<architectures::Backbone>(**opened);
  backbone->tokenizer = std::make_shared<PairingTokenizer>(backbone->tokenizer);
  request_.params.set("total_tokens", int64_t{30});
  request_.params.set("reserved_tokens", int64_t{2});
  const auto maker = prompted::PromptMaker::open(request_.params, backbone, (*opened)->tokenizer);
  ASSERT_TRUE(maker.ok());
  NumberedExample numbered = example(1);
  numbered.example.document = {{std::string(200, 'd'), ""}};
  const auto prompt = maker->prepare(numbered.example, 6);
  ASSERT_TRUE(prompt.ok()) << prompt.error().to_string();
  EXPECT_EQ(prompt->input.ids.size(), 28U);
  EXPECT_GT(prompt->ledger.kept_tokens, 28) << "bytes";
}

TEST_F(ZeroShotSessionTest, a_prompt_beyond_the_window_is_an_error_that_names_the_example) {
  TinyLlama tiny;
  tiny.context = 46;
  use(tiny);
  const Error error = refusal(example(3));
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.message, HasSubstr("'example-3' has 42 tokens"));
  EXPECT_THAT(error.message, HasSubstr("window of 46"));
}

TEST_F(ZeroShotSessionTest, fixed_n_measuring_ignores_every_stop) {
  const std::string free = run({example(0)}).predictions.at(0).text;
  ASSERT_FALSE(free.empty());
  request_.params.set("stop", free.substr(0, 1));
  EXPECT_EQ(run({example(0)}).predictions.at(0).finish, FinishReason::stop);
  request_.runtime.ignore_eos = true;
  EXPECT_EQ(run({example(0)}).predictions.at(0).text, free);
}

TEST_F(ZeroShotSessionTest, weights_are_opened_once_per_host) {
  ASSERT_TRUE(open().ok());
  // The file is gone, the cache is not.
  std::filesystem::remove(request_.backbone->path);
  EXPECT_TRUE(open().ok());
  cache_.clear();
  EXPECT_EQ(open().error().kind, ErrorKind::not_found);
}

TEST_F(ZeroShotSessionTest, a_chat_template_gets_its_date_and_variables) {
  TinyLlama tiny;
  tiny.chat_template =
      "{{ strftime_now('%d.%m.%Y') }} {{ mood }}: {% for m in messages %}{{ m.content }}{% endfor "
      "%}";
  use(tiny);
  request_.params.set("chat", true);
  request_.params.set("chat_date", std::string("2024-07-26"));
  request_.params.set("chat_variables", std::string(R"({"mood": "calm"})"));
  const std::vector<NumberedExample> unit = {example(0)};
  EXPECT_THAT(run(unit).predictions[0].prompt, HasSubstr("26.07.2024 calm: D: Ann: one two three"));
}

TEST_F(ZeroShotSessionTest, what_is_missing_or_wrong_is_said_at_open) {
  request_.params.set("chat", true);
  EXPECT_EQ(open().error().kind, ErrorKind::unavailable);
  EXPECT_THAT(open().error().message, HasSubstr("no chat template"));
  request_.params.set("chat", false);
  request_.backbone->digest = std::string(64, '0');
  EXPECT_EQ(open().error().kind, ErrorKind::data);
  request_.backbone.reset();
  EXPECT_EQ(open().error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace qfs::zero_shot
