// What a GGUF file says is read as it says it, and a file that lies is a `data` error that names
// the lie. Layout: the GGUF specification of ggml.
#include "methods/models/checkpoints/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "harness/core/sha256.h"
#include "methods/models/checkpoints/gguf_digests.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::checkpoints {
namespace {

using ::qfs::test::gguf_string;
using ::qfs::test::GgufWriter;
using ::qfs::test::little_endian;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GgufTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<const GgufFile>> open(const std::string& bytes) {
    return GgufFile::open(folder_.write("model.gguf", bytes));
  }
  std::string error_of(const std::string& bytes) {
    const auto file = open(bytes);
    if (file.ok()) return "no error";
    EXPECT_EQ(file.error().kind, ErrorKind::data) << file.error().to_string();
    return file.error().to_string();
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(GgufTest, metadata_of_every_kind_reads_back) {
  GgufWriter writer;
  writer.text("name", "tiny");
  writer.uint32("count", 7);
  writer.float32("eps", 0x1p-17f);
  writer.boolean("flag", true);
  writer.texts("words", {"a", "", "bc"});
  writer.int32s("types", {1, -3});
  writer.raw("signed", 1, std::string(1, '\xFE'));
  writer.raw("wide", 11, little_endian<int64_t>(-5));
  writer.raw("double", 12, little_endian<double>(0.25));
  const auto file = open(writer.bytes());
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_EQ(*(*file)->text("name"), "tiny");
  EXPECT_EQ(*(*file)->integer("count"), 7);
  EXPECT_EQ(*(*file)->real("eps"), 0x1p-17);
  EXPECT_TRUE(*(*file)->boolean_or("flag", false));
  EXPECT_THAT(*(*file)->texts("words"), ElementsAre("a", "", "bc"));
  EXPECT_THAT(*(*file)->integers("types"), ElementsAre(1, -3));
  EXPECT_EQ(*(*file)->integer("signed"), -2);
  EXPECT_EQ(*(*file)->integer("wide"), -5);
  EXPECT_EQ(*(*file)->real("double"), 0.25);
  EXPECT_FALSE(*(*file)->boolean_or("absent", false));
  EXPECT_EQ(*(*file)->optional_integer("absent"), std::nullopt);
}

TEST_F(GgufTest, missing_and_mistyped_keys_are_named) {
  GgufWriter writer;
  writer.text("name", "tiny");
  const auto file = open(writer.bytes());
  ASSERT_TRUE(file.ok());
  EXPECT_THAT((*file)->integer("absent").error().message, HasSubstr("no metadata key 'absent'"));
  EXPECT_THAT((*file)->integer("name").error().message, HasSubstr("'name'"));
  EXPECT_THAT((*file)->integer("name").error().message, HasSubstr("not an integer"));
}

TEST_F(GgufTest, tensors_have_the_outermost_dimension_first_and_their_values) {
  GgufWriter writer;
  writer.tensor("a", {2, 3}, {1, 2, 3, 4, 5, 6});
  writer.tensor("b", {1}, {-0.5f});
  const auto file = open(writer.bytes());
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto a = (*file)->tensor("a");
  ASSERT_TRUE(a.ok());
  EXPECT_THAT((*a)->shape, ElementsAre(2, 3));
  std::vector<float> values(6);
  ASSERT_TRUE((*file)->read(**a, values).ok());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  std::vector<float> row(3);
  ASSERT_TRUE((*file)->read_rows(**a, 1, 1, row).ok());
  EXPECT_THAT(row, ElementsAre(4, 5, 6));
  EXPECT_EQ((*file)->read_rows(**a, 1, 2, values).error().kind, ErrorKind::internal);
  EXPECT_THAT((*file)->tensor("c").error().message, HasSubstr("no tensor 'c'"));
}

TEST_F(GgufTest, unreadable_tensor_types_are_refused_only_when_read) {
  GgufWriter writer;
  writer.packed_tensor("k", {256}, 13, std::string(176, '\0'));
  const auto file = open(writer.bytes());
  ASSERT_TRUE(file.ok());
  std::vector<float> values(256);
  const Status read = (*file)->read(**(*file)->tensor("k"), values);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(read.error().message, HasSubstr("Q5_K"));
}

TEST_F(GgufTest, every_truncation_of_a_valid_file_is_a_data_error) {
  GgufWriter writer;
  writer.text("name", "tiny");
  writer.texts("words", {"a", "bc"});
  writer.int32s("types", {1, 2});
  writer.tensor("a", {2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string whole = writer.bytes();
  ASSERT_TRUE(open(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto file = open(whole.substr(0, size));
    ASSERT_FALSE(file.ok()) << size;
    EXPECT_EQ(file.error().kind, ErrorKind::data) << size;
  }
}

TEST_F(GgufTest, a_file_that_shrinks_after_opening_is_a_data_error) {
  GgufWriter writer;
  writer.tensor("a", {64}, std::vector<float>(64, 1.0f));
  const std::string path = folder_.write("model.gguf", writer.bytes());
  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::truncate(path.c_str(), 64), 0);
  std::vector<float> values(64);
  const Status read = (*file)->read(**(*file)->tensor("a"), values);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::data);
  EXPECT_THAT(read.error().message, HasSubstr("the file ends there"));
}

TEST_F(GgufTest, foreign_and_unsupported_files_say_so) {
  EXPECT_THAT(error_of("PK\3\4 a zip archive of some size"), HasSubstr("not a GGUF file"));
  GgufWriter writer;
  writer.version = 1;
  EXPECT_THAT(error_of(writer.bytes()), HasSubstr("version 1"));
  writer.version = 0x03000000;  // version 3, big-endian
  EXPECT_THAT(error_of(writer.bytes()), HasSubstr("little-endian"));
  EXPECT_EQ(GgufFile::open(folder_.path() + "/absent.gguf").error().kind, ErrorKind::not_found);
  EXPECT_THAT(GgufFile::open(folder_.path()).error().message, HasSubstr("directory"));
}

TEST_F(GgufTest, counts_and_lengths_beyond_the_file_are_refused_before_use) {
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  GgufWriter tensors;
  tensors.claimed_tensors = kHuge;
  EXPECT_THAT(error_of(tensors.bytes()), HasSubstr("cannot fit"));
  GgufWriter entries;
  entries.claimed_entries = kHuge / 2;
  EXPECT_THAT(error_of(entries.bytes()), HasSubstr("cannot fit"));
  GgufWriter string;
  string.raw("s", 8, little_endian(kHuge));
  EXPECT_THAT(error_of(string.bytes()), HasSubstr("claims 18446744073709551615 bytes"));
  GgufWriter array;
  array.raw("numbers", 9, little_endian<uint32_t>(4) + little_endian(kHuge / 4 + 1));
  EXPECT_THAT(error_of(array.bytes()), HasSubstr("more than the file holds"));
  GgufWriter texts;
  texts.raw("texts", 9, little_endian<uint32_t>(8) + little_endian(kHuge));
  EXPECT_THAT(error_of(texts.bytes()), HasSubstr("more than the file holds"));
}

TEST_F(GgufTest, malformed_values_are_named_with_their_key) {
  GgufWriter type;
  type.raw("odd", 77, "");
  EXPECT_THAT(error_of(type.bytes()), HasSubstr("'odd' has the unknown type 77"));
  GgufWriter boolean;
  boolean.raw("flag", 7, "\2");
  EXPECT_THAT(error_of(boolean.bytes()), HasSubstr("'flag' is a boolean other than 0 and 1"));
  GgufWriter nested;
  nested.raw("deep", 9, little_endian<uint32_t>(9) + little_endian<uint64_t>(1));
  EXPECT_THAT(error_of(nested.bytes()), HasSubstr("'deep' has elements of the unsupported type 9"));
  GgufWriter wide;
  wide.raw("wide", 10, little_endian(std::numeric_limits<uint64_t>::max()));
  EXPECT_THAT(error_of(wide.bytes()), HasSubstr("'wide' exceeds 2^63 - 1"));
  GgufWriter twice;
  twice.uint32("key", 1);
  twice.uint32("key", 2);
  EXPECT_THAT(error_of(twice.bytes()), HasSubstr("'key' occurs twice"));
}

TEST_F(GgufTest, impossible_tensors_are_named) {
  const std::string four(16, '\0');
  GgufWriter twice;
  twice.tensor("t", {1}, {1});
  twice.tensor("t", {1}, {1});
  EXPECT_THAT(error_of(twice.bytes()), HasSubstr("tensor 't' occurs twice"));
  GgufWriter overflow;
  overflow.packed_tensor("t", {int64_t{1} << 32, int64_t{1} << 32}, 0, four);
  EXPECT_THAT(error_of(overflow.bytes()), HasSubstr("'t' has the impossible dimension"));
  GgufWriter large;
  large.packed_tensor("t", {int64_t{1} << 62}, 0, four);
  EXPECT_THAT(error_of(large.bytes()), HasSubstr("'t' is larger than any file"));
  GgufWriter empty;
  empty.packed_tensor("t", {0, 4}, 0, four);
  EXPECT_THAT(error_of(empty.bytes()), HasSubstr("impossible dimension 0"));
  GgufWriter deep;
  deep.packed_tensor("t", {1, 1, 1, 1, 4}, 0, four);
  EXPECT_THAT(error_of(deep.bytes()), HasSubstr("'t' has 5 dimensions"));
  GgufWriter unaligned;
  unaligned.packed_tensor("t", {4}, 0, four, 8);
  EXPECT_THAT(error_of(unaligned.bytes()), HasSubstr("not a multiple of the alignment 32"));
  GgufWriter outside;
  outside.packed_tensor("t", {4}, 0, four, 32);
  EXPECT_THAT(error_of(outside.bytes()), HasSubstr("'t' (16 bytes at data offset 32)"));
  GgufWriter far;
  far.packed_tensor("t", {4}, 0, four, std::numeric_limits<uint64_t>::max() - 31);
  EXPECT_THAT(error_of(far.bytes()), HasSubstr("lies outside the file"));
  GgufWriter rows;
  rows.packed_tensor("t", {2, 48}, 8, std::string(102, '\0'));
  EXPECT_THAT(error_of(rows.bytes()), HasSubstr("not a multiple of the block of Q8_0"));
  GgufWriter alignment;
  alignment.uint32("general.alignment", 24);
  EXPECT_THAT(error_of(alignment.bytes()), HasSubstr("general.alignment is not a power of two"));
}

TEST_F(GgufTest, the_tokenizer_digest_covers_tokenizer_entries_but_not_the_template) {
  const auto digest = [&](const std::string& pre, const std::string& chat,
                          const std::string& name) {
    GgufWriter writer;
    writer.text("general.name", name);
    writer.text("tokenizer.ggml.pre", pre);
    writer.text("tokenizer.chat_template", chat);
    const auto file = open(writer.bytes());
    EXPECT_TRUE(file.ok());
    return tokenizer_digest(**file);
  };
  const std::string base = digest("smollm", "{{x}}", "a");
  EXPECT_EQ(base, digest("smollm", "{{y}}", "b"));
  EXPECT_NE(base, digest("gpt-2", "{{x}}", "a"));
  const std::string entry = little_endian<uint64_t>(18) + "tokenizer.ggml.pre" +
                            little_endian<uint32_t>(8) + little_endian<uint64_t>(14) +
                            gguf_string("smollm");
  EXPECT_EQ(base, sha256_hex(entry));
}

}  // namespace
}  // namespace qfs::checkpoints
