// What a safetensors file says is read as it says it; one that lies is a `data` error that names
// file and tensor. Shards and index must agree.
#include "methods/models/checkpoints/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/checkpoints/tensor_check.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::checkpoints {
namespace {

using ::qfs::test::SafetensorsWriter;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SafetensorsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Checkpoint> open(const std::string& bytes) {
    const auto checkpoint = open_safetensors(folder_.write("model.safetensors", bytes));
    if (checkpoint.ok()) return *checkpoint;
    ADD_FAILURE() << checkpoint.error().to_string();
    return nullptr;
  }
  std::string error_of(const std::string& bytes) {
    const auto checkpoint = open_safetensors(folder_.write("bad.safetensors", bytes));
    if (checkpoint.ok()) return "no error";
    EXPECT_EQ(checkpoint.error().kind, ErrorKind::data) << checkpoint.error().to_string();
    return checkpoint.error().to_string();
  }
  std::string header_error(const std::string& header, size_t data_bytes = 8) {
    SafetensorsWriter writer;
    writer.raw("x", "U8", {static_cast<int64_t>(data_bytes)}, std::string(data_bytes, '\0'));
    writer.header = header;
    return error_of(writer.bytes());
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(SafetensorsTest, tensors_are_sorted_and_have_their_values) {
  SafetensorsWriter writer;
  writer.tensor("b", {2, 3}, {1, 2, 3, 4, 5, 6});
  writer.raw("a", "BF16", {2}, std::string("\x80\x3F\x00\xC0", 4));  // 1, -2
  writer.raw("s", "I64", {}, std::string(8, '\1'));
  writer.raw("none", "F16", {0, 4}, "");
  const auto checkpoint = open(writer.bytes());
  ASSERT_NE(checkpoint, nullptr);
  ASSERT_THAT(checkpoint->tensors(), SizeIs(4));
  EXPECT_EQ(checkpoint->tensors()[0].name, "a");
  std::vector<float> values(2);
  ASSERT_TRUE(checkpoint->read(*checkpoint->find("a"), values).ok());
  EXPECT_THAT(values, ElementsAre(1, -2));
  std::vector<float> row(3);
  ASSERT_TRUE(checkpoint->read_rows(*checkpoint->find("b"), 1, 1, row).ok());
  EXPECT_THAT(row, ElementsAre(4, 5, 6));
  EXPECT_THAT(checkpoint->mapped_bytes(*checkpoint->find("b")), SizeIs(24));
  EXPECT_EQ(checkpoint->find("none")->rows(), 0);
  EXPECT_EQ(checkpoint->read(*checkpoint->find("s"), row).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(checkpoint->read_rows(*checkpoint->find("b"), 1, 2, row).error().kind,
            ErrorKind::internal);
  EXPECT_EQ(*checkpoint->digest(), sha256_hex(writer.bytes()));
}

TEST_F(SafetensorsTest, a_missing_or_misshaped_tensor_is_named_with_its_neighbour) {
  SafetensorsWriter writer;
  writer.tensor("model.norm.weight", {2}, {1, 2});
  const auto checkpoint = open(writer.bytes());
  ASSERT_NE(checkpoint, nullptr);
  EXPECT_THAT(checkpoint->require("model.norm.weigth").error().message,
              AllOf(HasSubstr("no tensor 'model.norm.weigth'"), HasSubstr("model.norm.weight'?")));
  const std::vector<int64_t> shape = {3};
  EXPECT_THAT(checkpoint->require("model.norm.weight", shape).error().message,
              HasSubstr("has the shape [2], expected [3]"));
  const std::vector<ExpectedTensor> expected = {
      {"model.norm.weight", {3}}, {"absent", {1}}, {"optional", {1}, false}};
  const TensorDifferences differences = compare_tensors(*checkpoint, expected);
  EXPECT_THAT(differences.missing, ElementsAre("absent"));
  EXPECT_THAT(differences.misshaped, ElementsAre("model.norm.weight [2], expected [3]"));
  EXPECT_THAT(to_status(differences, "m").error().message,
              HasSubstr("1 missing: absent; 1 of another shape: model.norm.weight"));
  const std::vector<std::string> ignored = {"model.*"};
  EXPECT_THAT(compare_tensors(*checkpoint, {}).unknown, ElementsAre("model.norm.weight"));
  EXPECT_TRUE(compare_tensors(*checkpoint, {}, ignored).empty());
}

TEST_F(SafetensorsTest, every_truncation_of_a_valid_file_is_a_data_error) {
  SafetensorsWriter writer;
  writer.tensor("a", {2}, {1, 2});
  const std::string whole = writer.bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
  }
  EXPECT_THAT(error_of(whole + "x"), HasSubstr("1 bytes at the end belong to no tensor"));
}

TEST_F(SafetensorsTest, lies_in_the_header_name_file_and_tensor) {
  EXPECT_THAT(header_error(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})"),
              AllOf(HasSubstr("bad.safetensors: tensor 'a' (9 bytes"), HasSubstr("truncated")));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
                           R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"),
              HasSubstr("tensor 'b' overlaps tensor 'a'"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}})"),
              HasSubstr("6 bytes before tensor 'a' belong to no tensor"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],)"
                           R"("data_offsets":[0,8]}})"),
              HasSubstr("tensor 'a' has the impossible shape"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"),
              HasSubstr("needs 12"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"),
              HasSubstr("impossible data_offsets"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"Q9","shape":[2],"data_offsets":[0,8]}})"),
              HasSubstr("dtype 'Q9'"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"),
              HasSubstr("negative"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})"), HasSubstr("'a'"));
  const std::string twice = R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
  EXPECT_THAT(header_error("{" + twice + "," + twice + "}"), HasSubstr("twice"));
  EXPECT_THAT(header_error(std::string(100000, '[')), HasSubstr("no JSON object"));
  EXPECT_THAT(header_error("{\"a\":" + std::string(100000, '[')), HasSubstr("a list where none"));
  EXPECT_THAT(header_error("{\"a\":" + std::string(100000, '{')), HasSubstr("not valid JSON"));
}

