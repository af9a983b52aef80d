#include "methods/models/inspect/roofline.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "methods/models/architectures/backbone.h"
#include "methods/models/architectures/bert/encoder_work.h"
#include "methods/models/inspect/machine_limits.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::inspect {

namespace {

using nlohmann::json;

constexpr int64_t kFloatBytes = 4;

/// A model's work and the lengths that it reads.
struct Subject {
  std::string kind;
  nn::ModelWork work;
  std::string weights = "as loaded";
  std::optional<nn::ModelWork> expanded;  ///< with float32 weights, where they are loaded packed
  int64_t longest_input = 0;
  int64_t longest_context = 0;  ///< 0: produces nothing
};

bool as_loaded(const RuntimeOptions& runtime) {
  return runtime.device == "cpu" && runtime.dtype == "float32";
}

Result<Subject> open_encoder(const Resource& resource, const RuntimeOptions& runtime,
                             const Error& otherwise) {
  std::error_code error;
  if (!std::filesystem::is_directory(resource.path, error)) return otherwise;
  const auto folder = checkpoints::ModelDirectory::open(resource.path);
  if (!folder.ok()) return folder.error();
  const auto weights = architectures::load_encoder_weights(*folder);
  if (!weights.ok()) {
    return weights.error().kind == ErrorKind::unavailable ? otherwise : weights.error();
  }
  if (!as_loaded(runtime)) {
    return unavailable("'" + resource.name + "' is a text encoder, which runs on a CPU in float32");
  }
  Subject subject;
  subject.kind = "encoder";
  subject.work = architectures::encoder_work(**weights);
  subject.longest_input = (*weights)->config.max_tokens();
  return subject;
}

Result<Subject> open_subject(const Resource& resource, const RuntimeOptions& runtime) {
  const auto backbone = architectures::open_backbone(resource);
  if (!backbone.ok()) {
    // What generates nothing may be a text encoder.
    if (backbone.error().kind != ErrorKind::unavailable) return backbone.error();
    return open_encoder(resource, runtime, backbone.error());
  }
  const nn::Network& network = *(*backbone)->network;
  const nn::SequenceShape& shape = network.shape();
  Subject subject;
  subject.kind = shape.encoder_decoder() ? "encoder-decoder" : "decoder";
  subject.work = network.work(network.element_bytes(runtime));
  if (!as_loaded(runtime)) subject.weights = runtime.dtype;
  subject.expanded = network.work({kFloatBytes, kFloatBytes});
  if (subject.expanded->output.bytes == subject.work.output.bytes &&
      subject.expanded->head_bytes == subject.work.head_bytes) {
    subject.expanded.reset();
  }
  subject.longest_input = shape.encoder_decoder() ? shape.source_context : shape.context;
  subject.longest_context = subject.longest_input;
  return subject;
}

json rate_json(const kernels::ObservedRate& rate) {
  return {
      {"best", rate.best}, {"median", rate.median}, {"worst", rate.worst}, {"passes", rate.passes}};
}

json limits_json(const MeasuredLimits& measured) {
  json products = json::array();
  for (const ProductRate& product : measured.products) {
    products.push_back({{"outputs", product.weight.outputs},
                        {"inputs", product.weight.inputs},
                        {"count", product.weight.count},
                        {"probed_outputs", product.probed_outputs},
                        {"libtorch", rate_json(product.libtorch)}});
    if (product.panels) products.back()["panels"] = rate_json(*product.panels);
  }
  return {{"threads", measured.threads},
          {"rows", measured.rows},
          {"dtype", nn::name_of(measured.type)},
          {"buffer_bytes", measured.memory.buffer_bytes},
          {"read", rate_json(measured.memory.read)},
          {"copy", rate_json(measured.memory.copy)},
          {"gemm", {{"flops", measured.gemm_flops()}, {"products", std::move(products)}}}};
}

/// `row` with the work and what the machine makes of it at most.
json most(json row, const Work& work, int64_t tokens, const MachineLimits& limits) {
  row["flops"] = work.flops;
  row["bytes"] = work.bytes;
  const double seconds = least_seconds(work, limits);
  row["tokens_per_second"] = static_cast<double>(tokens) / seconds;
  row["bound"] = least_seconds({.flops = work.flops}, limits) < seconds ? "read" : "gemm";
  return row;
}

/// The numbers under `name`; those of `usual` that fit where there are none, or the longest.
/// `invalid_argument`: one does not fit.
Result<std::vector<int64_t>> lengths(const json& arguments, const char* name,
                                     std::vector<int64_t> usual, int64_t longest) {
  if (!arguments.contains(name)) {
    std::erase_if(usual, [&](int64_t length) { return length > longest; });
    if (usual.empty()) usual = {longest};
    return usual;
  }
  auto given = arguments.at(name).get<std::vector<int64_t>>();
  for (const int64_t length : given) {
    if (length >= 1 && length <= longest) continue;
    return invalid_argument(std::to_string(length) + " tokens; the model reads 1 to " +
                            std::to_string(longest));
  }
  return given;
}

Status add_most(const nn::ModelWork& work, const std::string& weights, const Subject& subject,
                const json& arguments, const MachineLimits& limits, json& rows) {
  const auto prompts = lengths(arguments, "prompt_tokens", {512, 2048}, subject.longest_input);
  if (!prompts.ok()) return prompts.error();
  for (const int64_t tokens : *prompts) {
    rows.push_back(most({{"phase", "prefill"}, {"tokens", tokens}, {"weights", weights}},
                        nn::prefill_work(work, {.tokens = tokens}), tokens, limits));
  }
  if (subject.longest_context == 0) return {};
  const auto contexts = lengths(arguments, "context", {512}, subject.longest_context);
  if (!contexts.ok()) return contexts.error();
  for (const int64_t context : *contexts) {
    for (const int64_t batch : arguments.value("batches", std::vector<int64_t>{1, 8})) {
      const nn::RowGroup row =
          work.encoder_decoder() ? nn::RowGroup{1, 0, context} : nn::RowGroup{1, context};
      const std::vector<nn::RowGroup> groups(static_cast<size_t>(batch), row);
      rows.push_back(
          most({{"phase", "decode"}, {"batch", batch}, {"context", context}, {"weights", weights}},
               nn::decode_work(work, groups), batch, limits));
    }
  }
  return {};
}

}  // namespace

