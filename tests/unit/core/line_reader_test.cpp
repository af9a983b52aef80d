// LineReader: formats, line ends, and what is refused with its place.
#include "harness/core/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/support/compress.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::gzip;
using test::TemporaryFolder;
using test::zstd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Lines : public ::testing::Test {
 protected:
  /// All lines, the last entry an error where reading failed.
  std::vector<std::string> lines_of(const std::string& bytes, size_t max_line_bytes = 1 << 20) {
    return lines_at(folder_.write("input", bytes), max_line_bytes);
  }
  static std::vector<std::string> lines_at(const std::string& path, size_t max_line_bytes) {
    std::vector<std::string> lines;
    Result<LineReader> reader = LineReader::open(path, max_line_bytes);
    if (!reader) return {"error: " + reader.error().to_string()};
    while (true) {
      Result<std::optional<std::string>> line = reader->next();
      if (!line) {
        lines.push_back("error: " + line.error().to_string());
        return lines;
      }
      if (!line->has_value()) return lines;
      lines.push_back(**line);
    }
  }
  std::string error_of(const std::string& bytes) {
    const std::vector<std::string> lines = lines_of(bytes);
    return lines.empty() ? "no error" : lines.back();
  }

  TemporaryFolder folder_;
};

TEST_F(Lines, EndAtNewlinesWithOrWithoutCarriageReturn) {
  EXPECT_THAT(lines_of("a\nb\r\n\nc\rd\n"), ElementsAre("a", "b", "", "c\rd"));
}

TEST_F(Lines, IncludeALastOneWithoutNewline) {
  EXPECT_THAT(lines_of("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_of("a\n"), ElementsAre("a"));
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
  EXPECT_THAT(lines_of(""), IsEmpty());
}

TEST_F(Lines, DropOnlyAByteOrderMarkBeforeTheFirst) {
  EXPECT_THAT(lines_of("\xEF\xBB\xBF{}\n\xEF\xBB\xBFx\n"), ElementsAre("{}", "\xEF\xBB\xBFx"));
}

TEST_F(Lines, AreNumberedFromOne) {
  Result<LineReader> reader = LineReader::open(folder_.write("data.jsonl", "a\nb\n"));
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(reader->next().ok());
  EXPECT_EQ(reader->line_number(), 1);
  ASSERT_TRUE(reader->next().ok());
  EXPECT_EQ(reader->where(), (folder_ / "data.jsonl") + ":2");
  EXPECT_EQ(*reader->next(), std::nullopt);
  EXPECT_EQ(reader->line_number(), 2);
}

TEST_F(Lines, ComeFromGzipAndZstdByContentNotByName) {
  const std::string text = "first\nsecond\n";
  EXPECT_THAT(lines_of(gzip(text)), ElementsAre("first", "second"));
  EXPECT_THAT(lines_of(zstd(text)), ElementsAre("first", "second"));
}

TEST_F(Lines, ComeFromEveryMemberAndFrame) {
  EXPECT_THAT(lines_of(gzip("a\nb") + gzip("") + gzip("c\n")), ElementsAre("a", "bc"));
  EXPECT_THAT(lines_of(zstd("a\nb") + zstd("c\n")), ElementsAre("a", "bc"));
  const std::string skippable("\x50\x2A\x4D\x18\x03\0\0\0xyz", 11);
  EXPECT_THAT(lines_of(skippable + zstd("a\n")), ElementsAre("a"));
}

TEST_F(Lines, IgnoreZeroPaddingAfterGzip) {
  EXPECT_THAT(lines_of(gzip("a\n") + std::string(700, '\0')), ElementsAre("a"));
}

TEST_F(Lines, EndInAnErrorForEveryTruncationOfGzip) {
  const std::string whole = gzip("one\ntwo\nthree\n");
  for (size_t size = 2; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("truncated gzip stream")) << size;
  }
}

TEST_F(Lines, EndInAnErrorForEveryTruncationOfZstd) {
  const std::string whole = zstd("one\ntwo\nthree\n");
  for (size_t size = 4; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("truncated zstd stream")) << size;
  }
}

TEST_F(Lines, EndInAnErrorForCorruptStreams) {
  std::string wrong_check = gzip("some text\n");
  wrong_check[wrong_check.size() - 6] ^= 1;  // inside the CRC
  EXPECT_THAT(error_of(wrong_check), HasSubstr("input:1: corrupt gzip stream"));
  std::string wrong_frame = zstd("some text\n");
  wrong_frame[wrong_frame.size() - 2] ^= 1;  // inside the checksum
  EXPECT_THAT(error_of(wrong_frame), HasSubstr("corrupt zstd stream"));
  EXPECT_THAT(error_of(gzip("a\n") + "garbage"), HasSubstr("data after the end"));
  EXPECT_THAT(error_of(gzip("a\n") + std::string(9, '\0') + gzip("b\n")),
              HasSubstr("data after the end"));
}

TEST_F(Lines, NameThePlaceOfIllFormedUtf8) {
  EXPECT_THAT(lines_of("fine\nab\xFFz\n"),
              ElementsAre("fine", HasSubstr("input:2: ill-formed UTF-8 at byte 3")));
}

TEST_F(Lines, AreBounded) {
  EXPECT_THAT(lines_of("12345\n123456\n", 5),
              ElementsAre("12345", HasSubstr("input:2: line longer than 5 bytes")));
  const std::string bomb = gzip(std::string(50'000'000, 'a'));
  ASSERT_LT(bomb.size(), 100'000U);
  EXPECT_THAT(error_of(bomb), HasSubstr("input:1: line longer than 1048576 bytes"));
}

TEST_F(Lines, CanBeLongerThanTheBuffer) {
  const std::string lengthy(1'000'000, 'x');
  EXPECT_THAT(lines_of(lengthy + "\nb\n"), ElementsAre(lengthy, "b"));
}

TEST_F(Lines, NameAFileThatCannotBeRead) {
  const Result<LineReader> absent = LineReader::open(folder_ / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::not_found);
  EXPECT_THAT(LineReader::open(folder_.path()).error().message, HasSubstr("Is a directory"));
}

TEST_F(Lines, ComeFromStandardInputAlsoCompressed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string bytes = gzip("piped\n");
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  const int before = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  const std::vector<std::string> lines = lines_at("-", 100);
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(ends[0]);
  EXPECT_THAT(lines, ElementsAre("piped"));
}

TEST(ReadDecompressed, ReturnsTheWholeContentWithinItsLimit) {
  const TemporaryFolder folder;
  const std::string text(300'000, 'x');
  for (const std::string& stored : {text, gzip(text), zstd(text)}) {
    const std::string path = folder.write("data", stored);
    EXPECT_EQ(*read_decompressed(path), text);
    EXPECT_EQ(*read_decompressed(path, text.size()), text);
    const Result<std::string> limited = read_decompressed(path, text.size() - 1);
    ASSERT_FALSE(limited.ok());
    EXPECT_THAT(limited.error().to_string(), HasSubstr("larger than 299999 bytes"));
  }
}

TEST(ReadDecompressed, NamesACorruptFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data.gz", gzip("text").substr(0, 12));
  EXPECT_EQ(read_decompressed(path).error().to_string(), path + ": truncated gzip stream");
}

}  // namespace
}  // namespace qfs
