#include "methods/compressors/session_compressor.h"

#include <ATen/ops/cat.h>

#include <algorithm>

#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"

namespace qfs::compressors {

nn::SequenceInput input_of(std::span<const Piece> pieces, int32_t placeholder) {
  nn::SequenceInput input;
  for (const Piece& piece : pieces) {
    const auto at = static_cast<int64_t>(input.ids.size());
    if (!piece.rows.defined()) {
      input.ids.insert(input.ids.end(), piece.ids.begin(), piece.ids.end());
    } else if (piece.size() > 0) {
      input.embedded.push_back({at, piece.rows});
      input.ids.insert(input.ids.end(), static_cast<size_t>(piece.size()), placeholder);
    }
  }
  return input;
}

Result<PromptParts> parts_of(const nn::SequenceInput& prompt) {
  const nn::TokenSpan& document = prompt.document;
  const auto size = static_cast<int64_t>(prompt.ids.size());
  if (document.count < 1 || document.first < 0 || document.end() > size) {
    return invalid_argument("the prompt has no token of a document");
  }
  const auto at = [&](int64_t position) { return prompt.ids.begin() + position; };
  return PromptParts{{at(0), at(document.first)},
                     {at(document.first), at(document.end())},
                     {at(document.end()), prompt.ids.end()}};
}

std::vector<Piece> Compressor::assemble(const CompressionTask& task,
                                        std::span<const Piece> memory) const {
  const auto& [parts, plan] = task;
  std::vector<Piece> pieces = {{parts.head}};
  const auto begin = parts.content.begin() + plan.kept.first;
  const Piece kept = {{begin, begin + plan.kept.count}};
  if (!plan.memory_first) pieces.push_back(kept);
  pieces.insert(pieces.end(), memory.begin(), memory.end());
  if (plan.memory_first) pieces.push_back(kept);
  pieces.push_back({parts.tail});
  return pieces;
}

Result<Compressed> Compressor::compress_demonstrations(const CompressionTask& task) const {
  auto compressed = compress({&task, 1});
  if (!compressed.ok()) return compressed.error();
  return std::move(compressed->front());
}

nn::AdapterSet Compressor::generator_adapters() const { return {}; }

Result<Plan> NoCompressor::plan(const PromptParts& parts) const {
  return Plan{{}, {0, static_cast<int64_t>(parts.content.size())}, true};
}

Result<std::vector<Compressed>> NoCompressor::compress(
    std::span<const CompressionTask> tasks) const {
  std::vector<Compressed> made;
  for (const auto& [parts, plan] : tasks) {
    made.emplace_back();
    for (const Segment& segment : plan.segments) {
      const auto begin = parts.content.begin() + segment.content.first;
      made.back().memory.push_back({{begin, begin + segment.content.count}});
    }
  }
  return made;
}

std::vector<Piece> TrainedCompressor::assemble_text(const CompressionTask& task,
                                                    std::span<const Piece> memory, bool) const {
  return assemble(task, memory);
}

std::vector<Piece> earlier_memory(const Segment& segment, std::span<const Piece> before) {
  if (segment.earlier == Earlier::nothing || before.empty()) return {};
  std::vector<Piece> seen(before.begin(), before.end());
  const auto held = std::min(seen.size(), static_cast<size_t>(segment.held));
  for (Piece& piece : std::span(seen).first(held)) piece.rows = piece.rows.detach();
  if (segment.earlier == Earlier::previous) seen.erase(seen.begin(), seen.end() - 1);
  return seen;
}

namespace {

/// A segment that can be read now.
struct Ready {
  size_t task;
  size_t segment;
};

/// Reads some segments side by side.
Status read_ready(std::span<const CompressionTask> tasks, std::span<const Ready> ready,
                  const CompressorPass& pass, std::vector<Compressed>& made) {
  std::vector<nn::SequenceInput> inputs;
  for (const auto& [task, index] : ready) {
    const Segment& segment = tasks[task].plan.segments[index];
    const auto before = std::span<const Piece>(made[task].memory).first(index);
    inputs.push_back(pass.input(tasks[task], segment, earlier_memory(segment, before)));
  }
  const auto states = nn::sequence_states(pass.decoder, inputs, pass.recompute);
  if (!states.ok()) return states.error();
  return nn::guarded("making memory", [&]() -> Status {
    std::vector<at::Tensor> rows;
    int64_t end = 0;
    for (size_t i = 0; i < ready.size(); ++i) {
      const int64_t count = tasks[ready[i].task].plan.segments[ready[i].segment].memory;
      const auto tokens = static_cast<int64_t>(inputs[i].ids.size());
      made[ready[i].task].passes.push_back({tokens, 0,
                                            pass.beside_token * static_cast<double>(tokens) +
                                                pass.beside_row * static_cast<double>(count)});
      end += tokens;
      rows.push_back(states->narrow(0, end - count, count));
    }
    const at::Tensor all = pass.memory(at::cat(rows));
    int64_t first = 0;
    for (size_t i = 0; i < ready.size(); ++i) {
      made[ready[i].task].memory[ready[i].segment] = {{}, all.narrow(0, first, rows[i].size(0))};
      first += rows[i].size(0);
    }
    return {};
  });
}

}  // namespace

Result<std::vector<Compressed>> compress_in_rounds(std::span<const CompressionTask> tasks,
                                                   const CompressorPass& pass) {
  std::vector<Compressed> made(tasks.size());
  size_t rounds = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    made[i].memory.resize(tasks[i].plan.segments.size());
    rounds = std::max(rounds, made[i].memory.size());
  }
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<Ready> ready;
    for (size_t i = 0; i < tasks.size(); ++i) {
      for (size_t j = 0; j < made[i].memory.size(); ++j) {
        const bool alone = tasks[i].plan.segments[j].earlier == Earlier::nothing;
        if ((alone ? 0 : j) == round) ready.push_back({i, j});
      }
    }
    const auto at_once = static_cast<size_t>(pass.segments_at_once);
    for (size_t first = 0; first < ready.size(); first += at_once) {
      const size_t count = std::min(at_once, ready.size() - first);
      const auto some = std::span<const Ready>(ready).subspan(first, count);
      if (Status read = read_ready(tasks, some, pass, made); !read.ok()) return read.error();
    }
  }
  return made;
}

std::vector<Piece> read_pieces(const Compressor& compressor, const CompressionTask& task,
                               std::span<const Piece> memory, std::span<const Piece> earlier) {
  std::vector<Piece> read(earlier.begin(), earlier.end());
  for (size_t i = 0; i < memory.size(); ++i) {
    if (task.plan.segments[i].read) read.push_back(memory[i]);
  }
  return compressor.assemble(task, read);
}

}  // namespace qfs::compressors
