#include "harness/core/byte_source.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/system_error.h"

namespace qfs {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 17;

/// The bytes as stored, in blocks, so that their beginning can be looked at on a pipe too.
class StoredBytes {
 public:
  StoredBytes(std::string path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)), block_(kBlockBytes) {}

  /// What is read and not yet taken; empty only at the end of the file. `at_least` bytes where the
  /// file has them.
  Result<std::string_view> peek(size_t at_least = 1) {
    while (end_ - begin_ < at_least && !at_end_) {
      std::copy(block_.begin() + offset(begin_), block_.begin() + offset(end_), block_.begin());
      end_ -= begin_;
      begin_ = 0;
      const int fd = fd_.valid() ? fd_.get() : STDIN_FILENO;
      const ssize_t got = ::read(fd, block_.data() + end_, block_.size() - end_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return read_failure(errno, path_);
      at_end_ = got == 0;
      end_ += static_cast<size_t>(got);
    }
    return std::string_view(block_.data() + begin_, end_ - begin_);
  }

  void take(size_t bytes) { begin_ += bytes; }

 private:
  static std::ptrdiff_t offset(size_t at) { return static_cast<std::ptrdiff_t>(at); }

  std::string path_;
  UniqueFd fd_;  ///< not valid: standard input, which is not ours to close
  std::vector<char> block_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
};

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(StoredBytes stored) : stored_(std::move(stored)) {}

  Result<size_t> read(std::span<char> buffer) override {
    const Result<std::string_view> bytes = stored_.peek();
    if (!bytes) return bytes.error();
    const size_t taken = bytes->copy(buffer.data(), buffer.size());
    stored_.take(taken);
    return taken;
  }

 private:
  StoredBytes stored_;
};

/// RFC 1952: one or more members, each checked by CRC and length; zero padding after the last.
class GzipSource : public ByteSource {
 public:
  explicit GzipSource(StoredBytes stored) : stored_(std::move(stored)) {}
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  Status start() {
    constexpr int kGzipFormat = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipFormat) != Z_OK) {
      return out_of_memory("cannot set up gzip decompression");
    }
    return {};
  }

  Result<size_t> read(std::span<char> buffer) override {
    buffer = buffer.first(std::min(buffer.size(), kBlockBytes));
    while (true) {
      const Result<std::string_view> bytes = stored_.peek();
      if (!bytes) return bytes.error();
      if (!inside_member_) {
        if (Status status = next_member(*bytes); !status) return status.error();
        if (!inside_member_) return size_t{0};
        continue;
      }
      if (bytes->empty()) return data_error("truncated gzip stream");
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes->data()));
      stream_.avail_in = static_cast<uInt>(bytes->size());
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      stored_.take(bytes->size() - stream_.avail_in);
      if (code == Z_STREAM_END) inside_member_ = false;
      if (code == Z_MEM_ERROR) return out_of_memory("gzip decompression");
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return corrupt();
      if (const size_t made = buffer.size() - stream_.avail_out; made > 0) return made;
    }
  }

 private:
  Error corrupt() const {
    return data_error("corrupt gzip stream" +
                      (stream_.msg == nullptr ? std::string() : std::string(": ") + stream_.msg));
  }

  /// Enters the member at the front of `bytes`; stays outside at the end of the file.
  Status next_member(std::string_view bytes) {
    while (!bytes.empty() && bytes.front() == '\0') {
      const size_t padding = std::min(bytes.find_first_not_of('\0'), bytes.size());
      stored_.take(padding);
      padded_ = true;
      const Result<std::string_view> more = stored_.peek();
      if (!more) return more.error();
      bytes = *more;
    }
    if (bytes.empty()) return {};
    if (padded_ || bytes.front() != '\x1F') {
      return data_error("corrupt gzip stream: data after the end of the last member");
    }
    if (inflateReset(&stream_) != Z_OK) return internal_error("cannot reset gzip decompression");
    inside_member_ = true;
    return {};
  }

  StoredBytes stored_;
  z_stream stream_{};
  bool inside_member_ = false;
  bool padded_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(StoredBytes stored)
      : stored_(std::move(stored)), stream_(ZSTD_createDStream()) {}
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Status start() {
    if (stream_ == nullptr) return out_of_memory("cannot set up zstd decompression");
    return {};
  }

  Result<size_t> read(std::span<char> buffer) override {
    while (true) {
      const Result<std::string_view> bytes = stored_.peek();
      if (!bytes) return bytes.error();
      if (bytes->empty() && !inside_frame_) return size_t{0};
      ZSTD_inBuffer in{bytes->data(), bytes->size(), 0};
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const size_t code = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(code) != 0) {
        return data_error(std::string("corrupt zstd stream: ") + ZSTD_getErrorName(code));
      }
      stored_.take(in.pos);
      inside_frame_ = code != 0;
      if (out.pos > 0) return out.pos;
      if (bytes->empty() && inside_frame_) return data_error("truncated zstd stream");
    }
  }

 private:
  StoredBytes stored_;
  ZSTD_DStream* stream_;
  bool inside_frame_ = false;
};

bool is_zstd(std::string_view bytes) {
  // A frame, or a skippable frame (RFC 8878, 3.1.1 and 3.1.2) as parallel compressors write first.
  return bytes.starts_with("\x28\xB5\x2F\xFD") ||
         (bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xF0U) == 0x50U &&
          bytes.substr(1, 3) == "\x2A\x4D\x18");
}

template <class Source>
Result<std::unique_ptr<ByteSource>> started(StoredBytes stored) {
  auto source = std::make_unique<Source>(std::move(stored));
  if (Status status = source->start(); !status) return status.error();
  return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path) {
  UniqueFd fd;
  if (path == "-") {
    wait_for_input(STDIN_FILENO, "standard input");
  } else {
    Result<UniqueFd> opened = open_input(path);
    if (!opened) return opened.error();
    fd = *std::move(opened);
  }
  StoredBytes stored(path == "-" ? "standard input" : path, std::move(fd));
  constexpr size_t kMagicBytes = 4;
  const Result<std::string_view> front = stored.peek(kMagicBytes);
  if (!front) return front.error();
  if (front->starts_with("\x1F\x8B")) return started<GzipSource>(std::move(stored));
  if (is_zstd(*front)) return started<ZstdSource>(std::move(stored));
  return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(stored)));
}

}  // namespace qfs
