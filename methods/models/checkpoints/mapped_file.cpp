#include "methods/models/checkpoints/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "methods/models/checkpoints/mapping_guard.h"

namespace qfs::checkpoints {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  Result<FileReader> reader = FileReader::open(path);
  if (!reader.ok()) return reader.error();
  std::shared_ptr<MappedFile> file(new MappedFile(*std::move(reader)));
  const auto size = static_cast<size_t>(file->size_bytes());
  if (size == 0) return std::shared_ptr<const MappedFile>(std::move(file));
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file->reader_.descriptor(), 0);
  if (begin == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    return out_of_memory("cannot map '" + path + "' (" + std::to_string(size) +
                         " bytes): " + reason);
  }
  file->bytes_ = {static_cast<const std::byte*>(begin), size};
  file->guard_ = guard_mapping(begin, size, file->path().c_str());
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  release_mapping(guard_);
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace qfs::checkpoints
