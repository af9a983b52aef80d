#include <gtest/gtest.h>

#include "harness/host/messages.h"

namespace qfs::host {
namespace {

NumberedExample secret_example() {
  NumberedExample numbered;
  numbered.ordinal = 7;
  numbered.example = {.key = "k",
                      .document_id = "d",
                      .group = "g",
                      .language = "en",
                      .document = {{"Hello.", "Ann"}, {"no speaker", ""}},
                      .query = "What?",
                      .references = {"the answer"},
                      .evidence = {{1, 1}},
                      .extra = {R"({"gold":"hidden"})"}};
  return numbered;
}

TEST(Messages, ReferencesEvidenceAndExtraAreLeftOutUnlessDeclared) {
  const std::string line = encode(Request{3, RunRequest{0, false, {secret_example()}}});
  EXPECT_EQ(line.find("answer"), std::string::npos);
  EXPECT_EQ(line.find("evidence"), std::string::npos);
  EXPECT_EQ(line.find("hidden"), std::string::npos);

  const std::string open_line = encode(Request{3, RunRequest{0, false, {secret_example()}}},
                                       {.references = true, .evidence = true});
  EXPECT_NE(open_line.find("the answer"), std::string::npos);
  EXPECT_NE(open_line.find("[1,1]"), std::string::npos);
  EXPECT_EQ(open_line.find("hidden"), std::string::npos);
}

TEST(Messages, RunRequestSurvivesTheWire) {
  NumberedExample sent = secret_example();
  sent.example.other_document = {{"Of another.", "Bob"}};
  sent.example.other_query = "What of another?";
  const std::string line = encode(Request{3, RunRequest{5, true, {sent}}}, {true, true});
  Result<Request> request = decode_request(line);
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  EXPECT_EQ(request->id, 3);
  const auto& run = std::get<RunRequest>(request->body);
  EXPECT_EQ(run.unit, 5);
  EXPECT_TRUE(run.measure);
  ASSERT_EQ(run.examples.size(), 1u);
  Example expected = sent.example;
  expected.group.clear();  // groups and extra stay with the driver
  expected.extra = {};
  EXPECT_EQ(run.examples[0].ordinal, 7);
  EXPECT_EQ(run.examples[0].example, expected);
}

TEST(Messages, AScoreRequestHasOnlyTheFieldsThatTheMetricNeeds) {
  ScoreItem item;
  item.id = 4;
  item.candidate = "said";
  item.references = {"the answer"};
  item.document = "whole document";
  item.query = "asked";
  const auto line = [&](MetricNeeds needs) {
    return encode(Request{3, ScoreRequest{{item}, needs}});
  };
  EXPECT_EQ(line({.references = false}),
            R"({"id":3,"items":[{"language":"","ordinal":4,"prediction":"said"}],"verb":"score"})");
  const std::string all = line({.references = true, .document = true, .query = true});
  for (const char* text : {"the answer", "whole document", "asked"}) {
    EXPECT_NE(all.find(text), std::string::npos) << text;
  }
  // Hosts of this project score numbered texts only.
  const Result<Request> request = decode_request(all);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().kind, ErrorKind::unavailable);
}

TEST(Messages, TextsAndPairsOfACorpusSurviveTheWire) {
  const TextsRequest sent{true, {{"a\n\"b\"", 2}, {"", 0}}};
  const Result<Request> texts = decode_request(encode(Request{3, sent}));
  ASSERT_TRUE(texts.ok()) << texts.error().to_string();
  EXPECT_TRUE(std::get<TextsRequest>(texts->body).begin);
  EXPECT_EQ(std::get<TextsRequest>(texts->body).texts, sent.texts);

  const PairsRequest pairs{{{7, 1, {0, 0}}, {8, 0, {}}}};
  const Result<Request> request = decode_request(encode(Request{4, pairs}));
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  EXPECT_EQ(std::get<PairsRequest>(request->body).items, pairs.items);

  const Result<Reply> reply = decode_reply(encode(Reply{3, TextsReply{{{1, 5}, {}}}}));
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  EXPECT_EQ(std::get<TextsReply>(reply->body).added, (AddedTexts{{1, 5}, {}}));

  for (const char* line : {R"({"id":1,"verb":"texts","texts":["a"],"reference_uses":[]})",
                           R"({"id":1,"verb":"texts","texts":["a"],"reference_uses":[-1]})",
                           R"({"id":1,"verb":"texts","texts":[1],"reference_uses":[1]})",
                           R"({"id":1,"verb":"score","pairs":[[0,1]]})",
                           R"({"id":1,"verb":"score","pairs":[[0,1,2]]})",
                           R"({"id":1,"verb":"score","pairs":[[0,1.5,[2]]]})"}) {
    EXPECT_EQ(decode_request(line).error().kind, ErrorKind::invalid_argument) << line;
  }
  EXPECT_FALSE(decode_reply(R"({"id":1,"texts":{"truncated":[-1],"empty":[]}})").ok());
}

TEST(Messages, ASessionOfAMetricIsOpenedByItsKind) {
  OpenRequest open;
  open.method = "bertscore";
  open.kind = SessionKind::metric;
  const Result<Request> request = decode_request(encode(Request{3, open}));
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  EXPECT_EQ(std::get<OpenRequest>(request->body).kind, SessionKind::metric);
  EXPECT_FALSE(decode_request(R"({"id":1,"verb":"open","method":"m","kind":"dance","params":{},)"
                              R"("seed":0,"runtime":{"device":"cpu","dtype":"f","threads":1}})")
                   .ok());
}

TEST(Messages, ScoresAndTheDescriptionOfAMetricSurviveTheWire) {
  const Result<Reply> score =
      decode_reply(encode(Reply{3, ScoreReply{4, {{"align", 0.5}, {"align.f", 1}}}}));
  ASSERT_TRUE(score.ok()) << score.error().to_string();
  EXPECT_EQ(std::get<ScoreReply>(score->body).ordinal, 4);
  EXPECT_EQ(std::get<ScoreReply>(score->body).values.at("align.f"), 1);

  Description sent;
  sent.name = "align";
  sent.metric = MetricDescription{{"align", "align.f"}, {.references = false, .query = true}};
  const Result<Reply> reply = decode_reply(encode(Reply{3, sent}));
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  const auto& metric = std::get<Description>(reply->body).metric;
  ASSERT_TRUE(metric.has_value());
  EXPECT_EQ(metric->columns, sent.metric->columns);
  EXPECT_FALSE(metric->needs.references);
  EXPECT_TRUE(metric->needs.query);
}

TEST(Messages, WrongDescriptionsOfMetricsAndScoresAreErrors) {
  for (const char* metric :
       {R"({"columns":[],"needs":[]})", R"({"columns":["a","a"],"needs":[]})",
        R"({"columns":["a#b"],"needs":[]})", R"({"columns":["a"],"needs":["answers"]})",
        R"({"columns":["a"]})", R"({"columns":[1],"needs":[]})"}) {
    EXPECT_FALSE(
        decode_reply(std::string(R"({"id":1,"description":{"name":"x","version":1,"metric":)") +
                     metric + "}}")
            .ok())
        << metric;
  }
  for (const char* score : {R"({"ordinal":1})", R"({"ordinal":1,"values":{"a":"1"}})",
                            R"({"ordinal":1,"values":{"a":null}})", R"({"values":{"a":1}})"}) {
    EXPECT_FALSE(decode_reply(std::string(R"({"id":1,"score":)") + score + "}").ok()) << score;
  }
}

TEST(Messages, OpenRequestKeepsTypesOfParametersAndTheWholeSeed) {
  OpenRequest open;
  open.method = "lead";
  open.session.params.set("local_context", int64_t{256});
  open.session.params.set("ratio", 1.0);
  open.session.params.set("chat", true);
  open.session.params.set("prompt", std::string("é\n"));
  open.session.seed = 18446744073709551615ull;
  open.session.tokenizer = Resource{"words", "", "abc"};
  open.session.runtime.threads = 2;
  Result<Request> request = decode_request(encode(Request{1, open}));
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  const auto& decoded = std::get<OpenRequest>(request->body);
  EXPECT_EQ(decoded.session.params, open.session.params);
  EXPECT_EQ(decoded.session.seed, open.session.seed);
  EXPECT_EQ(decoded.session.tokenizer, open.session.tokenizer);
  EXPECT_FALSE(decoded.session.backbone.has_value());
  EXPECT_EQ(decoded.session.runtime.threads, 2);
}

TEST(Messages, PredictionSurvivesTheWire) {
  Prediction prediction;
  prediction.text = "A summary\nof two lines \xE2\x80\xA8";
  prediction.finish = FinishReason::length;
  prediction.tokens_in = 12;
  prediction.tokens_out = 3;
  prediction.prompt = "p";
  prediction.repaired_bytes = 2;
  prediction.truncation = Truncation{10, 4, 2, {{0, 0, 5}, {1, 2, 3}}, true};
  prediction.extra = {R"({"selected":[1,2]})"};
  Result<Reply> reply = decode_reply(encode(Reply{9, PredictionReply{7, prediction}}));
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  EXPECT_EQ(std::get<PredictionReply>(reply->body).prediction, prediction);
}

TEST(Messages, PeaksOfMemorySurviveTheWireAndMayBeAbsent) {
  const DeviceCounts device = {.allocated_peak = 30,
                               .requested_peak = 25,
                               .reserved_peak = 40,
                               .used = 90,
                               .used_before = 0,
                               .energy = 123'456'789'012};
  const Result<Reply> reply = decode_reply(encode(Reply{2, DoneReply{7, 100, device}}));
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  const auto& done = std::get<DoneReply>(reply->body);
  EXPECT_EQ(done.ns, 7);
  EXPECT_EQ(done.peak_resident_bytes, 100);
  EXPECT_EQ(done.device.allocated_peak, 30);
  EXPECT_EQ(done.device.requested_peak, 25);
  EXPECT_EQ(done.device.reserved_peak, 40);
  EXPECT_EQ(done.device.used, 90);
  EXPECT_EQ(done.device.used_before, 0);  // counted, and none
  EXPECT_EQ(done.device.energy, 123'456'789'012);
  // What an external host without a device may say.
  const Result<Reply> bare = decode_reply(R"({"id":2,"done":{"ns":7}})");
  ASSERT_TRUE(bare.ok()) << bare.error().to_string();
  EXPECT_EQ(std::get<DoneReply>(bare->body).device.reserved_peak, std::nullopt);
  EXPECT_EQ(std::get<DoneReply>(bare->body).device.used, std::nullopt);
}

TEST(Messages, WorkOfAPhaseAndLimitsOfTheMachineSurviveTheWireAndMayBeAbsent) {
  const Phase phase{"decode", 7, 3, Work{.flops = 400, .bytes = 50}};
  const Result<Reply> timed = decode_reply(encode(Reply{2, phase}));
  ASSERT_TRUE(timed.ok()) << timed.error().to_string();
  EXPECT_EQ(std::get<PhaseReply>(timed->body), phase);
  const Result<Reply> bare =
      decode_reply(R"({"id":2,"phase":{"name":"decode","ns":7,"tokens":3}})");
  ASSERT_TRUE(bare.ok());
  EXPECT_FALSE(std::get<PhaseReply>(bare->body).work);

  DoneReply done;
  EXPECT_FALSE(std::get<DoneReply>(decode_reply(encode(Reply{2, done}))->body).limits);
  done.limits = MachineLimits{.read_bytes = 3, .copy_bytes = 4, .gemm_flops = 5};
  EXPECT_EQ(std::get<DoneReply>(decode_reply(encode(Reply{2, done}))->body).limits, done.limits);

  for (const char* line :
       {R"({"id":2,"phase":{"name":"decode","ns":7,"tokens":3,"flops":-1}})",
        R"({"id":2,"done":{"limits":{"read_bytes_per_second":1,"copy_bytes_per_second":1}}})",
        R"({"id":2,"done":{"limits":{"read_bytes_per_second":0,"copy_bytes_per_second":1,)"
        R"("gemm_flops_per_second":1}}})"}) {
    EXPECT_FALSE(decode_reply(line).ok()) << line;
  }
}

TEST(Messages, ErrorsSurviveTheWireWithKindPlaceAndUsability) {
  const ErrorReply sent{data_error("digest differs", "model.gguf"), true};
  Result<Reply> reply = decode_reply(encode(Reply{4, sent}));
  ASSERT_TRUE(reply.ok());
  const auto& received = std::get<ErrorReply>(reply->body);
  EXPECT_EQ(received.error, sent.error);
  EXPECT_TRUE(received.usable);
}

TEST(Messages, ErrorsOfAHostAreNeitherOfTheStoreNorEndless) {
  Result<Reply> reply = decode_reply(R"({"id":1,"error":{"kind":"store","message":")" +
                                     std::string(5000, 'x') + R"("}})");
  ASSERT_TRUE(reply.ok());
  const Error& error = std::get<ErrorReply>(reply->body).error;
  EXPECT_EQ(error.kind, ErrorKind::internal);
  EXPECT_EQ(error.message, std::string(4096, 'x') + "…");
}

