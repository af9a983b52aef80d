#include "methods/compressors/session_selfcp.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/core/json_dom.h"
#include "methods/compressors/params.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"

namespace qfs::compressors {

namespace {

constexpr double kNormEps = 1e-5;
/// Ids whose states say how large the connector's outputs are at first.
constexpr int64_t kProbeIds = 64;

at::Tensor uniform(const std::vector<int64_t>& shape, double bound, uint64_t seed,
                   std::string_view name) {
  at::Tensor values = at::empty(shape, at::kFloat);
  Rng rng = Rng::derived(seed, "selfcp:" + std::string(name));
  for (float& value :
       std::span(values.mutable_data_ptr<float>(), static_cast<size_t>(values.numel()))) {
    value = static_cast<float>((2 * rng.uniform() - 1) * bound);
  }
  return values;
}

/// What enters layer 0 for these tokens: [ids, hidden], float32 on the CPU.
at::Tensor embeddings_of(const nn::Decoder& decoder, const std::vector<int64_t>& ids) {
  const at::Tensor tokens = at::tensor(ids).to(decoder.device());
  const at::Tensor places = at::arange(static_cast<int64_t>(ids.size())).to(decoder.device());
  return decoder.embed(tokens, places).to(at::kCPU, at::kFloat);
}

double rms(const at::Tensor& values) {
  return std::sqrt(values.to(at::kDouble).square().mean().item<double>());
}

/// H [rows, hidden] to Z by what the tensors are.
at::Tensor through_connector(const training::NamedTensors& tensors, const at::Tensor& states) {
  const auto bias = tensors.find(kConnectorBias);
  const auto norm = tensors.find(kConnectorNorm);
  const at::Tensor& weight = tensors.at(kConnectorWeight);
  const at::ScalarType wide = c10::promoteTypes(states.scalar_type(), weight.scalar_type());
  const auto placed = [&](const at::Tensor& one) { return one.to(states.device(), wide); };
  const at::Tensor mapped = at::linear(placed(states), placed(weight),
                                       bias == tensors.end() ? at::Tensor() : placed(bias->second));
  if (norm == tensors.end()) return mapped;
  return at::layer_norm(mapped, {mapped.size(1)}, placed(norm->second),
                        placed(tensors.at(kConnectorNormBias)), kNormEps);
}

}  // namespace

const char* connector_name(const SelfcpForm& form) {
  if (!form.bias) return "linear";
  return form.norm ? "linear_bias_ln" : "linear_bias";
}

std::map<std::string, std::vector<int64_t>> selfcp_shapes(const SelfcpForm& form, int64_t hidden) {
  std::map<std::string, std::vector<int64_t>> shapes = {{kTrainedEmbeddings, {form.rows, hidden}},
                                                        {kConnectorWeight, {hidden, hidden}}};
  if (form.bias) shapes[kConnectorBias] = {hidden};
  if (form.norm) shapes[kConnectorNorm] = shapes[kConnectorNormBias] = {hidden};
  return shapes;
}

Result<training::NamedTensors> new_selfcp(const SelfcpForm& form, const nn::Decoder& decoder,
                                          uint64_t seed, bool scaled) {
  const int64_t vocabulary = decoder.shape().sequence.vocabulary;
  for (const int32_t id : {form.separator, form.tag}) {
    if (Status known = nn::check_token_ids({&id, 1}, vocabulary); !known.ok()) {
      return known.error();
    }
  }
  return nn::guarded("making a connector", [&]() -> Result<training::NamedTensors> {
    const c10::AutoGradMode without_gradients(false);
    const int64_t hidden = decoder.hidden();
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    std::vector<int64_t> rows = {form.tag};
    if (form.rows > 1) rows.insert(rows.begin(), form.separator);
    training::NamedTensors tensors;
    // One by one, so that learned positions are those of a first token.
    std::vector<at::Tensor> embeddings;
    for (const int64_t row : rows) embeddings.push_back(embeddings_of(decoder, {row}));
    tensors[kTrainedEmbeddings] = at::cat(embeddings);
    tensors[kConnectorWeight] = uniform({hidden, hidden}, bound, seed, kConnectorWeight);
    if (form.bias) tensors[kConnectorBias] = uniform({hidden}, bound, seed, kConnectorBias);
    if (form.norm) {
      tensors[kConnectorNorm] = at::ones({hidden});
      tensors[kConnectorNormBias] = at::zeros({hidden});
    }
    if (!scaled) return tensors;
    nn::SequenceInput probe;
    std::vector<int64_t> ids;
    for (int32_t id = 0; id < std::min(kProbeIds, vocabulary); ++id) {
      probe.ids.push_back(id);
      ids.push_back(id);
    }
    const auto states = nn::sequence_states(decoder, {&probe, 1});
    if (!states.ok()) return states.error();
    const double factor =
        rms(embeddings_of(decoder, ids)) / rms(through_connector(tensors, *states));
    for (const char* name :
         form.norm ? std::vector{kConnectorNorm} : std::vector{kConnectorWeight, kConnectorBias}) {
      if (tensors.contains(name)) tensors[name] = tensors[name] * factor;
    }
    return tensors;
  });
}

Selfcp::Selfcp(SelfcpForm form, training::NamedTensors tensors,
               std::shared_ptr<const nn::Decoder> decoder, SelfcpReading reading, SelfcpDraws draws)
    : form_(form),
      tensors_(std::move(tensors)),
      decoder_(std::move(decoder)),
      reading_(reading),
      draws_(draws) {}

Result<Plan> Selfcp::plan(const PromptParts& parts) const {
  SplitRules rules = reading_.rules;
  if (reading_.window_counts_all) {
    const int64_t room = rules.window - static_cast<int64_t>(parts.head.size()) - 1;
    rules.window = room > 0 ? content_in(room, rules.ratio) : 0;
    if (rules.window < 1) {
      return invalid_argument("a window of " + std::to_string(reading_.rules.window) +
                              " tokens has no room for content behind a head of " +
                              std::to_string(parts.head.size()) + " and a separator");
    }
    if (rules.ratio && *rules.ratio > static_cast<double>(rules.window)) {
      return invalid_argument("a 'ratio' of " + shortest_decimal(*rules.ratio) +
                              " for segments of up to " + std::to_string(rules.window) +
                              " tokens, which a window of " +
                              std::to_string(reading_.rules.window) + " holds behind its head");
    }
  }
  return split(static_cast<int64_t>(parts.content.size()), rules);
}

Result<Plan> Selfcp::drawn_plan(const PromptParts& parts, Rng* rng) const {
  SplitRules rules = reading_.rules;
  rules.compress_short = true;
  rules.side = draws_.side.value_or(Side::latter);
  int64_t ratio =
      std::clamp(static_cast<int64_t>(kRatio), draws_.least_ratio, draws_.largest_ratio);
  auto tokens = static_cast<int64_t>(parts.content.size());
  if (draws_.released && !draws_.whole) tokens = std::min(tokens, 2 * rules.window);
  if (rng != nullptr) {
    const auto ratios = static_cast<uint64_t>(draws_.largest_ratio - draws_.least_ratio + 1);
    ratio = draws_.least_ratio + static_cast<int64_t>(rng->below(ratios));
    const bool former = rng->below(2) == 0;
    if (!draws_.side && former) rules.side = Side::former;
    if (draws_.released && !draws_.whole) {
      return released_split(tokens, rules.window, static_cast<double>(ratio), *rng);
    }
  }
  rules.ratio = static_cast<double>(ratio);
  if (draws_.whole)
    return Plan{{{{0, tokens}, memory_tokens(tokens, rules.ratio, Rounding::ceil)}}};
  return split(tokens, rules);
}

at::Tensor Selfcp::connected(const at::Tensor& states) const {
  return through_connector(tensors_, states);
}

ReadPass Selfcp::pass_over(const PromptParts& parts, const Segment& segment) const {
  constexpr int64_t kSeparator = 1;
  return {
      static_cast<int64_t>(parts.head.size()) + kSeparator + segment.content.count + segment.memory,
      0, static_cast<double>(tensors_.at(kConnectorWeight).numel() * segment.memory)};
}

nn::SequenceInput Selfcp::compressor_input(const CompressionTask& task, const Segment& segment,
                                           std::span<const Piece> earlier) const {
  const at::Tensor& table = tensors_.at(kTrainedEmbeddings);
  const int64_t tag = table.size(0) == 1 ? 0 : 1;
  std::vector<Piece> pieces = {{task.parts.head}};
  pieces.insert(pieces.end(), earlier.begin(), earlier.end());
  if (table.size(0) == 1) {
    pieces.push_back({{form_.separator}});
  } else {
    pieces.push_back({{}, table.narrow(0, 0, 1)});
  }
  const auto begin = task.parts.content.begin() + segment.content.first;
  pieces.push_back({{begin, begin + segment.content.count}});
  pieces.push_back({{}, table.narrow(0, tag, 1).expand({segment.memory, table.size(1)})});
  return input_of(pieces, form_.tag);
}

Result<std::vector<Compressed>> Selfcp::compress(std::span<const CompressionTask> tasks) const {
  return compress_in_rounds(
      tasks, {.decoder = *decoder_,
              .recompute = recompute_,
              .segments_at_once = reading_.segments_at_once,
              .input =
                  [this](const CompressionTask& task, const Segment& segment,
                         std::span<const Piece> earlier) {
                    return compressor_input(task, segment, earlier);
                  },
              .memory = [this](const at::Tensor& states) { return connected(states); },
              .beside_row = static_cast<double>(tensors_.at(kConnectorWeight).numel())});
}

}  // namespace qfs::compressors
