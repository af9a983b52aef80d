// LineReader: lines of a plain, gzip or zstd file with their numbers, in bounded memory.
//
// Used by data set readers and by `score`. The format is taken from the content (magic bytes), not
// the name. Lines end at \n; a final \r and a byte order mark before the first line are dropped;
// ill-formed UTF-8, an over-long line and a corrupt or truncated stream are `data` errors with
// file:line. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/api/result.h"

namespace qfs {

class LineReader {
 public:
  /// Opens `path`; "-" is standard input.
  static Result<LineReader> open(const std::string& path, size_t max_line_bytes = size_t{64} << 20);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  /// The next line without its end; std::nullopt at the end of the file.
  Result<std::optional<std::string>> next();
  /// The same into `line`, whose memory is used again; false at the end of the file.
  Result<bool> next(std::string& line);
  /// Number of the line that `next` returned last, from 1.
  int64_t line_number() const;
  /// "path:line" of that line.
  std::string where() const;

 private:
  struct State;
  explicit LineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A whole plain, gzip or zstd file, decompressed; bounded by `max_bytes` after decompression.
Result<std::string> read_decompressed(const std::string& path, size_t max_bytes = size_t{1} << 30);

}  // namespace qfs
