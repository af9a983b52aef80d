#include "methods/compressors/session_ratio_sweep.h"

#include <utility>

#include "harness/core/sha256.h"

namespace qfs::compressors {

namespace {

std::string bytes_of(std::span<const int32_t> ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()};
}

/// Of what is read for a segment.
std::string key_of(const PromptParts& parts, const Segment& segment) {
  const auto content = std::span(parts.content)
                           .subspan(static_cast<size_t>(segment.content.first),
                                    static_cast<size_t>(segment.content.count));
  return Sha256()
      .update(std::to_string(parts.head.size()) + "\n")
      .update(bytes_of(parts.head))
      .update(bytes_of(content))
      .hex();
}

}  // namespace

Result<std::vector<Compressed>> SweptSelfcp::compress(
    std::span<const CompressionTask> tasks) const {
  std::vector<Plan> plans(tasks.size());  // what no pass was kept of
  std::vector<CompressionTask> missing;
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (Segment segment : tasks[i].plan.segments) {
      if (passes_->contains(key_of(tasks[i].parts, segment))) continue;
      segment.memory = memory_tokens(segment.content.count, pass_ratio_, rounding_);
      plans[i].segments.push_back(segment);
    }
    if (!plans[i].segments.empty()) missing.push_back({tasks[i].parts, plans[i]});
  }
  const auto made = inner_->compress(missing);
  if (!made.ok()) return made.error();
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto& [parts, plan] = missing[i];
    for (size_t j = 0; j < plan.segments.size(); ++j) {
      (*passes_)[key_of(parts, plan.segments[j])] = (*made)[i].memory[j].rows.clone();
    }
  }
  std::vector<Compressed> compressed(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const Segment& segment : tasks[i].plan.segments) {
      const at::Tensor& rows = passes_->at(key_of(tasks[i].parts, segment));
      compressed[i].memory.push_back({{}, rows.narrow(0, 0, segment.memory)});
      compressed[i].passes.push_back(inner_->pass_over(tasks[i].parts, segment));
    }
  }
  return compressed;
}

}  // namespace qfs::compressors