Result<Json> roofline(const Resource& resource, const RuntimeOptions& runtime,
                      const json& arguments) {
  if (Status status = nn::configure_torch(runtime); !status.ok()) return status.error();
  std::optional<Subject> subject;
  if (!resource.path.empty()) {
    auto opened = open_subject(resource, runtime);
    if (!opened.ok()) return opened.error();
    subject = *std::move(opened);
  }
  const auto measured =
      measure_limits(subject ? subject->work.input.matrices : general_shapes(), runtime);
  if (!measured.ok()) return measured.error();
  json answer = limits_json(*measured);
  json& rows = answer["most"] = json::array();
  if (subject) {
    const nn::ModelWork& work = subject->work;
    const int64_t step_bytes = work.output.bytes + work.head_bytes;
    answer["model"] = {{"name", resource.name},
                       {"kind", subject->kind},
                       {"layer_elements", work.input.elements()},
                       {"step_bytes", step_bytes},
                       {"cache_bytes_per_token", work.cache_bytes}};
    Status added = add_most(work, subject->weights, *subject, arguments, measured->limits(), rows);
    if (added.ok() && subject->expanded) {
      added =
          add_most(*subject->expanded, "float32", *subject, arguments, measured->limits(), rows);
    }
    if (!added.ok()) return added.error();
  }
  return Json{answer.dump()};
}

}  // namespace qfs::inspect
