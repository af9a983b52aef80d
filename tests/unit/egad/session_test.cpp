// The sessions of egad on tiny models: what stands in front of a document, what is kept and what is
// refused.
#include "methods/egad/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/egad/keyword_inputs.h"
#include "methods/egad/spec.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/registry/registry.h"
#include "tests/support/tiny_seq2seq.h"
#include "tests/support/trained_session.h"

namespace qfs::egad {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::RecordingSink;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const MethodSpec& the_spec() {
  static const EgadSpec spec;
  return spec;
}

class EgadSessionTest : public qfs::test::TrainedSessionTest {
 protected:
  EgadSessionTest() : TrainedSessionTest(the_spec(), session_factory()) {
    use_llama({}, "D: {document}\nA:");
    request_.params.set("attention", std::string("prefix"));
    request_.params.set("k", int64_t{2});
    request_.params.set("steps", int64_t{3});
    request_.params.set("dictionary", std::string("we 90\nthe 100\nhat 1\nred 2\nbuy 9\n"));
    data_.train.clear();
    data_.development.clear();
    for (int64_t i = 0; i < 4; ++i) data_.train.push_back(meeting(i));
  }

  static NumberedExample meeting(int64_t i) {
    NumberedExample numbered = example(i, "");
    numbered.example.document = {{"We buy the red hat", "ann"}, {"the hat, we", "bob"}};
    numbered.example.document_id = "m" + std::to_string(i);
    return numbered;
  }
  void train(const std::string& name = "a") {
    request_.artifacts.clear();
    Curve curve;
    const auto outcome = fit(name, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    request_.artifacts["adapter"] = {"", folder_ / (name + "/adapter_model.safetensors"), ""};
  }
  /// What the model reads for an example.
  std::string prompt(const NumberedExample& one = meeting(7)) {
    RecordingSink sink;
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    if (!session.ok()) return session.error().to_string();
    const Status status = (*session)->run({&one, 1}, sink);
    return status.ok() ? sink.predictions.at(one.ordinal).prompt : status.error().to_string();
  }
};

TEST_F(EgadSessionTest, keywords_stand_in_front_of_the_document) {
  train();
  EXPECT_THAT(prompt(), StartsWith("D: hat red\nann: We buy the red hat\n"));
  request_.params.set("k", int64_t{9});
  EXPECT_THAT(prompt(), StartsWith("D: hat red buy we the\n"));
  request_.params.set("keyword_form", std::string("surface"));
  request_.params.set("keyword_score", std::string("tf_idf"));
  EXPECT_THAT(prompt(), StartsWith("D: hat red buy We the\n"));
}

TEST_F(EgadSessionTest, ledgers_are_of_the_document_without_keywords) {
  train();
  RecordingSink sink;
  ResourceCache cache;
  auto session = sessions_.open(request_, cache);
  ASSERT_TRUE(session.ok()) << session.error().to_string();
  const NumberedExample one = meeting(7);
  ASSERT_TRUE((*session)->run({&one, 1}, sink).ok());
  const Truncation& ledger = *sink.predictions.at(7).truncation;
  EXPECT_THAT(ledger.kept, testing::ElementsAre(ByteSpan{0, 0, 23}, ByteSpan{1, 0, 16}));
  EXPECT_EQ(ledger.document_tokens, 10);
  EXPECT_EQ(ledger.kept_tokens, 10);
}

TEST_F(EgadSessionTest, controls_put_other_words_there) {
  train();
  request_.params.set("keywords", std::string("random"));
  const std::string drawn = prompt();
  EXPECT_EQ(prompt(), drawn);
  request_.params.set("keyword_set", int64_t{1});
  EXPECT_NE(prompt(), drawn);
  request_.params.set("keywords", std::string("gibberish"));
  EXPECT_NE(prompt(), drawn);
  request_.params.set("keywords", std::string("summary"));
  EXPECT_TRUE(the_spec().needs(request_.params).references);
  NumberedExample one = meeting(7);
  one.example.references = {"They buy the hat."};
  EXPECT_THAT(prompt(one), StartsWith("D: hat buy\n"));
  one.example.references.clear();
  EXPECT_THAT(prompt(one), HasSubstr("'example-7' has no reference summary"));
}

TEST_F(EgadSessionTest, the_dictionary_is_kept_or_counted) {
  train();
  Params without;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "dictionary") without.set(name, value);
  }
  EXPECT_THAT(prompt(), StartsWith("D: hat red\n"));
  request_.params = without;
  EXPECT_THAT(prompt(), StartsWith("D: hat red\n"));  // of the file
  train("b");
  const auto file = checkpoints::open_safetensors(folder_ / "b/adapter_model.safetensors");
  EXPECT_EQ((*file)->metadata().at("qfs.egad.dictionary"),
            "ann 1\nbob 1\nbuy 1\nhat 2\nred 1\nthe 2\nwe 2\n");
}