TEST(Messages, ExamplesToLearnFromHaveTheirReferences) {
  const NumberedExample sent = secret_example();
  const Result<Request> request = decode_request(
      encode(Request{3, LearnRequest{true, {sent}}}, {.references = true, .evidence = false}));
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  const auto& learn = std::get<LearnRequest>(request->body);
  EXPECT_TRUE(learn.development);
  EXPECT_EQ(learn.examples.at(0).example.references, sent.example.references);
  EXPECT_TRUE(learn.examples.at(0).example.evidence.empty());
}

TEST(Messages, ATrainingSurvivesTheWire) {
  const Result<Request> request =
      decode_request(encode(Request{3, FitRequest{"/folder", "abc", 12}}));
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  const auto& fit = std::get<FitRequest>(request->body);
  EXPECT_EQ(fit.folder, "/folder");
  EXPECT_EQ(fit.training_cell, "abc");
  EXPECT_EQ(fit.steps, 12);

  const TrainingPoint point{7, 100, {{"loss", 2.5}, {"development.loss", 3.25}}};
  const Result<Reply> sent = decode_reply(encode(Reply{3, point}));
  ASSERT_TRUE(sent.ok()) << sent.error().to_string();
  EXPECT_EQ(std::get<TrainingPoint>(sent->body), point);

  const std::string digest(64, 'a');
  const TrainingOutcome outcome{{{"adapter", "adapter_model.safetensors", digest, 12}},
                                {1.5, 100, 4096, int64_t{1} << 60, 42, 99}};
  const Result<Reply> ended = decode_reply(encode(Reply{3, outcome}));
  ASSERT_TRUE(ended.ok()) << ended.error().to_string();
  EXPECT_EQ(std::get<TrainingOutcome>(ended->body).files, outcome.files);
  EXPECT_EQ(std::get<TrainingOutcome>(ended->body).cost, outcome.cost);
}

