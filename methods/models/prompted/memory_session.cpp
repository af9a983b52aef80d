#include "methods/models/prompted/memory_session.h"

#include <ATen/ops/full_like.h>

#include <limits>
#include <utility>

#include "methods/models/prompted/memory_params.h"

namespace qfs::prompted {

namespace {

bool asks_by_query(const Params& params) {
  return params.find<std::string>("memory") == "qf_infini";
}

/// `source` names where the scalars are from.
Result<std::shared_ptr<const nn::InfiniMemory>> bound_memory(const Params& params, int64_t segment,
                                                             const peft::InfiniTensors& tensors,
                                                             const nn::Decoder& decoder,
                                                             const std::string& source) {
  nn::InfiniOptions options{.segment = segment, .query_focused = asks_by_query(params)};
  options.kept = params.find<int64_t>("kept_tokens").value_or(0);
  const MemoryForm form = memory_form(params);
  if (form.rule == "linear") options.rule = nn::MemoryRule::linear;
  if (form.alpha_scale == "model") options.relevance = nn::RelevanceScale::model;
  const bool unread = params.find<std::string>("memory_read") == "none";
  // A file without a memory will do where none is read: what is left is the window.
  auto scalars = peft::memory_scalars(
      unread && tensors.empty() ? first_memory(params, decoder.shape(), 0) : tensors,
      decoder.shape(), options.query_focused, source);
  if (!scalars.ok()) return scalars.error();
  if (unread) {
    for (nn::InfiniScalars& layer : *scalars) {  // the memory's share is logistic(beta)
      layer.beta = at::full_like(layer.beta, -std::numeric_limits<double>::infinity());
    }
  }
  return nn::bind_memory(options, *std::move(scalars), decoder);
}

}  // namespace

peft::InfiniTensors first_memory(const Params& params, const nn::DecoderShape& shape,
                                 uint64_t seed) {
  if (!has_memory(params)) return {};
  return peft::new_memory(shape, params.find<double>("first_beta").value_or(0),
                          asks_by_query(params), memory_form(params).gamma_bias, seed);
}

Result<std::shared_ptr<const nn::InfiniMemory>> trained_memory(const Params& params,
                                                               const peft::InfiniTensors& tensors,
                                                               const nn::Decoder& decoder) {
  const auto segment = params.find<int64_t>("train_segment");
  return bound_memory(params, segment.value_or(kTrainSegment), tensors, decoder, "what is trained");
}

Result<MakeMemory> written_memory(const Params& params, const peft::InfiniTensors& tensors,
                                  const std::string& path) {
  if (has_memory(params)) {
    return MakeMemory([=](const nn::Decoder& decoder) {
      return bound_memory(params, params.get<int64_t>("local_context"), tensors, decoder, path);
    });
  }
  if (tensors.empty()) return MakeMemory();
  return data_error("the adapter was trained with a memory; ask for it with 'memory'", path);
}

}  // namespace qfs::prompted
