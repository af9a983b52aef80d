#include "methods/models/checkpoints/renamed_checkpoint.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace qfs::checkpoints {

namespace {

class RenamedCheckpoint final : public Checkpoint {
 public:
  struct Source {
    const TensorEntry* tensor;
    uint64_t first_byte;
  };

  RenamedCheckpoint(std::shared_ptr<const Checkpoint> base, std::vector<TensorEntry> entries,
                    std::map<std::string, Source> sources)
      : base_(std::move(base)), sources_(std::move(sources)) {
    set_tensors(std::move(entries));
  }

  Status read_bytes(const TensorEntry& tensor, uint64_t first,
                    std::span<std::byte> out) const override {
    if (first > tensor.bytes || out.size() > tensor.bytes - first) {
      return internal_error("bytes outside the tensor '" + tensor.name + "'");
    }
    const Source& source = sources_.at(tensor.name);
    return base_->read_bytes(*source.tensor, source.first_byte + first, out);
  }

  std::span<const std::byte> mapped_bytes(const TensorEntry& tensor) const override {
    const Source& source = sources_.at(tensor.name);
    return base_->mapped_bytes(*source.tensor).subspan(static_cast<size_t>(source.first_byte));
  }

  const std::string& path() const override { return base_->path(); }
  Result<std::string> digest() const override { return base_->digest(); }

 private:
  std::shared_ptr<const Checkpoint> base_;
  std::map<std::string, Source> sources_;
};

constexpr std::string_view kNativePrefix = "model.";
constexpr std::string_view kTiedHead = "lm_head.weight";

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kTensorFlowNorms = {
    {{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}}};

bool is_position_table(std::string_view name) {
  return name.ends_with("coder.embed_positions.weight");
}

}  // namespace

Result<std::shared_ptr<const Checkpoint>> rename_tensors(std::shared_ptr<const Checkpoint> base,
                                                         std::span<const RenamedTensor> tensors) {
  std::vector<TensorEntry> entries;
  std::map<std::string, RenamedCheckpoint::Source> sources;
  for (const RenamedTensor& renamed : tensors) {
    const Result<const TensorEntry*> source = base->require(renamed.source);
    if (!source.ok()) return source.error();
    TensorEntry entry = **source;
    entry.name = renamed.name;
    uint64_t first_byte = 0;
    if (renamed.skipped_rows > 0) {
      if (entry.shape.empty() || entry.shape[0] < renamed.skipped_rows || entry.shape[0] == 0) {
        return data_error("tensor '" + renamed.source + "' has the shape " +
                              shape_text(entry.shape) + ", too small to leave out " +
                              std::to_string(renamed.skipped_rows) + " rows",
                          base->path());
      }
      const auto rows = static_cast<uint64_t>(entry.shape[0]);
      first_byte = entry.bytes / rows * static_cast<uint64_t>(renamed.skipped_rows);
      entry.elements -= entry.elements / entry.shape[0] * renamed.skipped_rows;
      entry.shape[0] -= renamed.skipped_rows;
      entry.bytes -= first_byte;
    }
    if (!sources.emplace(entry.name, RenamedCheckpoint::Source{*source, first_byte}).second) {
      return data_error("two tensors become '" + entry.name + "'", base->path());
    }
    entries.push_back(std::move(entry));
  }
  return std::shared_ptr<const Checkpoint>(
      std::make_shared<RenamedCheckpoint>(std::move(base), std::move(entries), std::move(sources)));
}

namespace {

/// Every tensor, under the name to which `change` turns its own; `change` says whether it did.
template <class Change>
Result<std::shared_ptr<const Checkpoint>> rename_where(std::shared_ptr<const Checkpoint> base,
                                                       Change&& change) {
  std::vector<RenamedTensor> renamed;
  bool any = false;
  for (const TensorEntry& tensor : base->tensors()) {
    std::string name = tensor.name;
    any = change(name) || any;
    renamed.push_back({std::move(name), tensor.name});
  }
  if (!any) return base;
  return rename_tensors(std::move(base), renamed);
}

}  // namespace

Result<std::shared_ptr<const Checkpoint>> replace_prefix(std::shared_ptr<const Checkpoint> base,
                                                         std::string_view from,
                                                         std::string_view to) {
  return rename_where(std::move(base), [&](std::string& name) {
    const bool has = name.starts_with(from);
    if (has) name.replace(0, from.size(), to);
    return has;
  });
}

Result<std::shared_ptr<const Checkpoint>> without_prefix(std::shared_ptr<const Checkpoint> base,
                                                         std::string_view prefix) {
  std::vector<RenamedTensor> renamed;
  for (const TensorEntry& tensor : base->tensors()) {
    if (!tensor.name.starts_with(prefix)) continue;
    renamed.push_back({tensor.name.substr(prefix.size()), tensor.name});
  }
  if (renamed.empty()) {
    return data_error("no tensor's name begins with '" + std::string(prefix) + "'", base->path());
  }
  return rename_tensors(std::move(base), renamed);
}

Result<std::shared_ptr<const Checkpoint>> rename_tensorflow_norms(
    std::shared_ptr<const Checkpoint> base) {
  return rename_where(std::move(base), [](std::string& name) {
    for (const auto& [old_name, new_name] : kTensorFlowNorms) {
      if (!name.ends_with(old_name)) continue;
      name.replace(name.size() - old_name.size(), old_name.size(), new_name);
      return true;
    }
    return false;
  });
}

bool is_native_led(const Checkpoint& checkpoint) {
  return std::ranges::any_of(checkpoint.tensors(), [](const TensorEntry& tensor) {
    return tensor.name.starts_with("model.encoder.layers.") &&
           tensor.name.find(".longformer_self_attn.") != std::string::npos;
  });
}

Result<std::shared_ptr<const Checkpoint>> rename_native_led(
    std::shared_ptr<const Checkpoint> base) {
  std::vector<RenamedTensor> renamed;
  for (const TensorEntry& tensor : base->tensors()) {
    if (tensor.name == kTiedHead) continue;
    const bool inside = tensor.name.starts_with(kNativePrefix);
    renamed.push_back({inside ? "led." + tensor.name.substr(kNativePrefix.size()) : tensor.name,
                       tensor.name, is_position_table(tensor.name) ? 2 : 0});
  }
  return rename_tensors(std::move(base), renamed);
}

}  // namespace qfs::checkpoints