TEST(Messages, WhatATrainingSaysStaysInItsFolderAndIsNumbers) {
  const auto fitted = [](const std::string& name, const std::string& sha256) {
    return decode_reply(R"({"id":1,"fitted":{"files":[{"role":"adapter","name":")" + name +
                        R"(","sha256":")" + sha256 + R"(","bytes":1}],"cost":{}}})");
  };
  EXPECT_TRUE(fitted("a", std::string(64, 'a')).ok());
  for (const char* name : {"", "../a", "a/b", "/etc/passwd", ".."}) {
    EXPECT_FALSE(fitted(name, std::string(64, 'a')).ok()) << name;
  }
  EXPECT_FALSE(fitted("a", "short").ok());
  for (const char* values : {R"({"loss":null})", R"({"loss":"1"})", "{}", R"({"a b":1})"}) {
    EXPECT_FALSE(decode_reply(std::string(R"({"id":1,"point":{"step":1,"steps":2,"values":)") +
                              values + "}}")
                     .ok())
        << values;
  }
  // As the columns of metrics are named, by which a training may choose.
  EXPECT_TRUE(decode_reply(R"({"id":1,"point":{"step":1,"steps":2,)"
                           R"("values":{"development.rougeL":0.5}}})")
                  .ok());
}

TEST(Messages, UnknownVerbsAreInvalid) {
  const Error error = decode_request(R"({"id":1,"verb":"dance"})").error();
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_NE(error.message.find("dance"), std::string::npos);
}