TEST_F(EgadSessionTest, a_list_of_words_keeps_others_out_of_what_is_counted) {
  Params without;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "dictionary") without.set(name, value);
  }
  request_.params = without;
  request_.params.set("spelling", std::string("The\nbuy\nred\nsell\n"));
  train("b");
  const auto file = checkpoints::open_safetensors(folder_ / "b/adapter_model.safetensors");
  EXPECT_EQ((*file)->metadata().at("qfs.egad.dictionary"), "buy 1\nred 1\nthe 2\n");
  EXPECT_THAT(prompt(), StartsWith("D: the buy\n"));  // "hat" is not counted
  request_.params.set("keyword_speakers", std::string("left_out"));
  request_.params.set("spelling", std::string("ann\nbuy\n"));
  train("c");
  const auto spoken = checkpoints::open_safetensors(folder_ / "c/adapter_model.safetensors");
  EXPECT_EQ((*spoken)->metadata().at("qfs.egad.dictionary"), "buy 1\n");
  request_.params.set("spelling", std::string("sell\n"));
  EXPECT_THAT(refusal(), HasSubstr("'spelling' has no word of the training documents"));
}

TEST_F(EgadSessionTest, names_of_speakers_count_as_words_or_not) {
  request_.params.set("dictionary", std::string("ann 1\nhat 9\nred 9\n"));
  train();
  EXPECT_THAT(prompt(), StartsWith("D: ann hat\nann: We"));
  request_.params.set("keyword_speakers", std::string("left_out"));
  EXPECT_THAT(prompt(), StartsWith("D: hat red\nann: We"));
}

TEST_F(EgadSessionTest, an_encoder_with_windows_attends_to_them_globally) {
  const qfs::test::TemporaryFolder led;
  request_.backbone = *registry::resolve_backbone(qfs::test::TinySeq2Seq{.led = true}.write(led));
  request_.params.set("attention", std::string("global"));
  Params params;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "prompt") params.set(name, value);
  }
  for (const ParamSpec& param : the_spec().params()) {
    if (param.name == "prompt") params.set("prompt", *param.default_value);
  }
  request_.params = params;
  train();
  EXPECT_THAT(prompt(), StartsWith("hat red ann: We buy"));
  // BART has no windows.
  const qfs::test::TemporaryFolder bart;
  request_.backbone = *registry::resolve_backbone(qfs::test::TinySeq2Seq().write(bart));
  EXPECT_THAT(refusal(), HasSubstr("windowed encoder"));
}

/// Attention of a tiny LED.
class EgadLedTest : public EgadSessionTest {
 protected:
  EgadLedTest() {
    request_.backbone =
        *registry::resolve_backbone(qfs::test::TinySeq2Seq{.led = true}.write(led_));
    request_.params.set("attention", std::string("global"));
    for (const ParamSpec& param : the_spec().params()) {
      if (param.name == "prompt") request_.params.set("prompt", *param.default_value);
    }
  }

