#include "methods/models/nn/windowed/windowed_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <optional>

#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/windowed/global_rows.h"

namespace qfs::nn {

namespace {

// Queries of one block at least: short windows would make many small products.
constexpr int64_t kMinBlock = 128;

}  // namespace

WindowedAttention::WindowedAttention(std::span<const Window> windows,
                                     std::span<const GlobalProjections> projections,
                                     std::vector<int64_t> global, int64_t length, at::Device device,
                                     std::shared_ptr<const Adapters> adapters,
                                     std::shared_ptr<const Dropout> dropout)
    : windows_(windows),
      projections_(projections),
      global_(std::move(global)),
      length_(length),
      device_(device),
      adapters_(std::move(adapters)),
      dropout_(std::move(dropout)),
      global_index_(at::tensor(global_, at::kLong).to(device)) {
  for (const Window& window : windows_) {
    const auto known = [&](const auto& pair) { return pair.first == window; };
    if (std::ranges::none_of(blocks_, known)) blocks_.emplace_back(window, make_blocks(window));
  }
}

std::vector<WindowedAttention::Block> WindowedAttention::make_blocks(const Window& window) const {
  const int64_t size =
      std::max((kMinBlock + window.reach - 1) / window.reach, int64_t{1}) * window.reach;
  std::vector<Block> blocks;
  for (int64_t begin = 0; begin < length_; begin += size) {
    Block block;
    block.begin = begin;
    block.end = std::min(length_, begin + size);
    // `begin` and `begin + size` are borders of blocks too.
    block.first = std::max<int64_t>(0, begin - window.reach);
    block.last = std::min(length_, begin + size + window.reach);
    block.mask = make_mask(window, block);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

at::Tensor WindowedAttention::make_mask(const Window& window, const Block& block) const {
  const int64_t local = block.last - block.first;
  const auto columns = local + static_cast<int64_t>(global_.size());
  const at::Tensor mask = at::empty({block.end - block.begin, columns}, at::kBool);
  bool* row = mask.mutable_data_ptr<bool>();
  for (int64_t query = block.begin; query < block.end; ++query, row += columns) {
    for (int64_t i = 0; i < local; ++i) row[i] = window.sees(query, block.first + i);
    std::fill(row + local, row + columns, true);
    // A global token in the window counts once, in its own column.
    const auto inside = std::ranges::lower_bound(global_, block.first);
    for (auto at = inside; at != global_.end() && *at < block.last; ++at) {
      row[*at - block.first] = false;
    }
  }
  return mask.to(device_);
}

const std::vector<WindowedAttention::Block>& WindowedAttention::blocks_of(
    const Window& window) const {
  return std::ranges::find(blocks_, window, &std::pair<Window, std::vector<Block>>::first)->second;
}

at::Tensor WindowedAttention::attend_to_windows(size_t layer, const at::Tensor& qkv) const {
  const at::Tensor queries = qkv.select(0, 0);
  const at::Tensor keys = qkv.select(0, 1);
  const at::Tensor values = qkv.select(0, 2);
  const at::Tensor global_keys = keys.index_select(2, global_index_);
  const at::Tensor global_values = values.index_select(2, global_index_);
  const MaskedAttention allowed;
  std::vector<at::Tensor> parts;
  for (const Block& block : blocks_of(windows_[layer])) {
    const int64_t reached = block.last - block.first;
    const std::optional<Dropout> dropout =
        dropout_ ? std::optional(dropout_->of_part(static_cast<uint64_t>(block.begin)))
                 : std::nullopt;
    parts.push_back(attention(queries.narrow(2, block.begin, block.end - block.begin),
                              at::cat({keys.narrow(2, block.first, reached), global_keys}, 2),
                              at::cat({values.narrow(2, block.first, reached), global_values}, 2),
                              {.mask = block.mask}, dropout ? &*dropout : nullptr,
                              block_place(false, layer, LayerBlock::attention)));
  }
  return at::cat(parts, 2);
}

at::Tensor WindowedAttention::attend(int64_t layer, const at::Tensor& states,
                                     const at::Tensor& qkv) const {
  const auto index = static_cast<size_t>(layer);
  const at::Tensor attended = attend_to_windows(index, qkv);
  if (global_.empty()) return attended;
  return attended.index_copy(
      2, global_index_,
      global_rows(projections_[index], states, global_index_, qkv.size(2), adapters_.get(),
                  dropout_.get(), block_place(false, index, LayerBlock::attention)));
}

std::vector<at::Tensor> WindowedAttention::trained() const {
  std::vector<at::Tensor> trained;
  for (const GlobalProjections& layer : projections_) {
    for (const at::Tensor& weight :
         {layer.query.weight, layer.query.bias, layer.key_value.weight, layer.key_value.bias}) {
      if (weight.defined() && weight.requires_grad()) trained.push_back(weight);
    }
  }
  return trained;
}

}  // namespace qfs::nn
