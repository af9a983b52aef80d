#include "methods/models/checkpoints/gguf_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "methods/models/checkpoints/gguf.h"

static_assert(std::endian::native == std::endian::little, "GGUF values are read in place");

namespace qfs::checkpoints {

namespace {

constexpr uint64_t kMaxHeaderBytes = uint64_t{100} << 20;
constexpr uint64_t kReadAheadBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxKeyBytes = 65535;  // the format's own limit
constexpr uint64_t kMaxNameBytes = 4096;  // the format says 64; files in use exceed it
constexpr uint32_t kMaxDimensions = 4;
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint64_t kMaxTensors = 65536;
constexpr uint32_t kMaxTypes = 256;  // ggml has about 40

/// Bytes of a fixed-size value; 0 for strings, arrays and unknown types.
uint64_t fixed_bytes(GgufType type) {
  switch (type) {
    case GgufType::uint8:
    case GgufType::int8:
    case GgufType::boolean:
      return 1;
    case GgufType::uint16:
    case GgufType::int16:
      return 2;
    case GgufType::uint32:
    case GgufType::int32:
    case GgufType::float32:
      return 4;
    case GgufType::uint64:
    case GgufType::int64:
    case GgufType::float64:
      return 8;
    case GgufType::string:
    case GgufType::array:
      return 0;
  }
  return 0;
}

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// An integer element widened to int64; std::nullopt when it does not fit.
std::optional<int64_t> load_integer(GgufType type, const char* bytes) {
  switch (type) {
    case GgufType::uint8:
    case GgufType::boolean:
      return load<uint8_t>(bytes);
    case GgufType::int8:
      return load<int8_t>(bytes);
    case GgufType::uint16:
      return load<uint16_t>(bytes);
    case GgufType::int16:
      return load<int16_t>(bytes);
    case GgufType::uint32:
      return load<uint32_t>(bytes);
    case GgufType::int32:
      return load<int32_t>(bytes);
    case GgufType::int64:
      return load<int64_t>(bytes);
    case GgufType::uint64: {
      const auto value = load<uint64_t>(bytes);
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

bool is_real(GgufType type) { return type == GgufType::float32 || type == GgufType::float64; }

double load_real(GgufType type, const char* bytes) {
  return type == GgufType::float32 ? static_cast<double>(load<float>(bytes)) : load<double>(bytes);
}

std::string quoted(std::string_view text) { return std::string("'").append(text).append("'"); }

}  // namespace

GgufParser::GgufParser(GgufFile& file)
    : file_(file), limit_bytes_(std::min(file.file_.size_bytes(), kMaxHeaderBytes)) {
  // Left uninitialised: pages are committed as the header is read into them.
  file_.header_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(limit_bytes_));
}

Error GgufParser::fault(std::string message) const {
  return data_error(std::move(message) + " (byte " + std::to_string(position_) + ")", file_.path());
}

Result<const char*> GgufParser::take(uint64_t bytes, std::string_view item) {
  if (bytes > limit_bytes_ - position_) {
    return fault(std::string(item) + " needs " + std::to_string(bytes) + " bytes but only " +
                 std::to_string(limit_bytes_ - position_) +
                 (limit_bytes_ == kMaxHeaderBytes ? " are left of the 100 MiB a header may have"
                                                  : " are left in the file"));
  }
  if (position_ + bytes > available_) {
    const uint64_t target = std::min(limit_bytes_, position_ + bytes + kReadAheadBytes);
    if (Status read =
            file_.file_.read(available_, target - available_, file_.header_.get() + available_);
        !read.ok()) {
      return read.error();
    }
    available_ = target;
  }
  const char* start = file_.header_.get() + position_;
  position_ += bytes;
  return start;
}

template <class T>
Result<T> GgufParser::number(std::string_view item) {
  const Result<const char*> bytes = take(sizeof(T), item);
  if (!bytes.ok()) return bytes.error();
  return load<T>(*bytes);
}

Result<std::string_view> GgufParser::string(uint64_t limit_bytes, std::string_view item) {
  const Result<uint64_t> length = number<uint64_t>(item);
  if (!length.ok()) return length.error();
  if (*length > limit_bytes) {
    return fault(std::string(item) + " claims " + std::to_string(*length) + " bytes; at most " +
                 std::to_string(limit_bytes) + " are allowed");
  }
  const Result<const char*> bytes = take(*length, item);
  if (!bytes.ok()) return bytes.error();
  return std::string_view(*bytes, static_cast<size_t>(*length));
}

Status GgufParser::parse() {
  if (Status status = parse_counts(); !status.ok()) return status;
  for (uint64_t i = 0; i < entry_count_; ++i) {
    if (Status status = parse_entry(); !status.ok()) return status;
  }
  if (const GgufEntry* entry = file_.find("general.alignment")) {
    const auto* value = std::get_if<int64_t>(&entry->value);
    if (value == nullptr || *value < 1 || static_cast<uint64_t>(*value) > kMaxAlignment ||
        !std::has_single_bit(static_cast<uint64_t>(*value))) {
      return fault("general.alignment is not a power of two up to " +
                   std::to_string(kMaxAlignment));
    }
    alignment_ = static_cast<uint64_t>(*value);
  }
  file_.tensors_.reserve(static_cast<size_t>(tensor_count_));
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    if (Status status = parse_tensor(); !status.ok()) return status;
  }
  return locate_tensors();
}

Status GgufParser::parse_counts() {
  const Result<const char*> magic = take(4, "the magic number");
  if (!magic.ok()) return magic.error();
  if (std::memcmp(*magic, "GGUF", 4) != 0)
    return fault(
        "this is not a GGUF file (no 'GGUF' magic); other weights are read from a folder "
        "with config.json and safetensors, pickles (.bin, .pt) never");
  const Result<uint32_t> version = number<uint32_t>("the version");
  if (!version.ok()) return version.error();
  if (*version != 2 && *version != 3) {
    return fault("GGUF version " + std::to_string(*version) +
                 " is not supported (2 and 3, little-endian, are)");
  }
  for (uint64_t* count : {&tensor_count_, &entry_count_}) {
    const Result<uint64_t> value = number<uint64_t>("a count");
    if (!value.ok()) return value.error();
    *count = *value;
  }
  // The smallest tensor record has 24 bytes, the smallest metadata record 13.
  const uint64_t left = limit_bytes_ - position_;
  if (tensor_count_ > kMaxTensors || tensor_count_ > left / 24 || entry_count_ > left / 13) {
    return fault(std::to_string(tensor_count_) + " tensors and " + std::to_string(entry_count_) +
                 " metadata entries cannot fit into the file");
  }
  return {};
}

Status GgufParser::parse_entry() {
  const Result<std::string_view> key = string(kMaxKeyBytes, "a metadata key");
  if (!key.ok()) return key.error();
  const Result<uint32_t> type = number<uint32_t>("the type of " + quoted(*key));
  if (!type.ok()) return type.error();
  GgufEntry entry;
  entry.type = static_cast<GgufType>(*type);
  const uint64_t begin = position_;
  if (Status status = parse_value(entry.type, *key, entry.value); !status.ok()) return status;
  entry.bytes =
      std::string_view(file_.header_.get() + begin, static_cast<size_t>(position_ - begin));
  if (!file_.entries_.emplace(*key, std::move(entry)).second) {
    return fault("metadata key " + quoted(*key) + " occurs twice");
  }
  return {};
}

Status GgufParser::parse_value(GgufType type, std::string_view key, GgufValue& value) {
  const std::string item = "the value of " + quoted(key);
  if (type == GgufType::array) return parse_array(key, value);
  if (type == GgufType::string) {
    const Result<std::string_view> text = string(limit_bytes_, item);
    if (!text.ok()) return text.error();
    value = *text;
    return {};
  }
  const uint64_t bytes = fixed_bytes(type);
  if (bytes == 0) {
    return fault(item + " has the unknown type " + std::to_string(static_cast<uint32_t>(type)));
  }
  const Result<const char*> data = take(bytes, item);
  if (!data.ok()) return data.error();
  if (is_real(type)) {
    value = load_real(type, *data);
    return {};
  }
  const std::optional<int64_t> integer = load_integer(type, *data);
  if (!integer) return fault(item + " exceeds 2^63 - 1");
  if (type != GgufType::boolean) {
    value = *integer;
  } else if (*integer == 0 || *integer == 1) {
    value = *integer == 1;
  } else {
    return fault(item + " is a boolean other than 0 and 1");
  }
  return {};
}

Status GgufParser::parse_array(std::string_view key, GgufValue& value) {
  const std::string item = "the array " + quoted(key);
  const Result<uint32_t> type = number<uint32_t>(item);
  if (!type.ok()) return type.error();
  const Result<uint64_t> count = number<uint64_t>(item);
  if (!count.ok()) return count.error();
  const auto element = static_cast<GgufType>(*type);
  if (element != GgufType::string) return parse_numbers(element, *count, key, value);
  if (*count > (limit_bytes_ - position_) / sizeof(uint64_t)) {
    return fault(item + " claims " + std::to_string(*count) + " strings, more than the file holds");
  }
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<size_t>(*count));
  for (uint64_t i = 0; i < *count; ++i) {
    const Result<std::string_view> text = string(limit_bytes_, item);
    if (!text.ok()) return text.error();
    texts.push_back(*text);
  }
  value = std::move(texts);
  return {};
}

Status GgufParser::parse_numbers(GgufType type, uint64_t count, std::string_view key,
                                 GgufValue& value) {
  const std::string item = "the array " + quoted(key);
  const uint64_t bytes = fixed_bytes(type);
  if (bytes == 0) {
    return fault(item + " has elements of the unsupported type " +
                 std::to_string(static_cast<uint32_t>(type)));
  }
  if (count > (limit_bytes_ - position_) / bytes) {
    return fault(item + " claims " + std::to_string(count) + " elements, more than the file holds");
  }
  const Result<const char*> data = take(count * bytes, item);
  if (!data.ok()) return data.error();
  GgufNumbers numbers;
  if (is_real(type)) numbers.reals.reserve(static_cast<size_t>(count));
  if (!is_real(type)) numbers.integers.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    const char* element = *data + i * bytes;
    if (is_real(type)) {
      numbers.reals.push_back(load_real(type, element));
      continue;
    }
    const std::optional<int64_t> integer = load_integer(type, element);
    if (!integer) return fault("an element of " + item + " exceeds 2^63 - 1");
    numbers.integers.push_back(*integer);
  }
  value = std::move(numbers);
  return {};
}

