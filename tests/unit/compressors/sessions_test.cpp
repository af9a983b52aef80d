// Sessions of methods that compress on tiny models: what is learned, kept, continued after a crash,
// and written with; what is refused.
#include "methods/compressors/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "methods/compressors/session_lingua.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/checkpoints/safetensors.h"
#include "tests/support/compressor_sessions.h"

namespace qfs::compressors {
namespace {

using ::qfs::test::CompressorSessionsTest;
using ::qfs::test::Curve;
using ::qfs::test::kCompressorPrompt;
using ::testing::HasSubstr;

/// GoogleTest runs suites of this name before others, while this process has passed no failpoint.
using CompressorSessionsDeathTest = CompressorSessionsTest;

TEST_F(CompressorSessionsDeathTest, a_kill_is_continued_to_the_same_bytes) {
  expect_kills_change_nothing({"training.step:5"}, "adapter.safetensors");
}

TEST_F(CompressorSessionsTest, selfcp_learns_with_a_connector_and_a_tag) {
  request_.params.set("steps", int64_t{120});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_LT(curve.last("development.loss"), 0.75 * curve.first("loss"));
  // Connector with bias and LayerNorm and a tag, of width 32.
  EXPECT_EQ(outcome->cost.trainable_parameters, 32 * 32 + 32 + 2 * 32 + 32);
  write_with("a");
  EXPECT_NE(output(), "");
}

TEST_F(CompressorSessionsTest, a_document_is_read_as_its_length_asks) {
  trained("a", 1);
  // "Ann: line 0" three times and more; bytes are tokens, and so is each newline between.
  const auto two = compression(0);
  EXPECT_EQ(two.at("content_tokens"), 35);
  EXPECT_EQ(two.at("segments"), nlohmann::json::parse("[[18,17,5]]"));
  EXPECT_EQ(two.at("kept_tokens"), 18);
  EXPECT_DOUBLE_EQ(two.at("achieved_ratio"), 17 / 5.0);
  // Two passes' worth of the model and the connector; half of attention's square is left out.
  EXPECT_GT(two.at("flops_eager").get<double>(), two.at("flops_lean").get<double>());
  EXPECT_GT(two.at("flops_lean").get<double>(), 0.5 * two.at("flops_eager").get<double>());
  const auto more = compression(3);
  EXPECT_EQ(more.at("content_tokens"), 73);
  EXPECT_EQ(more.at("kept_tokens"), 24);
  EXPECT_EQ(more.at("segments"), nlohmann::json::parse("[[24,17,5],[41,16,4],[57,16,4]]"));
  request_.params.set("strategy", std::string("former"));
  EXPECT_EQ(compression(3).at("segments"), nlohmann::json::parse("[[0,17,5],[17,16,4],[33,16,4]]"));
  request_.params.set("ratio", 0.0);
  EXPECT_FALSE(compression(3).contains("achieved_ratio"));
  request_.params.set("ratio", 24.0);
  EXPECT_EQ(compression(3).at("memory_tokens"), 3);
  request_.params.set("local_context", int64_t{100});
  EXPECT_EQ(compression(3).at("compressed_tokens"), 0);
  request_.params.set("compress_short", true);
  EXPECT_EQ(compression(3).at("segments"), nlohmann::json::parse("[[0,37,2]]"));
  request_.params.set("compress_short", false);
  request_.params.set("input_tokens", int64_t{4});
  EXPECT_LT(compression(3).at("content_tokens"), 73);  // words of the cell's tokenizer
}

TEST_F(CompressorSessionsTest, what_stands_between_segments_counts_as_it_is_read) {
  use_method("llmlingua", false);
  request_.params.set("input_tokens", int64_t{60});
  request_.tokenizer.reset();  // documents are counted by the backbone's
  const int64_t read = compression(3).at("content_tokens");
  EXPECT_LE(read, 60);
  EXPECT_GT(read, 55);
}

TEST_F(CompressorSessionsTest, the_window_may_hold_all_that_is_read) {
  trained("a", 1);
  request_.params.set("window_counts", std::string("total"));
  request_.params.set("local_context", int64_t{40});
  // "Q: why?\nD: " and a separator are 12 tokens; 28 are left for content and memory at 4 to 1.
  EXPECT_EQ(compression(3).at("kept_tokens"), 22);
  request_.params.set("local_context", int64_t{12});
  qfs::test::RecordingSink sink;
  ResourceCache cache;
  auto session = sessions_.open(request_, cache);
  ASSERT_TRUE(session.ok());
  const std::vector<NumberedExample> unit = {example(3)};
  const Status refused = (*session)->run(unit, sink);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("'example-3': a window of 12 tokens has no room"));

