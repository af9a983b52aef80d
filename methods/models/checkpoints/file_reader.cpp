#include "methods/models/checkpoints/file_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/system_error.h"

namespace qfs::checkpoints {

Result<FileReader> FileReader::open(const std::string& path) {
  Result<UniqueFd> descriptor = open_input(path, InputKind::regular);
  if (!descriptor) return descriptor.error();
  struct stat status {};
  if (::fstat(descriptor->get(), &status) != 0) return read_failure(errno, path);
  return FileReader(descriptor->release(), static_cast<uint64_t>(status.st_size), path);
}

FileReader::FileReader(FileReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_),
      path_(std::move(other.path_)) {}

FileReader& FileReader::operator=(FileReader&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(path_, other.path_);
  return *this;
}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status FileReader::read(uint64_t offset, uint64_t bytes, void* destination) const {
  // One system call moves at most 2^31 - 4096 bytes; a signal may end it early.
  constexpr uint64_t kBlockBytes = uint64_t{1} << 30;
  auto* out = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, out, static_cast<size_t>(std::min(bytes, kBlockBytes)),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const std::string reason = got < 0 ? std::strerror(errno) : "the file ends there";
      return data_error("cannot read byte " + std::to_string(offset) + " of '" + path_ +
                        "': " + reason);
    }
    out += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return {};
}

}  // namespace qfs::checkpoints