  KeywordInputs inputs() const {
    const auto backbone = architectures::open_backbone(*request_.backbone);
    return KeywordInputs(request_.params,
                         {true, (*backbone)->tokenizer, (*backbone)->tokenizer, 99});
  }
  Dictionary dictionary() const {
    return *Dictionary::parse(request_.params.get<std::string>("dictionary"), "d");
  }
  /// <s>, the text's bytes, </s>.
  static std::vector<int32_t> source(std::string_view text) {
    std::vector<int32_t> ids = {0};
    for (const char byte : text) ids.push_back(3 + static_cast<unsigned char>(byte));
    ids.push_back(2);
    return ids;
  }
  std::string output(const NumberedExample& one) {
    const auto made = outputs({one});
    return made.empty() ? "" : made.front();
  }

  qfs::test::TemporaryFolder led_;
};

TEST_F(EgadLedTest, highlighted_words_are_global_where_they_stand) {
  request_.params.set("keywords", std::string("highlighted"));
  Example one = meeting(1).example;  // its keywords are "hat" and "red"
  one.query = "";
  EXPECT_THAT(inputs().marked(one, dictionary(), source("ann: We buy the red hat\nb: Hat")),
              testing::ElementsAre(0, 17, 18, 19, 21, 22, 23, 28, 29, 30));
  request_.params.set("highlight_most", int64_t{6});
  EXPECT_THAT(inputs().marked(one, dictionary(), source("ann: We buy the red hat\nb: Hat")),
              testing::ElementsAre(0, 17, 18, 19, 21, 22, 23));
  one.query = "hat?";  // and a separator
  std::vector<int32_t> ids = source("hat?#a red");
  ids[5] = 2;
  EXPECT_THAT(inputs().marked(one, dictionary(), ids), testing::ElementsAre(0, 8, 9, 10));
}

TEST_F(EgadLedTest, highlighting_puts_nothing_in_front_and_is_trained_and_read) {
  request_.params.set("keywords", std::string("highlighted"));
  train();
  EXPECT_THAT(prompt(), StartsWith("ann: We buy"));
  NumberedExample one = meeting(7);
  one.example.query = "why?";
  EXPECT_THAT(prompt(one), StartsWith("why?</s>ann: We buy"));
  RecordingSink sink;
  ResourceCache cache;
  auto session = sessions_.open(request_, cache);
  ASSERT_TRUE(session.ok()) << session.error().to_string();
  ASSERT_TRUE((*session)->run({&one, 1}, sink).ok());
  // <s>, "red" and "hat" twice.
  EXPECT_THAT(sink.predictions.at(7).extra.text, HasSubstr(R"("global_tokens":10.0)"));
  request_.params.set("temperature", 3.0);  // one seed: equal logits give equal draws
  const std::string marked = output(one);
  request_.params.set("k", int64_t{5});
  EXPECT_NE(output(one), marked);
}

TEST_F(EgadLedTest, words_in_front_are_global_where_they_learn_and_where_they_write) {
  const auto first_loss = [&](const std::string& attention) {
    request_.params.set("attention", attention);
    request_.artifacts.clear();
    Curve curve;
    EXPECT_TRUE(fit(attention, curve).ok());
    request_.artifacts["adapter"] = {"", folder_ / (attention + "/adapter_model.safetensors"), ""};
    return curve.first("loss");
  };
  const double local = first_loss("prefix");
  EXPECT_NE(first_loss("global"), local);
  NumberedExample one = meeting(7);
  request_.params.set("temperature", 3.0);  // one seed: equal logits give equal draws
  const std::string global = output(one);
  request_.params.set("attention", std::string("prefix"));
  EXPECT_NE(output(one), global);
}

TEST_F(EgadLedTest, a_blank_or_a_separator_stands_behind_keywords_that_there_are) {
  request_.params.set("adapter", std::string("none"));
  EXPECT_THAT(prompt(), StartsWith("hat red ann: We buy"));
  NumberedExample one = meeting(7);
  one.example.document = {{"1 2 3", ""}};
  EXPECT_EQ(prompt(one), "1 2 3");
  one.example.query = "why?";
  EXPECT_EQ(prompt(one), "why? 1 2 3");
  request_.params.set("keyword_separator", std::string("sep"));
  EXPECT_EQ(prompt(one), "why?</s>1 2 3");
  EXPECT_THAT(prompt(), StartsWith("hat red</s>ann: We buy"));
}