Status GgufParser::parse_tensor() {
  const Result<std::string_view> name = string(kMaxNameBytes, "a tensor name");
  if (!name.ok()) return name.error();
  const std::string item = "tensor " + quoted(*name);
  const Result<uint32_t> dimensions = number<uint32_t>(item);
  if (!dimensions.ok()) return dimensions.error();
  if (*dimensions < 1 || *dimensions > kMaxDimensions) {
    return fault(item + " has " + std::to_string(*dimensions) + " dimensions (1 to 4 are allowed)");
  }
  GgufTensor tensor;
  tensor.name = *name;
  tensor.elements = 1;
  for (uint32_t i = 0; i < *dimensions; ++i) {
    const Result<uint64_t> extent = number<uint64_t>(item);
    if (!extent.ok()) return extent.error();
    int64_t product = 0;
    if (*extent == 0 || *extent > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
        __builtin_mul_overflow(tensor.elements, static_cast<int64_t>(*extent), &product)) {
      return fault(item + " has the impossible dimension " + std::to_string(*extent));
    }
    tensor.elements = product;
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(*extent));
  }
  const Result<uint32_t> type = number<uint32_t>(item);
  if (!type.ok()) return type.error();
  if (*type >= kMaxTypes) return fault(item + " has the unknown type " + std::to_string(*type));
  tensor.type = static_cast<TensorType>(*type);
  const Result<uint64_t> offset = number<uint64_t>(item);
  if (!offset.ok()) return offset.error();
  tensor.offset = *offset;
  if (*offset % alignment_ != 0) {
    return fault(item + " starts at offset " + std::to_string(*offset) +
                 ", which is not a multiple of the alignment " + std::to_string(alignment_));
  }
  if (const std::optional<TensorTypeInfo> info = ggml_type_info(*type)) {
    int64_t bytes = 0;
    if (tensor.shape.back() % info->block_elements != 0) {
      return fault(item + " has rows of " + std::to_string(tensor.shape.back()) +
                   " elements, not a multiple of the block of " + info->name);
    }
    if (__builtin_mul_overflow(tensor.elements / info->block_elements, info->block_bytes, &bytes)) {
      return fault(item + " is larger than any file");
    }
    tensor.bytes = static_cast<uint64_t>(bytes);
  }
  file_.tensors_.push_back(std::move(tensor));
  return {};
}