  request_.params.set("local_context", int64_t{40});
  request_.params.set("ratio", 30.0);
  session = sessions_.open(request_, cache);
  ASSERT_TRUE(session.ok());
  const Status long_ratio = (*session)->run(unit, sink);
  ASSERT_FALSE(long_ratio.ok());
  EXPECT_THAT(long_ratio.error().message, HasSubstr("a 'ratio' of 30 for segments of up to 27"));
}

TEST_F(CompressorSessionsTest, outputs_depend_on_the_memory_and_not_on_the_batch) {
  trained("a", 40);
  const std::vector<NumberedExample> three = {example(3), example(5), example(0)};
  const auto together = outputs(three);
  request_.params.set("segment_batch", int64_t{1});
  for (size_t i = 0; i < three.size(); ++i) EXPECT_EQ(outputs({three[i]}).front(), together[i]);
  const auto sink = run(three);
  EXPECT_GT(sink.phases.at("compress"), 0);
  const auto alone = run({example(3)});
  double phases = 0;
  for (const char* name : {"compress", "prefill", "decode"}) {
    phases += static_cast<double>(alone.work.at(name).flops);
  }
  const auto facts = nlohmann::json::parse(alone.predictions.at(3).extra.text).at("compression");
  EXPECT_NEAR(phases / facts.at("flops_lean").get<double>(), 1, 0.02);
  request_.params.set("ratio", 0.0);
  EXPECT_NE(outputs(three), together);
}

TEST_F(CompressorSessionsTest, memory_may_be_of_another_document) {
  constexpr size_t kKept = 24;
  NumberedExample own = example(3);
  const std::string text = rendered_document(own.example);
  const std::string other = "Bob: shorter and of other things";
  std::string mixed = text.substr(0, kKept);
  for (size_t at = kKept; at < text.size(); ++at) mixed += other[at % other.size()];
  NumberedExample expected = own;
  expected.example.document = {{mixed, ""}};
  own.example.other_document = {{other, ""}};
  const auto compare = [&] {
    EXPECT_EQ(outputs({own}), outputs({expected}));
    EXPECT_NE(outputs({own}), outputs({example(3)}));
  };
  trained("a", 40);
  compare();
  use_method("llmlingua", false);
  compare();
  own.example.other_document = {{"", ""}};
  qfs::test::RecordingSink sink;
  ResourceCache cache;
  EXPECT_THAT((*sessions_.open(request_, cache))->run({&own, 1}, sink).error().message,
              HasSubstr("'example-3': the prompt has no token of a document"));
}

TEST_F(CompressorSessionsTest, every_form_and_mix_trains_and_writes) {
  std::set<std::string> files;
  const auto train_with = [&](const std::vector<std::pair<std::string, ParamValue>>& given) {
    const Params before = request_.params;
    for (const auto& [name, value] : given) request_.params.set(name, value);
    const std::string folder = "form-" + std::to_string(files.size());
    const auto outcome = trained(folder, 3);
    EXPECT_EQ(outputs({example(3)}).size(), 1U) << given.front().first;
    EXPECT_TRUE(files.insert(trained_bytes(folder)).second)
        << given.front().first << " learns what another form or mix does";
    request_.params = before;
    return outcome.cost.trainable_parameters;
  };
  EXPECT_EQ(train_with({{"connector", std::string("linear_bias_ln")}}), 32 * 32 + 4 * 32);
  EXPECT_EQ(train_with({{"connector", std::string("linear")}}), 32 * 32 + 32);
  EXPECT_EQ(train_with({{"connector", std::string("linear_bias")}}), 32 * 32 + 2 * 32);
  EXPECT_EQ(train_with({{"train_separator", true}}), 32 * 32 + 5 * 32);
  train_with({{"train_mix", std::string("released")}});
  train_with({{"train_strategy", std::string("former")}});
  train_with({{"objective", std::string("auto_encoding")}});
  train_with({{"connector_init", std::string("standard")}});
  train_with({{"recompute", true}, {"train_dtype", std::string("bfloat16")}});
}

TEST_F(CompressorSessionsTest, a_step_without_any_memory_changes_nothing) {
  request_.params.set("train_mix", std::string("released"));
  request_.params.set("train_window", int64_t{200});
  request_.params.set("ratio_min", int64_t{200});
  request_.params.set("ratio_max", int64_t{200});
  request_.params.set("steps", int64_t{3});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_EQ(curve.last("gradient_norm"), 0);
}

TEST_F(CompressorSessionsTest, auto_encoding_comes_first_and_is_begun_with) {
  request_.params.set("objective", std::string("auto_encoding"));
  request_.params.set("steps", int64_t{40});
  request_.params.set("evaluate_every", int64_t{1});
  Curve first;
  ASSERT_TRUE(fit("first", first).ok());
  const double begun = first.first("development.loss");
  double least = begun;
  for (const TrainingPoint& point : first.points) {
    least = std::min(least, point.values.at("development.loss"));
  }
  EXPECT_LT(least, 0.85 * begun);
  write_with("first");
  request_.params.set("learning_rate", 0.0);
  Curve second;
  ASSERT_TRUE(fit("second", second).ok());
  EXPECT_NEAR(second.last("development.loss"), least, 1e-5);
  request_.params.set("connector", std::string("linear"));
  EXPECT_THAT(refusal(), HasSubstr("its connector is 'linear_bias_ln'"));
}

TEST_F(CompressorSessionsTest, what_does_not_fit_is_refused) {
  EXPECT_THAT(opened(), HasSubstr("no trained file was given"));
  trained("a", 1);
  EXPECT_EQ(opened(), "opened");
  const std::string bytes = trained_bytes("a");
  const auto file = checkpoints::open_safetensors(folder_ / "a/adapter.safetensors");
  ASSERT_TRUE(file.ok());
  const auto changed = [&](const std::string& without, std::map<std::string, std::string> said) {
    std::vector<checkpoints::StoredTensor> tensors;
    for (const auto& entry : (*file)->tensors()) {
      if (entry.name == without) continue;
      const auto mapped = (*file)->mapped_bytes(entry);
      tensors.push_back({entry.name,
                         entry.type,
                         entry.shape,
                         {reinterpret_cast<const char*>(mapped.data()), mapped.size()}});
    }
    folder_.write("changed.safetensors", checkpoints::safetensors_bytes(tensors, said));
    request_.artifacts["adapter"] = {"", folder_ / "changed.safetensors", ""};
    return opened();
  };
  EXPECT_EQ(changed("", {}), "opened");
  EXPECT_THAT(changed("mlp.0.weight", {}), HasSubstr("mlp.0.weight"));
  EXPECT_THAT(changed("norm.bias", {}), HasSubstr("norm.bias"));
  EXPECT_THAT(changed("mlp.0.bias", {}), HasSubstr("LayerNorm behind a connector without a bias"));
  EXPECT_THAT(changed("", {{"method", "icae"}}), HasSubstr("trained by 'icae'"));
  EXPECT_THAT(changed("", {{"connector", "linear"}}), HasSubstr("its tensors are linear_bias_ln"));
  EXPECT_THAT(changed("", {{"rows", "separator,tag"}}), HasSubstr("its tensors are tag"));
  EXPECT_THAT(changed("", {{"tag_id", "x"}}), HasSubstr("'tag_id' is 'x'"));
  EXPECT_THAT(changed("", {{"backbone_sha256", "00"}}), HasSubstr("backbone with the digest 00"));
  write_with("a");
  use_llama({.layers = 2, .seed = 5}, kCompressorPrompt);
  EXPECT_THAT(opened(), HasSubstr("'local:x' is " + request_.backbone->digest));
  use_llama({.layers = 2, .hidden = 48}, kCompressorPrompt);
  EXPECT_THAT(opened(), HasSubstr("adapter.safetensors"));
  use_llama({.layers = 2}, kCompressorPrompt);
  request_.artifacts.clear();
  request_.params.set("tag_id", int64_t{4000});
  EXPECT_THAT(refusal(), HasSubstr("token id 4000"));
}

TEST_F(CompressorSessionsTest, what_exceeds_the_backbones_window_is_an_error_of_the_example) {
  use_llama({.layers = 2, .context = 64}, kCompressorPrompt);
  request_.params.set("train_tokens", int64_t{60});
  trained("a", 1);
  const std::vector<NumberedExample> unit = {example(3)};
  const auto refused = [&] {
    ResourceCache cache;
    qfs::test::RecordingSink sink;
    auto session = sessions_.open(request_, cache);
    const Status status = (*session)->run(unit, sink);
    return status.ok() ? "written" : status.error().message;
  };
  EXPECT_EQ(refused(), "written");
  std::vector<NumberedExample> empty = unit;
  empty.front().example.document.clear();
  {
    ResourceCache cache;
    qfs::test::RecordingSink sink;
    auto session = sessions_.open(request_, cache);
    const Status status = (*session)->run(empty, sink);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("'example-3': the prompt has no token"));
  }
  request_.params.set("ratio", 1.0);
  EXPECT_THAT(refused(), HasSubstr("'example-3'"));
  request_.params.set("ratio", 4.0);
  request_.params.set("local_context", int64_t{60});
  EXPECT_THAT(refused(), HasSubstr("window of 64"));
}