TEST_F(EgadLedTest, the_document_is_cut_to_what_the_encoder_reads_and_keywords_are_not) {
  request_.params.set("adapter", std::string("none"));
  NumberedExample one = meeting(7);  // 128 positions
  for (int i = 0; i < 100; ++i) one.example.document[0].text += " a";
  EXPECT_LE(prompt(one).size(), 126U);
  EXPECT_GE(prompt(one).size(), 124U);
  EXPECT_THAT(prompt(one), StartsWith("hat red ann: We buy the red hat a a a"));
  request_.params.set("keywords", std::string("gibberish"));
  request_.params.set("k", int64_t{60});
  EXPECT_THAT(prompt(one), HasSubstr("the keywords of example 'example-7' have "));
  EXPECT_THAT(prompt(one), HasSubstr(" tokens and leave no room for a document in 126; lower 'k'"));
  request_.params.set("k", int64_t{1});  // at most 10 tokens
  one.example.query = std::string(126, 'w');
  EXPECT_THAT(prompt(one), HasSubstr("the keywords and the query of example 'example-7' have 1"));
}

TEST_F(EgadLedTest, without_a_trained_file_the_backbone_writes_as_it_is) {
  request_.params.set("adapter", std::string("none"));
  EXPECT_TRUE(the_spec().needs(request_.params).artifacts.empty());
  request_.artifacts.clear();
  EXPECT_THAT(prompt(), StartsWith("hat red ann: We buy"));
  EXPECT_TRUE(the_spec().validate(request_.params).ok());
  Params without;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "dictionary") without.set(name, value);
  }
  EXPECT_THAT(the_spec().validate(without).error().message, HasSubstr("'dictionary' is left out"));
  without.set("keywords", std::string("gibberish"));
  EXPECT_TRUE(the_spec().validate(without).ok());
}