TEST_F(SafetensorsTest, shards_make_one_checkpoint_and_must_agree_with_the_index) {
  SafetensorsWriter first;
  first.tensor("a", {1}, {1});
  SafetensorsWriter second;
  second.tensor("b", {1}, {2});
  folder_.write("m-1.safetensors", first.bytes());
  folder_.write("m-2.safetensors", second.bytes());
  const auto open_index = [&](const std::string& map) {
    return open_safetensors(folder_.write("i.json", R"({"weight_map":{)" + map + "}}"));
  };
  const auto checkpoint = open_index(R"("a":"m-1.safetensors","b":"m-2.safetensors")");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().to_string();
  std::vector<float> value(1);
  ASSERT_TRUE((*checkpoint)->read(*(*checkpoint)->find("b"), value).ok());
  EXPECT_EQ(value[0], 2);
  EXPECT_THAT(*(*checkpoint)->digest(), SizeIs(64));
  EXPECT_THAT(open_index(R"("a":"m-2.safetensors","b":"m-2.safetensors")").error().to_string(),
              HasSubstr("tensor 'a' of the index is not in 'm-2.safetensors'"));
  EXPECT_THAT(open_index(R"("a":"m-1.safetensors","b":"m-1.safetensors")").error().to_string(),
              HasSubstr("tensor 'b'"));
  EXPECT_THAT(open_index(R"("b":"m-2.safetensors","a":"m-2.safetensors")").error().to_string(),
              HasSubstr("'a'"));
  for (const char* name : {"../m.safetensors", "/etc/passwd", "m.bin", "a/b.safetensors", ""}) {
    EXPECT_THAT(open_index(std::string("\"a\":\"") + name + "\"").error().message,
                HasSubstr("no plain name"))
        << name;
  }
  EXPECT_EQ(open_index(R"("a":"gone.safetensors")").error().kind, ErrorKind::data);
}

