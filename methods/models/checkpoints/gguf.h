// GgufFile: the validated header (metadata and tensor table) of a GGUF checkpoint, and its tensors
// as float32.
//
// Called by tokenizers (vocabulary) and backbones (weights), in hosts only. Everything read from
// the file is bounded: header size, counts, lengths, products, alignment, offsets, duplicate names;
// a file that breaks a rule is a `data` error naming the item and its offset. Immutable;
// thread-safe. Format: the GGUF specification of ggml, versions 2 and 3, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/file_reader.h"
#include "methods/models/checkpoints/tensor_types.h"

namespace qfs::checkpoints {

/// Value types of GGUF metadata, with the numbers of the format.
enum class GgufType : uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12,
};

/// Numbers of an array, widened; which member is filled follows from the element type.
struct GgufNumbers {
  std::vector<int64_t> integers;  ///< integer and boolean elements; uint64 above 2^63-1 is refused
  std::vector<double> reals;      ///< float32 and float64 elements
};

/// A metadata value. Strings are views into the header, valid as long as the GgufFile.
using GgufValue = std::variant<bool, int64_t, double, std::string_view,
                               std::vector<std::string_view>, GgufNumbers>;

struct GgufEntry {
  GgufType type = GgufType::uint8;  ///< as stored; of arrays: array
  GgufValue value;
  std::string_view bytes;  ///< the value's bytes as stored, for digests
};

struct GgufTensor {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<int64_t> shape;  ///< outermost first (the file stores the innermost first)
  int64_t elements = 0;
  uint64_t offset = 0;  ///< absolute, in the file
  uint64_t bytes = 0;   ///< 0 for a type this program cannot read
};

class GgufFile {
 public:
  /// Reads and checks the header; tensor data stays in the file.
  static Result<std::shared_ptr<const GgufFile>> open(const std::string& path);

  /// The entry with this key, or nullptr.
  const GgufEntry* find(std::string_view key) const;
  const std::map<std::string_view, GgufEntry>& entries() const { return entries_; }

  // A missing key is `data`; a value of another type or out of range too. The message names the
  // key.
  Result<int64_t> integer(std::string_view key) const;
  Result<double> real(std::string_view key) const;
  Result<std::string_view> text(std::string_view key) const;
  Result<std::span<const std::string_view>> texts(std::string_view key) const;
  Result<std::span<const int64_t>> integers(std::string_view key) const;

  // As above; an absent key gives `fallback`.
  Result<bool> boolean_or(std::string_view key, bool fallback) const;
  Result<std::optional<int64_t>> optional_integer(std::string_view key) const;

  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  /// The tensor with this name; `data` when the file has none.
  Result<const GgufTensor*> tensor(std::string_view name) const;

  /// Rows [first, first + count) of a tensor as float32, row-major (a row is the innermost
  /// dimension). out.size() must be count * row length. `unavailable` for a type that this program
  /// does not dequantise. Source of the block formats: ggml-quants.c of ggml.
  Status read_rows(const GgufTensor& tensor, int64_t first, int64_t count,
                   std::span<float> out) const;
  /// The same rows as they are stored; out.size() must be count times the bytes of a row.
  Status read_packed_rows(const GgufTensor& tensor, int64_t first, int64_t count,
                          std::span<std::byte> out) const;
  /// All rows.
  Status read(const GgufTensor& tensor, std::span<float> out) const;

  const std::string& path() const { return file_.path(); }

 private:
  friend class GgufParser;
  explicit GgufFile(FileReader file) : file_(std::move(file)) {}
  Result<int64_t> row_bytes(const GgufTensor& tensor) const;
  Status check_rows(const GgufTensor& tensor, int64_t first, int64_t count) const;
  Result<const GgufEntry*> require(std::string_view key) const;
  Error mismatch(std::string_view key, std::string_view expected) const;

  FileReader file_;
  std::unique_ptr<char[]> header_;
  std::map<std::string_view, GgufEntry> entries_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, size_t> tensor_index_;
};

}  // namespace qfs::checkpoints
