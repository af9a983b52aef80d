#include "methods/compressors/session_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/generation_work.h"

namespace qfs::compressors {

namespace {

DecoderSizes sizes_of(const nn::SequenceShape& shape) {
  const nn::LayerWidths& widths = shape.widths;
  return {.layers = widths.layers,
          .width = widths.hidden,
          .heads = widths.heads,
          .inner = widths.intermediate,
          .vocabulary = shape.vocabulary,
          .key_heads = widths.kv_heads,
          .head_width = widths.head_dim};
}

double operations(const RowWork& work, const DecoderSizes& own, WorkCount count) {
  double sum = 0;
  if (work.prompt > 0) {
    sum = generation_multiply_adds(work.prompt, work.new_tokens, own, count) +
          work.beside_token * static_cast<double>(work.prompt + work.new_tokens - 1);
  }
  for (const ReadPass& pass : work.passes) {
    const DecoderSizes sizes = pass.shape ? sizes_of(*pass.shape) : own;
    sum += body_multiply_adds(pass.tokens, sizes, count) + head_multiply_adds(pass.headed, sizes) +
           pass.beside;
  }
  return 2 * sum;
}

bool known(std::span<const ReadPass> passes) {
  return std::ranges::none_of(passes, [](const ReadPass& pass) {
    return pass.shape != nullptr && pass.shape->widths.layers == 0;
  });
}

}  // namespace

nlohmann::json facts_of(const PromptParts& parts, const Plan& plan, std::span<const Piece> memory) {
  nlohmann::json segments = nlohmann::json::array();
  int64_t compressed = 0;
  int64_t rows = 0;
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    const Segment& segment = plan.segments[i];
    const int64_t count = memory[i].size();
    segments.push_back({segment.content.first, segment.content.count, count});
    compressed += segment.content.count;
    if (segment.read) rows += count;
  }
  nlohmann::json facts = {{"content_tokens", parts.content.size()},
                          {"kept_tokens", plan.kept.count},
                          {"compressed_tokens", compressed},
                          {"memory_tokens", rows},
                          {"segments", std::move(segments)}};
  if (rows > 0) {
    facts["achieved_ratio"] = static_cast<double>(compressed) / static_cast<double>(rows);
  }
  return facts;
}

std::optional<int64_t> pass_flops(std::span<const ReadPass> passes,
                                  const nn::SequenceShape& shape) {
  if (!known(passes)) return std::nullopt;
  return static_cast<int64_t>(operations({.passes = passes}, sizes_of(shape), WorkCount::lean));
}

void add_operations(const RowWork& work, const nn::SequenceShape& shape, nlohmann::json& facts) {
  if (!known(work.passes)) return;
  const DecoderSizes sizes = sizes_of(shape);
  facts["flops_eager"] = operations(work, sizes, WorkCount::eager);
  facts["flops_lean"] = operations(work, sizes, WorkCount::lean);
}

}  // namespace qfs::compressors