TEST(Messages, IllFormedLinesAreErrorsThatNameTheMember) {
  for (const char* line :
       {"", "[]", "{}", "{\"id\":1}", "{\"id\":1,\"prediction\":{\"ordinal\":1}}",
        "{\"id\":\"1\",\"done\":{}}", "{\"id\":1,\"done\":3}"}) {
    EXPECT_FALSE(decode_reply(line).ok()) << line;
  }
  const Error error = decode_reply(R"({"id":1,"prediction":{"ordinal":1,"text":5}})").error();
  EXPECT_NE(error.message.find("'text'"), std::string::npos) << error.message;
  EXPECT_FALSE(
      decode_reply(R"({"id":1,"prediction":{"ordinal":1,"text":"x","finish":"later"}})").ok());
}

TEST(Messages, NumbersAndTextsThatCannotBeAreErrors) {
  const auto prediction = [](const std::string& members) {
    return R"({"id":1,"prediction":{"ordinal":1,"text":"x",)" + members + "}}";
  };
  for (const std::string& line : {
           prediction(R"("tokens_in":-1)"),
           prediction(R"("tokens_in":18446744073709551615)"),
           prediction(R"("tokens_out":1099511627777)"),
           prediction(R"("tokens_out":true)"),
           prediction(R"("repaired_bytes":-1)"),
           prediction(R"("truncation":{"document_tokens":-1,"kept_tokens":0})"),
           prediction(R"("truncation":{"document_tokens":1,"kept_tokens":1,"kept":[[0,-1,2]]})"),
           prediction(R"("text":")" + std::string((512 << 10) + 1, 'x') + "\""),
           std::string(R"({"id":18446744073709551615,"opened":true})"),
           std::string(R"({"id":1,"probe":{"protocol":4294967297,"host":"h"}})"),
           std::string(R"({"id":1,"done":{"ns":-1}})"),
           std::string(R"({"id":1,"done":{"ns":1e999}})"),
           std::string(R"({"id":1,"done":{"peak_resident_bytes":-1}})"),
           std::string(R"({"id":1,"done":{"peak_device_bytes":-1}})"),
           std::string(R"({"id":1,"phase":{"name":"x","ns":-1,"tokens":1}})"),
           std::string(R"({"id":1,"phase":{"name":"x","ns":1,"tokens":-1}})"),
           std::string(R"({"id":1,"phase":{"name":"total","ns":1,"tokens":1}})"),
           std::string(R"({"id":1,"phase":{"name":"x.flops","ns":1,"tokens":1}})"),
       }) {
    EXPECT_FALSE(decode_reply(line).ok()) << line.substr(0, 120);
  }
  EXPECT_TRUE(decode_reply(prediction(R"("tokens_in":1099511627776)")).ok());
  EXPECT_TRUE(decode_reply(R"({"id":1,"prediction":{"ordinal":1,"text":")" +
                           std::string(512 << 10, 'x') + "\"}}")
                  .ok());
}

