#include "methods/models/inspect/model_verbs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/inspect/model_report.h"
#include "methods/models/inspect/roofline.h"
#include "methods/models/inspect/verb_arguments.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::inspect {

namespace {

using architectures::Backbone;
using nlohmann::json;

/// Stands for a tokenizer that is not there where prompts are ids: no id has a text.
class NoTexts final : public tokenizers::VocabularyTokenizer {
 public:
  std::vector<tokenizers::Token> encode(std::string_view) const override { return {}; }
  int64_t vocabulary_size() const override { return 0; }
  std::string decode(std::span<const int32_t>) const override { return {}; }
  std::optional<int32_t> special_id(std::string_view) const override { return std::nullopt; }
  std::vector<std::string> special_texts() const override { return {}; }
  std::optional<int32_t> end_of_sequence_id() const override { return std::nullopt; }
};

/// A decoder that is ready to read prompts.
struct OpenedDecoder {
  std::shared_ptr<const Backbone> backbone;
  std::unique_ptr<nn::SequenceModel> model;
};

Result<OpenedDecoder> open_decoder(const Resource& resource, const RuntimeOptions& runtime,
                                   const json& arguments) {
  if (Status status = nn::configure_torch(runtime); !status.ok()) return status.error();
  ResourceCache cache;
  OpenedDecoder opened;
  const bool ids = arguments.contains("ids") && arguments.value("stop", json::array()).empty();
  auto backbone =
      architectures::open_backbone(resource, ids ? architectures::TokenizerUse::optional
                                                 : architectures::TokenizerUse::required);
  if (!backbone.ok()) return backbone.error();
  opened.backbone = *backbone;
  auto model = opened.backbone->network->open(runtime, opened.backbone->digest, cache);
  if (!model.ok()) return model.error();
  opened.model = *std::move(model);
  return opened;
}

/// Null without a tokenizer.
json text_of(const Backbone& backbone, int32_t id) {
  if (!backbone.tokenizer) return nullptr;
  return repair_utf8(backbone.tokenizer->decode({&id, 1})).text;
}

json most_probable(const Backbone& backbone, const std::vector<float>& logits, size_t top) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  top = std::min(top, order.size());
  const auto logit = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(top),
      [&](int32_t a, int32_t b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; });
  double sum = 0;
  const double largest = top == 0 ? 0 : logit(order[0]);
  for (const float value : logits) sum += std::exp(value - largest);
  json rows = json::array();
  for (size_t i = 0; i < top; ++i) {
    rows.push_back({{"id", order[i]},
                    {"text", text_of(backbone, order[i])},
                    {"logit", logit(order[i])},
                    {"probability", std::exp(logit(order[i]) - largest) / sum}});
  }
  return rows;
}

Result<Json> logits_of(const Resource& resource, const RuntimeOptions& runtime,
                       const json& arguments) {
  Result<OpenedDecoder> opened = open_decoder(resource, runtime, arguments);
  if (!opened.ok()) return opened.error();
  const auto input = input_of(arguments, *opened->backbone);
  if (!input.ok()) return input.error();
  const nn::SequenceShape& shape = opened->model->shape();
  std::vector<float> logits(static_cast<size_t>(shape.vocabulary));
  const size_t positions = shape.encoder_decoder() ? shape.decoder_start.size() : input->ids.size();
  if (Status begun = opened->model->begin(1, static_cast<int64_t>(positions)); !begun.ok()) {
    return begun.error();
  }
  if (Status read = opened->model->prefill(0, *input, logits); !read.ok()) return read.error();
  for (const float logit : logits) {
    if (!std::isfinite(logit)) return data_error("a logit is not finite; the weights are damaged");
  }
  json answer = {
      {"ids", input->ids},
      {"logits", logits},
      {"top", most_probable(*opened->backbone, logits, arguments.value("top", size_t{10}))}};
  return Json{answer.dump()};
}

json work_json(const Work& work) { return {{"flops", work.flops}, {"bytes", work.bytes}}; }

Result<Json> generated(const Resource& resource, const RuntimeOptions& runtime,
                       const json& arguments) {
  Result<OpenedDecoder> opened = open_decoder(resource, runtime, arguments);
  if (!opened.ok()) return opened.error();
  const auto input = input_of(arguments, *opened->backbone);
  if (!input.ok()) return input.error();
  const auto options = decoding_of(arguments, *opened->backbone);
  if (!options.ok()) return options.error();
  const auto seed = arguments.value("seed", uint64_t{0});
  const nn::Network& network = *opened->backbone->network;
  const bool texts = opened->backbone->tokenizer != nullptr;
  decoding::Generator generator(texts ? opened->backbone->tokenizer : std::make_shared<NoTexts>(),
                                std::move(opened->model),
                                network.work(network.element_bytes(runtime)));
  const auto result = generator.generate({&*input, 1}, *options, {&seed, 1});
  if (!result.ok()) return result.error();
  const decoding::Generated& row = result->rows.front();
  const RepairedText text = repair_utf8(row.text);
  json answer = {{"prompt_ids", input->ids},
                 {"ids", row.ids},
                 {"text", text.text},
                 {"repaired_bytes", text.replaced_bytes},
                 {"finish", to_string(row.finish)},
                 {"prefill_ns", result->times.prefill_ns},
                 {"decode_ns", result->times.decode_ns},
                 {"decode_tokens", result->times.decode_tokens},
                 {"prefill_work", work_json(result->times.prefill_work)},
                 {"decode_work", work_json(result->times.decode_work)}};
  if (!texts) answer["text"] = nullptr;
  if (row.score) answer["score"] = *row.score;
  return Json{answer.dump()};
}

}  // namespace

Result<Json> answer_model_verb(std::string_view verb, const Resource& model,
                               const RuntimeOptions& runtime, const Json& arguments) {
  const Result<json> parsed = parse_json(arguments.text, "arguments");
  if (!parsed.ok()) return parsed.error();
  try {
    if (verb == "inspect") return inspect_model(model);
    if (verb == "verify") return verify_model(model);
    if (verb == "logits") return logits_of(model, runtime, *parsed);
    if (verb == "generate") return generated(model, runtime, *parsed);
    if (verb == "roofline") return roofline(model, runtime, *parsed);
  } catch (const json::exception& error) {
    return invalid_argument(std::string("arguments of '") + std::string(verb) +
                            "': " + error.what());
  }
  return invalid_argument("unknown verb '" + std::string(verb) + "' about a model");
}

}  // namespace qfs::inspect
