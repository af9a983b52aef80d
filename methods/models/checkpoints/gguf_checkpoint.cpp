#include "methods/models/checkpoints/gguf_checkpoint.h"

#include <utility>

#include "harness/core/sha256.h"
#include "methods/models/checkpoints/mapped_file.h"

namespace qfs::checkpoints {

namespace {

class GgufCheckpoint final : public Checkpoint {
 public:
  GgufCheckpoint(std::shared_ptr<const GgufFile> file, std::shared_ptr<const MappedFile> mapping)
      : file_(std::move(file)), mapping_(std::move(mapping)) {
    std::vector<TensorEntry> entries;
    for (const GgufTensor& tensor : file_->tensors()) {
      entries.push_back({tensor.name, tensor.type, tensor.shape, tensor.elements, tensor.bytes});
    }
    set_tensors(std::move(entries));
  }

  Status read_bytes(const TensorEntry& tensor, uint64_t first,
                    std::span<std::byte> out) const override {
    if (first > tensor.bytes || out.size() > tensor.bytes - first) {
      return internal_error("bytes outside the tensor '" + tensor.name + "'");
    }
    return mapping_->read(offset(tensor) + first, out);
  }

  std::span<const std::byte> mapped_bytes(const TensorEntry& tensor) const override {
    return mapping_->bytes().subspan(static_cast<size_t>(offset(tensor)),
                                     static_cast<size_t>(tensor.bytes));
  }

  const std::string& path() const override { return file_->path(); }
  Result<std::string> digest() const override { return sha256_file_cached(path()); }

 private:
  uint64_t offset(const TensorEntry& tensor) const { return (*file_->tensor(tensor.name))->offset; }

  std::shared_ptr<const GgufFile> file_;
  std::shared_ptr<const MappedFile> mapping_;
};

}  // namespace

Result<std::shared_ptr<const Checkpoint>> open_gguf_checkpoint(
    std::shared_ptr<const GgufFile> file) {
  const auto mapping = MappedFile::open(file->path());
  if (!mapping.ok()) return mapping.error();
  for (const GgufTensor& tensor : file->tensors()) {
    if (tensor.offset + tensor.bytes > (*mapping)->size_bytes()) {
      return data_error("tensor '" + tensor.name + "' lies outside the file, which was replaced",
                        file->path());
    }
  }
  return std::shared_ptr<const Checkpoint>(
      std::make_shared<GgufCheckpoint>(std::move(file), *mapping));
}

}  // namespace qfs::checkpoints
