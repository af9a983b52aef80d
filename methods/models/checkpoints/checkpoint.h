// Checkpoint: the named tensors of a model, whatever file format holds them.
//
// Made by open_safetensors, open_gguf_checkpoint and ModelDirectory; read by loaders of weights and
// by `qfs-bench model`, in hosts only. Everything in it was checked against the size of its files
// when it was opened. Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/tensor_types.h"

namespace qfs::checkpoints {

struct TensorEntry {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<int64_t> shape;  ///< outermost first; empty for a scalar, extents may be 0
  int64_t elements = 0;
  uint64_t bytes = 0;  ///< as stored; 0 too for a GGUF type that this program cannot read

  /// Extent of the innermost dimension (1 for a scalar); rows are what lies outside it.
  int64_t row_elements() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const { return elements == 0 ? 0 : elements / row_elements(); }
};

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;

  /// The tensors, sorted by name.
  std::span<const TensorEntry> tensors() const { return tensors_; }
  /// The tensor with this name, or nullptr. Entries live as long as the checkpoint.
  const TensorEntry* find(std::string_view name) const;
  /// The same; `data` when there is none, with the nearest name.
  Result<const TensorEntry*> require(std::string_view name) const;
  /// The same; `data` when its shape is another.
  Result<const TensorEntry*> require(std::string_view name, std::span<const int64_t> shape) const;

  /// Bytes [first, first + out.size()) of a tensor as stored, copied. A file that became shorter
  /// since it was opened is a `data` error.
  virtual Status read_bytes(const TensorEntry& tensor, uint64_t first,
                            std::span<std::byte> out) const = 0;
  /// All bytes of a tensor as stored, in the mapped file: no copy, pages are read when touched.
  /// A file that is truncated while it is mapped ends the process (mapped_file.h). Not aligned
  /// beyond what the file's writer did.
  virtual std::span<const std::byte> mapped_bytes(const TensorEntry& tensor) const = 0;

  /// Rows [first, first + count) as float32; out.size() must be count * row_elements().
  /// `unavailable` for types without that conversion.
  Status read_rows(const TensorEntry& tensor, int64_t first, int64_t count,
                   std::span<float> out) const;
  /// All rows.
  Status read(const TensorEntry& tensor, std::span<float> out) const;

  /// What the file says about itself, texts only; empty where its format has none.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// The file or folder, for messages.
  virtual const std::string& path() const = 0;
  /// SHA-256 of the file, or of the sorted lines "SHA-256 name" of several; remembered in the
  /// user's cache by size and times of the files.
  virtual Result<std::string> digest() const = 0;

 protected:
  /// Sorts them; the caller has refused equal names.
  void set_tensors(std::vector<TensorEntry> tensors);
  void set_metadata(std::map<std::string, std::string> metadata) {
    metadata_ = std::move(metadata);
  }

 private:
  std::vector<TensorEntry> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// "[2, 3]".
std::string shape_text(std::span<const int64_t> shape);

/// The SHA-256 of the sorted lines "SHA-256 name\n" over these files of a folder, each remembered
/// in the user's cache.
Result<std::string> files_digest(const std::string& folder, std::vector<std::string> names);

}  // namespace qfs::checkpoints
