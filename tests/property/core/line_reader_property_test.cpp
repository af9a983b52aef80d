// LineReader: compression does not change what is read.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "harness/core/line_reader.h"
#include "harness/core/utf8.h"
#include "tests/support/compress.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::gzip;
using test::TemporaryFolder;
using test::zstd;

/// Well-formed text with many line ends, sometimes larger than the reader's blocks.
std::string drawn_text() {
  std::string unit =
      repair_utf8(*rc::gen::container<std::string>(rc::gen::oneOf(
                      rc::gen::arbitrary<char>(), rc::gen::element('\n', '\r', 'a'))))
          .text;
  const int doublings = *rc::gen::inRange(0, 13);
  for (int i = 0; i < doublings; ++i) unit += unit;
  return unit;
}

std::vector<std::string> lines_of(const std::string& path) {
  Result<LineReader> reader = LineReader::open(path);
  RC_ASSERT(reader.ok());
  std::vector<std::string> lines;
  while (true) {
    Result<std::optional<std::string>> line = reader->next();
    RC_ASSERT(line.ok());
    if (!line->has_value()) return lines;
    lines.push_back(**line);
  }
}

RC_GTEST_PROP(LineReader, ReadsEqualLinesFromEveryFormat, ()) {
  const TemporaryFolder folder;
  // A letter in front keeps the text from looking like a compressed one or a byte order mark.
  const std::string plain = "x" + drawn_text();
  const size_t split = *rc::gen::inRange<size_t>(0, plain.size() + 1);
  const std::string head = plain.substr(0, split);
  const std::string tail = plain.substr(split);
  const std::vector<std::string> expected = lines_of(folder.write("plain", plain));
  RC_ASSERT(lines_of(folder.write("one.gz", gzip(plain))) == expected);
  RC_ASSERT(lines_of(folder.write("two.gz", gzip(head) + gzip(tail))) == expected);
  RC_ASSERT(lines_of(folder.write("one.zst", zstd(plain))) == expected);
  RC_ASSERT(lines_of(folder.write("two.zst", zstd(head) + zstd(tail))) == expected);
}

RC_GTEST_PROP(LineReader, LosesOnlyLineEnds, ()) {
  const TemporaryFolder folder;
  const std::string plain = "x" + drawn_text() + "\n";
  std::string joined;
  for (const std::string& line : lines_of(folder.write("plain", plain))) joined += line + "\n";
  std::string expected = plain;
  for (size_t at = 0; (at = expected.find("\r\n", at)) != expected.npos;) expected.erase(at++, 1);
  RC_ASSERT(joined == expected);
}

RC_GTEST_PROP(ReadDecompressed, InvertsCompression, ()) {
  const TemporaryFolder folder;
  const std::string plain = "x" + drawn_text();
  RC_ASSERT(*read_decompressed(folder.write("a", gzip(plain))) == plain);
  RC_ASSERT(*read_decompressed(folder.write("b", zstd(plain))) == plain);
}

}  // namespace
}  // namespace qfs