TEST_F(CompressorSessionsTest, methods_with_adapters_learn_and_write) {
  for (const std::string name : {"autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_method(name);
    request_.params.set("rank", int64_t{2});
    request_.params.set("alpha", 2.0);
    request_.params.set("steps", int64_t{60});
    Curve curve;
    const auto outcome = fit(name, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_LT(curve.last("development.loss"), 0.75 * curve.first("loss"));
    // Two layers of width 32 with keys of 16; six rows of memory and, of ICAE, three modes.
    const bool icae = name == "icae";
    EXPECT_EQ(outcome->cost.trainable_parameters,
              2 * 2 * (icae ? 64 + 48 : 64 + 48 + 48 + 64) + (icae ? 9 : 6) * 32);
    write_with(name);
    const auto facts = compression(3);
    EXPECT_EQ(facts.at("segments"), nlohmann::json::parse(icae ? "[[0,23,6]]"
                                                               : "[[0,19,6],[19,18,6],[37,18,6],"
                                                                 "[55,18,6]]"));
    const std::vector<NumberedExample> two = {example(3), example(0)};
    const auto together = outputs(two);
    EXPECT_EQ(together[1], outputs({two[1]}).front());
    NumberedExample brief = example(3);
    brief.example.document = {{"abcdefghij", ""}};  // ten tokens
    const auto rows = [&] {
      const auto extra = nlohmann::json::parse(predictions({brief}).front().extra.text);
      return extra.at("compression").at("segments").at(0).at(2);
    };
    EXPECT_EQ(rows(), 6) << "as of a whole window";
    request_.params.set("segment_rows", std::string("length"));
    EXPECT_EQ(rows(), 3);
    EXPECT_EQ(compression(3).at("segments"), nlohmann::json::parse(icae ? "[[0,23,6]]"
                                                                        : "[[0,19,5],[19,18,5],"
                                                                          "[37,18,5],[55,18,5]]"));
    request_.params.set("segment_rows", std::string("window"));
    request_.params.set("ratio", 2.0);
    EXPECT_THAT(opened(), HasSubstr("takes 12 rows"));
    request_.params.set("ratio", 12.0);
    EXPECT_EQ(compression(0).at("segments").at(0).at(2), 2);
  }
}

TEST_F(CompressorSessionsTest, cost_has_the_passes_that_make_the_memory) {
  const auto flops = [&](const std::string& name) {
    request_.params.set("steps", int64_t{1});
    Curve curve;
    const auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    return outcome.ok() ? static_cast<double>(outcome->cost.flops) : 0;
  };
  const double once = flops("once");
  request_.params.set("recompute", true);
  const double again = flops("again");  // three passes in place of two, but for the head
  EXPECT_GT(again, 1.3 * once);
  EXPECT_LT(again, 1.5 * once);
  request_.params.set("recompute", false);
  request_.params.set("train_window", int64_t{16});  // more of each document is compressed
  EXPECT_GT(flops("more"), 1.05 * once);
}

TEST_F(CompressorSessionsTest, files_of_other_methods_and_forms_are_told_apart) {
  use_method("icae");
  request_.params.set("objective", std::string("auto_encoding"));
  trained("icae", 2);
  EXPECT_EQ(opened(), "opened");
  use_method("autocompressor", false);
  EXPECT_THAT(opened(), HasSubstr("was trained by 'icae', not by 'autocompressor'"));
  trained("auto", 2);
  EXPECT_EQ(opened(), "opened");
  const auto file = checkpoints::open_safetensors(folder_ / "auto/adapter.safetensors");
  ASSERT_TRUE(file.ok());
  std::map<std::string, std::string> said;
  const auto renamed = [&](const std::function<std::string(std::string)>& name) {
    std::vector<checkpoints::StoredTensor> tensors;
    for (const auto& entry : (*file)->tensors()) {
      const std::string own = name(entry.name);
      if (own.empty()) continue;
      const auto mapped = (*file)->mapped_bytes(entry);
      tensors.push_back({own,
                         entry.type,
                         entry.shape,
                         {reinterpret_cast<const char*>(mapped.data()), mapped.size()}});
    }
    folder_.write("renamed.safetensors", checkpoints::safetensors_bytes(tensors, said));
    request_.artifacts["adapter"] = {"", folder_ / "renamed.safetensors", ""};
    return opened();
  };
  const auto replaced = [](const std::string& from, const std::string& to) {
    return [=](std::string name) {
      const size_t at = name.find(from);
      return at == std::string::npos ? name : name.replace(at, from.size(), to);
    };
  };
  EXPECT_EQ(renamed(replaced("base_model.model.", "")), "opened");
  for (const char* count : {"summary_length", "lora_rank"}) {
    said = {{count, "5"}};
    EXPECT_THAT(renamed(replaced("", "")), HasSubstr(std::string("its metadata say '") + count));
  }
  said = {};
  EXPECT_EQ(renamed(replaced(".lora_A.weight", ".lora_A.default.weight")), "opened");
  EXPECT_EQ(
      renamed(replaced("embed_summary.weight", "embed_summary.modules_to_save.default.weight")),
      "opened");
  const auto without = [](const std::string& part) {
    return [=](std::string name) { return name.find(part) == std::string::npos ? name : ""; };
  };
  EXPECT_THAT(renamed(without("layers.1.self_attn.o_proj")),
              HasSubstr("there is no tensor 'base_model.model.model.layers.1.self_attn.o_proj"));
  EXPECT_THAT(renamed(without("lora")), HasSubstr("no low-rank matrices, and no weights of an"));
  EXPECT_THAT(renamed(replaced("lora_", "of_a_model_")), HasSubstr("which is then the backbone"));
  EXPECT_THAT(renamed(replaced("layers.1.self_attn.o_proj.lora_B", "memory_head.x")),
              HasSubstr("there is no tensor 'base_model.model.model.layers.1.self_attn.o_proj"));
  EXPECT_THAT(renamed(replaced("embed_summary", "other")), HasSubstr("embed_summary.weight"));
  EXPECT_THAT(renamed(replaced("base_model.model.embed_summary", "memory_head")),
              HasSubstr("a head behind the slots"));
}

TEST_F(CompressorSessionsTest, llmlingua_keeps_as_many_tokens_as_selfcp_has_memory) {
  use_method("llmlingua", false);
  request_.params.set("ratio", 4.0);
  request_.params.set("choice_window", int64_t{8});
  const auto exact = compression(3);
  EXPECT_EQ(exact.at("segments"), nlohmann::json::parse("[[24,17,5],[41,16,4],[57,16,4]]"));
  EXPECT_EQ(outputs({example(3)}).size(), 1U);
  request_.params.set("mode", std::string("official"));
  const auto released = compression(3);
  EXPECT_NE(released.at("memory_tokens"), exact.at("memory_tokens"));
  EXPECT_LT(released.at("memory_tokens"), released.at("compressed_tokens"));
  request_.params.set("ratio", 0.0);
  EXPECT_EQ(compression(3).at("memory_tokens"), 0);
}

/// Bytes in the other order, so that equal ids are other texts.
class TurnedTokenizer final : public tokenizers::VocabularyTokenizer {
 public:
  explicit TurnedTokenizer(bool turned) : turned_(turned) {}
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    std::vector<tokenizers::Token> tokens;
    for (const char c : text) {
      const auto at = static_cast<int64_t>(tokens.size());
      const int byte = static_cast<unsigned char>(c);
      tokens.push_back({turned_ ? 255 - byte : byte, at, at + 1});
    }
    return tokens;
  }
  int64_t vocabulary_size() const override { return 256; }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) text += static_cast<char>(turned_ ? 255 - id : id);
    return text;
  }
  std::optional<int32_t> special_id(std::string_view) const override { return {}; }
  std::vector<std::string> special_texts() const override { return {}; }
  std::optional<int32_t> end_of_sequence_id() const override { return {}; }

 private:
  bool turned_;
};