TEST_F(SafetensorsTest, a_file_that_shrinks_is_an_error_when_copied_and_named_when_mapped) {
  SafetensorsWriter writer;
  writer.raw("a", "U8", {100000}, std::string(100000, 'x'));
  const auto checkpoint = open(writer.bytes());
  ASSERT_NE(checkpoint, nullptr);
  const TensorEntry& tensor = *checkpoint->find("a");
  const auto last = [&] { return static_cast<int>(checkpoint->mapped_bytes(tensor).back()); };
  EXPECT_EQ(last(), 'x');
  std::filesystem::resize_file(checkpoint->path(), 100);
  std::vector<std::byte> copy(100000);
  EXPECT_EQ(checkpoint->read_bytes(tensor, 0, copy).error().kind, ErrorKind::data);
  EXPECT_EXIT(std::exit(last()), ::testing::ExitedWithCode(5), "model.safetensors' became shorter");
}

TEST_F(SafetensorsTest, a_file_has_the_bytes_of_what_is_made_in_memory) {
  const std::string two(8, 'b');
  const std::vector<StoredTensor> tensors = {{"b", TensorType::f32, {2}, two},
                                             {"a", TensorType::f32, {0}, ""}};
  const std::map<std::string, std::string> metadata = {{"format", "pt"}};
  ASSERT_TRUE(write_safetensors(folder_ / "x.safetensors", tensors, metadata).ok());
  EXPECT_EQ(*read_file(folder_ / "x.safetensors"), safetensors_bytes(tensors, metadata));
  const auto file = open_safetensors(folder_ / "x.safetensors");
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_EQ((*file)->tensors().size(), 2U);
}

TEST_F(SafetensorsTest, the_files_of_a_folder_are_read_as_one) {
  const auto put = [&](const std::string& name, const std::vector<float>& shared,
                       const std::map<std::string, std::string>& metadata) {
    const auto tensor = [](const std::string& its, const std::vector<float>& values) {
      return StoredTensor{its,
                          TensorType::f32,
                          {static_cast<int64_t>(values.size())},
                          {reinterpret_cast<const char*>(values.data()), values.size() * 4}};
    };
    const std::vector<float> own = {1, 2};
    folder_.write("parts/" + name + ".safetensors",
                  safetensors_bytes({tensor(name, own), tensor("shared", shared)}, metadata));
  };
  const std::string path = folder_ / "parts";
  const auto refusal = [&] {
    const auto model = open_safetensors(path);
    return model.ok() ? std::string("no error") : model.error().to_string();
  };
  std::filesystem::create_directory(path);
  EXPECT_THAT(refusal(), HasSubstr("no .safetensors file in"));
  put("b", {3, 4}, {{"format", "pt"}, {"of", "b"}});
  put("a", {3, 4}, {{"format", "pt"}});
  folder_.write("parts/checkpoint.safetensors", "what a training goes on from");
  folder_.write("parts/README.md", "");
  const auto model = open_safetensors(path);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  std::vector<std::string> names;
  for (const TensorEntry& entry : (*model)->tensors()) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "shared"));
  std::vector<float> values(2);
  ASSERT_TRUE((*model)->read(*(*model)->find("shared"), values).ok());
  EXPECT_THAT(values, ElementsAre(3, 4));
  EXPECT_EQ((*model)->metadata().at("of"), "b");
  EXPECT_EQ(*(*model)->digest(), *files_digest(path, {"a.safetensors", "b.safetensors"}));

  put("b", {3, 5}, {{"format", "pt"}});
  EXPECT_THAT(refusal(), AllOf(HasSubstr("b.safetensors"), HasSubstr("the tensor 'shared' is"),
                               HasSubstr("a.safetensors")));
  put("b", {3, 4, 4}, {{"format", "pt"}});
  EXPECT_THAT(refusal(), HasSubstr("the tensor 'shared' is"));
  put("b", {3, 4}, {{"format", "np"}});
  EXPECT_THAT(refusal(), HasSubstr("its metadata 'format'"));
  folder_.write("parts/b.safetensors", "short");
  EXPECT_THAT(refusal(), HasSubstr("b.safetensors"));
}

}  // namespace
}  // namespace qfs::checkpoints
