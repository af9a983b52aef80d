// What a checkpoint may hold beside the tensors of a model: copies that are copies.
#include "methods/models/architectures/reading/weight_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/checkpoints/safetensors.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::architectures {
namespace {

using ::testing::HasSubstr;

/// What is wrong with "head" as a copy of "words".
std::string refusal(const qfs::test::SafetensorsWriter& writer) {
  const qfs::test::TemporaryFolder folder;
  const auto file =
      checkpoints::open_safetensors(folder.write("model.safetensors", writer.bytes()));
  if (!file.ok()) return file.error().to_string();
  WeightReader reader(**file);
  reader.allow("words");
  reader.expect_copy("head", "words");
  EXPECT_TRUE(reader.check_all_used().ok());
  return reader.status().ok() ? "accepted" : reader.status().error().message;
}

TEST(WeightReader, a_copy_of_a_tensor_has_its_bytes) {
  qfs::test::SafetensorsWriter alone;
  alone.tensor("words", {2, 1}, {1, 2});
  EXPECT_EQ(refusal(alone), "accepted");
  qfs::test::SafetensorsWriter copied = alone;
  copied.tensor("head", {2, 1}, {1, 2});
  EXPECT_EQ(refusal(copied), "accepted");
  qfs::test::SafetensorsWriter other = alone;
  other.tensor("head", {2, 1}, {1, 3});
  EXPECT_THAT(refusal(other), HasSubstr("a head that differs from words"));
}

}  // namespace
}  // namespace qfs::architectures