TEST_F(EgadLedTest, all_weights_are_trained_where_they_are_asked_for) {
  request_.params.set("trained", std::string("weights"));
  request_.params.set("learning_rate", 0.005);
  request_.params.set("steps", int64_t{40});
  request_.artifacts.clear();
  Curve curve;
  const auto outcome = fit("whole", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_LT(curve.last("loss"), curve.first("loss") / 2);
  EXPECT_EQ(outcome->files.front().name, "model.safetensors");
  request_.artifacts["adapter"] = {"", folder_ / "whole/model.safetensors", ""};
  EXPECT_THAT(prompt(), StartsWith("hat red ann: We buy"));  // by the dictionary that the file has
  EXPECT_THAT(output(meeting(7)), HasSubstr("bc"));
  request_.params.set("dictionary", std::string("we 1\n"));
  EXPECT_THAT(prompt(), HasSubstr("trained with another dictionary"));
}

TEST_F(EgadLedTest, a_decoder_that_begins_with_bos_learns_one_label_less) {
  const auto tokens = [&](const std::string& name) {
    Curve curve;
    EXPECT_TRUE(fit(name, curve).ok());
    return curve.points.front().values.at("tokens");
  };
  request_.artifacts.clear();
  const double with_start = tokens("a");
  request_.params.set("decoder_start", std::string("bos"));
  EXPECT_EQ(tokens("b"), with_start - 4);  // of four examples
  request_.params.set("label_tokens", int64_t{1});
  EXPECT_THAT(refusal(), HasSubstr("raise 'label_tokens'"));
}

TEST_F(EgadLedTest, nothing_is_written_of_an_empty_document) {
  request_.params.set("adapter", std::string("none"));
  NumberedExample one = meeting(7);
  for (Segment& segment : one.example.document) segment.text = " \n";
  for (const char* keywords : {"frequency", "random", "gibberish", "highlighted"}) {
    request_.params.set("keywords", std::string(keywords));
    EXPECT_THAT(prompt(one), HasSubstr("the document of example 'example-7' has no text to read"))
        << keywords;
  }
  request_.params.set("adapter", std::string("lora"));
  data_.train.front() = one;
  EXPECT_THAT(refusal(), HasSubstr("'example-7' has no text to read"));
  // Words are not asked for.
  request_.params.set("adapter", std::string("none"));
  request_.params.set("keywords", std::string("frequency"));
  one.example.document = {{"1 2 3", ""}};
  EXPECT_THAT(prompt(one), HasSubstr("1 2 3"));
}

TEST_F(EgadSessionTest, another_dictionary_than_the_files_is_refused) {
  train();
  request_.params.set("dictionary", std::string("we 1\n"));
  EXPECT_THAT(prompt(), HasSubstr("trained with another dictionary"));
  request_.params.set("decoder_start", std::string("bos"));
  EXPECT_THAT(refusal(), HasSubstr("'decoder_start' is for encoder-decoder"));
}

TEST_F(EgadSessionTest, what_leaves_no_room_is_refused_by_name) {
  train();
  request_.params.set("local_context", int64_t{2});
  EXPECT_THAT(prompt(), HasSubstr("the keywords of example 'example-7' have 2 tokens and leave no "
                                  "room for a document in 2"));
  request_.params.set("train_tokens", int64_t{6});
  EXPECT_THAT(refusal(), HasSubstr("leave no room for a document in 6"));
}

TEST(EgadSpec, rules_between_parameters) {
  const auto refused = [](const std::string& name, const ParamValue& value) {
    Params params;
    for (const ParamSpec& param : the_spec().params()) {
      if (param.default_value) params.set(param.name, *param.default_value);
    }
    params.set(name, value);
    const Status status = the_spec().validate(params);
    return status.ok() ? std::string() : status.error().to_string();
  };
  EXPECT_EQ(refused("k", int64_t{50}), "");
  EXPECT_THAT(refused("dictionary", std::string("the 5\nwe x\n")), HasSubstr("dictionary:2: the"));
  EXPECT_THAT(refused("dictionary", std::string()), HasSubstr("without words"));
  EXPECT_THAT(refused("dictionary", std::string("words.txt")),
              HasSubstr("or a file's: {\"file\": \"words.txt\"}"));
  EXPECT_THAT(refused("truncate", std::string("tail")), HasSubstr("keeps the head"));
  EXPECT_THAT(refused("highlight_most", int64_t{9}), HasSubstr("needs \"keywords\""));
  EXPECT_THAT(refused("separator", std::string("</s>")), HasSubstr("needs \"keyword_separator\""));
  EXPECT_THAT(refused("source", std::string("{document}")), HasSubstr("is not free"));
  EXPECT_EQ(refused("trained", std::string("weights")), "");
  Params global;
  global.set("attention", std::string("global"));
  EXPECT_THAT(the_spec().check_backbone(global, {"llama"}).error().message,
              HasSubstr("is for encoders with windows"));
  EXPECT_TRUE(the_spec().check_backbone(global, {"bart"}).ok());
  global.set("adapter", std::string("lora"));
  EXPECT_THAT(the_spec().needs(global).model_types.at("backbone"), testing::ElementsAre("led"));
  global.set("window", int64_t{8});  // of a BART
  EXPECT_TRUE(the_spec().needs(global).model_types.empty());
}

TEST(EgadSpec, what_the_keywords_do_not_read_is_refused) {
  const auto refused = [](const std::string& keywords, const std::string& name,
                          const ParamValue& value) {
    Params params;
    for (const ParamSpec& param : the_spec().params()) {
      if (param.default_value) params.set(param.name, *param.default_value);
    }
    params.set("keywords", keywords);
    params.set(name, value);
    const Status status = the_spec().validate(params);
    return status.ok() ? std::string() : status.error().to_string();
  };
  const ParamValue surface = std::string("surface");
  EXPECT_EQ(refused("frequency", "keyword_form", surface), "");
  EXPECT_EQ(refused("summary", "keyword_min", int64_t{2}), "");
  EXPECT_EQ(refused("highlighted", "keyword_score", std::string("tf_idf")), "");
  EXPECT_EQ(refused("gibberish", "keyword_set", int64_t{3}), "");
  EXPECT_EQ(refused("frequency", "keyword_set", int64_t{0}), "");  // as when left out
  EXPECT_EQ(refused("frequency", "keyword_set", int64_t{3}),
            R"('keyword_set' has no effect with "keywords": "frequency"; leave it out)");
  // They are marked where the document has them, as it writes them.
  EXPECT_THAT(refused("highlighted", "keyword_form", surface), HasSubstr("'keyword_form' has no"));
  EXPECT_THAT(refused("random", "keyword_form", surface), HasSubstr("'keyword_form' has no"));
  EXPECT_THAT(refused("random", "keyword_score", std::string("tf_idf")),
              HasSubstr("'keyword_score' has no effect"));
  EXPECT_THAT(refused("gibberish", "keyword_min", int64_t{2}), HasSubstr("'keyword_min' has no"));
  const ParamValue words = std::string("a\n");
  EXPECT_EQ(refused("frequency", "spelling", words), "");
  EXPECT_THAT(refused("random", "spelling", words), HasSubstr("'spelling' has no effect"));
  EXPECT_THAT(refused("frequency", "spelling", std::string("a 1\nb\n")), HasSubstr("spelling:2"));
  const ParamValue left_out = std::string("left_out");
  EXPECT_EQ(refused("random", "keyword_speakers", left_out), "");
  EXPECT_THAT(refused("gibberish", "keyword_speakers", left_out), HasSubstr("has no effect"));
  EXPECT_THAT(refused("highlighted", "keyword_separator", std::string("sep")),
              HasSubstr("'keyword_separator' has no effect"));
}

TEST(EgadSpec, a_file_is_not_read_with_another_dictionary) {
  const EgadSpec spec;
  Params trained;
  trained.set("prompt", std::string("{document}"));
  Params asked = trained;
  EXPECT_TRUE(spec.check_file(asked, trained).ok());
  asked.set("dictionary", std::string("word 2"));
  EXPECT_THAT(spec.check_file(asked, trained).error().message,
              HasSubstr("trained with counts of its training documents"));
  EXPECT_TRUE(spec.check_file(asked, {}).ok()) << "it does not say how it was trained";
  trained.set("dictionary", std::string("word 2"));
  EXPECT_TRUE(spec.check_file(asked, trained).ok());
}

TEST(EgadSpec, low_rank_matrices_begin_with_those_of_lora) {
  const auto beginnings = [](Params params) { return EgadSpec().needs(params).begins_with; };
  Params params;
  params.set("adapter", std::string("lora"));
  params.set("trained", std::string("lora"));
  EXPECT_THAT(beginnings(params), testing::ElementsAre("lora"));
  params.set("trained", std::string("weights"));
  EXPECT_THAT(beginnings(params), testing::IsEmpty());
  params.set("adapter", std::string("none"));
  params.set("trained", std::string("lora"));
  EXPECT_THAT(beginnings(params), testing::IsEmpty());
}

TEST(EgadSpec, where_a_decoder_begins_is_of_training_an_encoder_decoder) {
  Params params;
  params.set("attention", std::string("prefix"));
  params.set("adapter", std::string("lora"));
  params.set("decoder_start", std::string("bos"));
  EXPECT_TRUE(the_spec().check_backbone(params, {"bart"}).ok());
  EXPECT_THAT(the_spec().check_backbone(params, {"llama"}).error().message,
              HasSubstr("'decoder_start' is for encoder-decoder"));
  Params plain;
  for (const ParamSpec& param : the_spec().params()) {
    if (param.default_value) plain.set(param.name, *param.default_value);
  }
  plain.set("adapter", std::string("none"));
  plain.set("dictionary", std::string("a 1\n"));
  EXPECT_TRUE(the_spec().validate(plain).ok());
  plain.set("decoder_start", std::string("bos"));
  EXPECT_THAT(the_spec().validate(plain).error().message,
              HasSubstr("'decoder_start' is of training"));
  params.set("keyword_separator", std::string("sep"));
  EXPECT_THAT(the_spec().check_backbone(params, {"llama"}).error().message,
              HasSubstr("'keyword_separator' is for encoder-decoder"));
}

}  // namespace
}  // namespace qfs::egad