Status GgufParser::locate_tensors() {
  const uint64_t data_begin = (position_ + alignment_ - 1) / alignment_ * alignment_;
  const uint64_t size = file_.file_.size_bytes();
  for (size_t i = 0; i < file_.tensors_.size(); ++i) {
    GgufTensor& tensor = file_.tensors_[i];
    if (data_begin > size || tensor.offset > size - data_begin ||
        tensor.bytes > size - data_begin - tensor.offset) {
      return data_error("tensor " + quoted(tensor.name) + " (" + std::to_string(tensor.bytes) +
                            " bytes at data offset " + std::to_string(tensor.offset) +
                            ") lies outside the file of " + std::to_string(size) +
                            " bytes; the file is truncated or damaged",
                        file_.path());
    }
    tensor.offset += data_begin;
    if (!file_.tensor_index_.emplace(tensor.name, i).second) {
      return data_error("tensor " + quoted(tensor.name) + " occurs twice", file_.path());
    }
  }
  return {};
}

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
  Result<FileReader> reader = FileReader::open(path);
  if (!reader.ok()) return reader.error();
  std::shared_ptr<GgufFile> file(new GgufFile(*std::move(reader)));
  if (Status status = GgufParser(*file).parse(); !status.ok()) return status.error();
  return std::shared_ptr<const GgufFile>(std::move(file));
}

}  // namespace qfs::checkpoints