TEST(Messages, AQuestionAboutAModelAndItsAnswerSurviveTheWire) {
  ModelRequest asked;
  asked.verb = "logits";
  asked.model = {"tiny", "/models/tiny", "0123"};
  asked.runtime.threads = 3;
  asked.arguments.text = R"({"ids":[1,2],"top":4})";
  const auto request = decode_request(encode(Request{9, asked}));
  ASSERT_TRUE(request.ok()) << request.error().to_string();
  const auto& read = std::get<ModelRequest>(request->body);
  EXPECT_EQ(read.verb, "logits");
  EXPECT_EQ(read.model.path, "/models/tiny");
  EXPECT_EQ(read.runtime.threads, 3);
  EXPECT_EQ(read.arguments, asked.arguments);
  // Numbers stay numbers, to the last digit.
  const auto reply =
      decode_reply(encode(Reply{9, ModelReply{Json{R"({"logits":[0.1,-2.5e-07]})"}}}));
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  EXPECT_EQ(std::get<ModelReply>(reply->body).answer.text, R"({"logits":[0.1,-2.5e-07]})");
  EXPECT_FALSE(decode_request(R"({"id": 1, "verb": "inspect", "arguments": {}})").ok());
  EXPECT_FALSE(decode_reply(R"({"id": 1, "answer": 3})").ok());
}

}  // namespace
}  // namespace qfs::host
