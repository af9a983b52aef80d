#include "methods/compressors/session_lora_compressors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "methods/compressors/params.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/peft/lora.h"

namespace qfs::compressors {

namespace {

constexpr const char* kDown = ".lora_A";
constexpr const char* kUp = ".lora_B";
/// Rows of ICAE's table behind the slots: auto-encoding, language modelling, fine-tuning.
constexpr int64_t kAutoEncoding = 0;
constexpr int64_t kLanguage = 1;
constexpr int64_t kFineTuning = 2;
constexpr int64_t kModes = 3;
constexpr double kNoise = 0.1;

}  // namespace

const LoraForm& autocompressor_form() {
  static const LoraForm kForm = {.table = "base_model.model.embed_summary.weight",
                                 .before = "base_model.model.",
                                 .after = ".weight",
                                 .targets = {"k_proj", "o_proj", "q_proj", "v_proj"},
                                 .alpha = 16,
                                 .mode_rows = 0,
                                 .rows = kSummaryLength};
  return kForm;
}

const LoraForm& icae_form() {
  static const LoraForm kForm = {.table = "memory_token_embed.weight",
                                 .before = "icae.base_model.model.",
                                 .after = ".default.weight",
                                 .targets = {"q_proj", "v_proj"},
                                 .alpha = 32,
                                 .mode_rows = kModes,
                                 .rows = kMemSize};
  return kForm;
}

Result<LoraTensors> new_lora_tensors(const LoraForm& form, const nn::Decoder& decoder, int64_t rows,
                                     int64_t rank, double alpha, int32_t row_id, uint64_t seed) {
  peft::LoraConfig config{.rank = rank, .alpha = alpha, .targets = form.targets};
  const auto lora = peft::new_lora(peft::adaptable_layers(decoder), config, seed);
  if (!lora.ok()) return lora.error();
  return nn::guarded("making rows", [&]() -> Result<LoraTensors> {
    const c10::AutoGradMode without_gradients(false);
    LoraTensors made{{}, config.scale()};
    const std::string before = form.before + std::string(decoder.name_prefix());
    for (const auto& [name, added] : lora->layers) {
      made.tensors[before + name + kDown + form.after] = added.down;
      made.tensors[before + name + kUp + form.after] = added.up;
    }
    const at::Tensor row = decoder
                               .embed(at::tensor(std::vector<int64_t>{row_id}).to(decoder.device()),
                                      at::arange(1).to(decoder.device()))
                               .to(at::kCPU, at::kFloat);
    at::Tensor table = row.expand({rows, row.size(1)}).contiguous();
    if (form.mode_rows > 0) {
      const double size = std::sqrt(row.square().mean().item<double>()) * kNoise * std::sqrt(3.0);
      Rng rng = Rng::derived(seed, form.table);
      for (float& value :
           std::span(table.mutable_data_ptr<float>(), static_cast<size_t>(table.numel()))) {
        value += static_cast<float>((2 * rng.uniform() - 1) * size);
      }
    }
    made.tensors[form.table] = table;
    return made;
  });
}

nn::AdapterSet LoraCompressor::adapters() const {
  nn::AdapterSet set;
  const std::string before = form_.before + std::string(decoder_->name_prefix());
  const std::string down = kDown + form_.after;
  for (const auto& [name, tensor] : tensors_.tensors) {
    if (!name.ends_with(down)) continue;
    const std::string matrix = name.substr(0, name.size() - down.size());
    set.linears[matrix.substr(before.size())] = {
        tensor, tensors_.tensors.at(matrix + kUp + form_.after), tensors_.scale};
  }
  return set;
}

double LoraCompressor::beside_token() const {
  int64_t elements = 0;
  for (const auto& [name, tensor] : tensors_.tensors) {
    if (name != form_.table) elements += tensor.numel();
  }
  return static_cast<double>(elements);
}

int64_t LoraCompressor::memory_of(int64_t length) const {
  if (!reading_.ratio) return reading_.memory;
  return std::min(reading_.memory, memory_tokens(length, reading_.ratio, Rounding::ceil));
}

at::Tensor LoraCompressor::rows(int64_t first, int64_t count) const {
  return tensors_.tensors.at(form_.table).narrow(0, first, count);
}

Result<std::vector<Compressed>> LoraCompressor::compress(
    std::span<const CompressionTask> tasks) const {
  std::shared_ptr<const nn::Adapters> bound;
  if (const nn::AdapterSet set = adapters(); !set.linears.empty()) {
    auto made = nn::bind_adapters(set, *decoder_);
    if (!made.ok()) return made.error();
    bound = *std::move(made);
  }
  const auto input = [&](const CompressionTask& task, const Segment& segment,
                         std::span<const Piece> earlier) {
    std::vector<Piece> pieces(earlier.begin(), earlier.end());
    pieces.push_back({in_front()});
    const auto begin = task.parts.content.begin() + segment.content.first;
    pieces.push_back({{begin, begin + segment.content.count}});
    pieces.push_back({{}, rows(0, segment.memory)});
    nn::SequenceInput read = input_of(pieces, placeholder());
    read.adapters = bound;
    return read;
  };
  return compress_in_rounds(tasks, {.decoder = *decoder_,
                                    .recompute = recompute_,
                                    .segments_at_once = static_cast<int64_t>(tasks.size()),
                                    .input = input,
                                    .memory = [](const at::Tensor& states) { return states; },
                                    .beside_token = beside_token()});
}

Result<Plan> Autocompressor::plan(const PromptParts& parts) const {
  Plan plan;
  const Range all = {0, static_cast<int64_t>(parts.content.size())};
  for (const Range& part : even_parts(all, reading_.window)) {
    plan.segments.push_back({part, memory_of(part.count), Earlier::all});
  }
  return plan;
}

std::vector<Piece> Autocompressor::assemble(const CompressionTask& task,
                                            std::span<const Piece> memory) const {
  std::vector<Piece> pieces(memory.begin(), memory.end());
  pieces.push_back({task.parts.head});
  pieces.push_back({task.parts.tail});
  return pieces;
}

Segment Autocompressor::demonstration(Range content) const {
  content.count = std::min(content.count, reading_.window);
  return {content, memory_of(content.count), Earlier::all};
}

Result<Plan> Icae::plan(const PromptParts& parts) const {
  return Plan{{demonstration({0, static_cast<int64_t>(parts.content.size())})}, {}, true};
}

Segment Icae::demonstration(Range content) const {
  // The token in front counts.
  content.count = std::min(content.count, reading_.window - 1);
  return {content, memory_of(content.count)};
}

Piece Icae::mode(int64_t index) const {
  const int64_t slots = tensors_.tensors.at(form_.table).size(0) - form_.mode_rows;
  return {{}, rows(slots + index, 1)};
}

std::vector<Piece> Icae::assemble(const CompressionTask& task,
                                  std::span<const Piece> memory) const {
  std::vector<Piece> pieces(memory.begin(), memory.end());
  const Piece answers = mode(kFineTuning);
  pieces.push_back(answers);
  pieces.push_back({task.parts.head});
  pieces.push_back({task.parts.tail});
  pieces.push_back(answers);
  return pieces;
}

std::vector<Piece> Icae::assemble_text(const CompressionTask&, std::span<const Piece> memory,
                                       bool follows) const {
  std::vector<Piece> pieces(memory.begin(), memory.end());
  pieces.push_back(mode(follows ? kLanguage : kAutoEncoding));
  return pieces;
}

}  // namespace qfs::compressors