TEST_F(CompressorSessionsTest, llmlingua_may_ask_a_model_that_does_not_write) {
  use_method("llmlingua", false);
  request_.params.set("choice_window", int64_t{8});
  const Prediction own = predictions({example(3)}).front();
  request_.params.set("losses_of", std::string(kSmallLm));
  EXPECT_THAT(opened(), HasSubstr("no model was given as 'small_lm'"));
  const auto small = [&](const qfs::test::TinyLlama& tiny) {
    const std::string bytes = tiny.bytes();
    request_.backbones[kSmallLm] = {"local:s", folder_.write("s.gguf", bytes), sha256_hex(bytes)};
  };
  small({.layers = 2});
  EXPECT_EQ(predictions({example(3)}).front(), own) << "the same model";
  small({.layers = 1, .hidden = 16, .intermediate = 32, .heads = 2, .kv_heads = 1, .seed = 9});
  const Prediction other = predictions({example(3)}).front();
  const auto of = [](const Prediction& made) {
    return nlohmann::json::parse(made.extra.text).at("compression");
  };
  EXPECT_EQ(of(other).at("segments"), of(own).at("segments"));
  EXPECT_LT(of(other).at("flops_lean"), of(own).at("flops_lean"));
}

TEST_F(CompressorSessionsTest, llmlingua_goes_by_text_to_another_vocabulary) {
  ResourceCache cache;
  const auto backbone = architectures::open_backbone(*request_.backbone, cache);
  ASSERT_TRUE(backbone.ok());
  const auto decoder = (*backbone)->network->decoder(request_.runtime, (*backbone)->digest, cache);
  ASSERT_TRUE(decoder.ok());
  const auto plain = std::make_shared<const TurnedTokenizer>(false);
  const auto turned = std::make_shared<const TurnedTokenizer>(true);
  EXPECT_TRUE(same_vocabulary(*plain, TurnedTokenizer(false)));
  EXPECT_FALSE(same_vocabulary(*plain, *turned));
  PromptParts parts;
  for (const char c : std::string("Ann: what surprises is kept, the rest is not.")) {
    parts.content.push_back(c);
  }
  const auto count = static_cast<int64_t>(parts.content.size());
  const Plan plan{{{{0, count}, 9}}};
  const CompressionTask task{parts, plan};
  const LinguaReading reading{.window = 16, .begin = 257};
  const auto kept =
      Lingua(*decoder, reading, LinguaVocabularies{plain, turned}).compress({&task, 1});
  ASSERT_TRUE(kept.ok());
  // The same as of the turned ids, turned back.
  PromptParts other = parts;
  for (int32_t& id : other.content) id = 255 - id;
  const CompressionTask turned_task{other, plan};
  const auto expected = Lingua(*decoder, reading).compress({&turned_task, 1});
  ASSERT_TRUE(expected.ok());
  std::vector<int32_t> back = expected->front().memory.front().ids;
  for (int32_t& id : back) id = 255 - id;
  EXPECT_EQ(kept->front().memory.front().ids, back);
  EXPECT_EQ(back.size(), 9U);
}

}  // namespace
}  // namespace qfs::compressors
