#include "methods/models/checkpoints/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace qfs::checkpoints {

namespace {

using nlohmann::json;

constexpr size_t kMaxTensors = 1 << 20;
constexpr size_t kMaxDimensions = 16;
constexpr size_t kMaxNameBytes = 4096;
constexpr uint64_t kMaxBytes = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

std::string shown_name(const std::string& name) {
  return "'" + (name.size() <= 200 ? name : name.substr(0, 200) + "…") + "'";
}

/// Builds the tensor list from JSON events. Depth 1: names; 2: members of a tensor or metadata
/// texts; 3: numbers of shape or data_offsets. Anything else ends the reading.
class HeaderEvents : public nlohmann::json_sax<json> {
 public:
  SafetensorsHeader header;
  std::string fault;

  bool null() override { return fail("a null"); }
  bool boolean(bool /*value*/) override { return fail("a boolean"); }
  bool number_integer(number_integer_t /*value*/) override { return fail("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return fail("a fraction"); }
  bool binary(binary_t& /*value*/) override { return fail("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != 3) return fail("a number outside 'shape' and 'data_offsets'");
    if (value > kMaxBytes) return fail("the number " + std::to_string(value));
    if (member_ == "shape") {
      if (current_.entry.shape.size() >= kMaxDimensions) return fail("too many dimensions");
      current_.entry.shape.push_back(static_cast<int64_t>(value));
    } else {
      if (offsets_.size() == 2) return fail("'data_offsets' with more than two numbers");
      offsets_.push_back(value);
    }
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ != 2) return fail("a text where none belongs");
    if (in_metadata_) return add_metadata(std::move(value));
    if (member_ != "dtype") return fail("a text as '" + member_ + "'");
    const auto type = safetensors_type(value);
    if (!type) return fail("the dtype " + shown_name(value) + ", which this program does not read");
    current_.entry.type = *type;
    return true;
  }

  bool start_object(size_t /*elements*/) override {
    if (depth_ > 1) return fail("an object inside a tensor's description");
    if (++depth_ == 2) {
      in_metadata_ = name_ == "__metadata__";
      current_ = {};
      offsets_.clear();
      seen_.clear();
    }
    return true;
  }

  bool key(string_t& name) override {
    if (depth_ == 1) {
      name_ = std::move(name);
      if (name_.size() > kMaxNameBytes) return fail("a name of more than 4096 bytes");
      if (!names_.insert(name_).second) return fail("its name twice");
      return names_.size() <= kMaxTensors || fail("more than 1048576 tensors before it");
    }
    member_ = std::move(name);
    if (in_metadata_) return true;
    if (member_ != "dtype" && member_ != "shape" && member_ != "data_offsets") {
      return fail("the unknown member " + shown_name(member_));
    }
    return seen_.insert(member_).second || fail("'" + member_ + "' twice");
  }

  bool end_object() override {
    if (--depth_ == 1 && !in_metadata_) return add_tensor();
    in_metadata_ = false;
    return true;
  }

  bool start_array(size_t /*elements*/) override {
    if (depth_ != 2 || in_metadata_ || member_ == "dtype") return fail("a list where none belongs");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool parse_error(size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    fault = "the header is not valid JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  bool fail(const std::string& what) {
    fault =
        name_.empty() ? "the header has " + what : "tensor " + shown_name(name_) + " has " + what;
    return false;
  }

  bool add_metadata(std::string value) {
    header.metadata[member_] = std::move(value);
    return true;
  }

  bool add_tensor() {
    if (seen_.size() != 3) return fail("no dtype, shape or data_offsets");
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1]) return fail("impossible data_offsets");
    TensorEntry& entry = current_.entry;
    entry.name = name_;
    uint64_t elements = 1;
    bool fits = true;
    for (const int64_t extent : entry.shape) {
      fits = fits && !__builtin_mul_overflow(elements, static_cast<uint64_t>(extent), &elements);
    }
    if (!fits || elements > kMaxBytes) {
      return fail("the impossible shape " + shape_text(entry.shape));
    }
    entry.elements = static_cast<int64_t>(elements);
    int64_t bytes = 0;
    if (__builtin_mul_overflow(entry.elements, tensor_type_info(entry.type)->block_bytes, &bytes)) {
      return fail("the impossible shape " + shape_text(entry.shape));
    }
    entry.bytes = static_cast<uint64_t>(bytes);
    current_.begin = offsets_[0];
    if (offsets_[1] - offsets_[0] != entry.bytes) {
      return fail("data_offsets of " + std::to_string(offsets_[1] - offsets_[0]) +
                  " bytes, but its shape " + shape_text(entry.shape) + " in " +
                  tensor_type_name(entry.type) + " needs " + std::to_string(entry.bytes));
    }
    header.tensors.push_back(std::move(current_));
    current_ = {};
    return true;
  }

  int depth_ = 0;
  bool in_metadata_ = false;
  std::string name_;
  std::string member_;
  SafetensorsTensor current_;
  std::vector<uint64_t> offsets_;
  std::set<std::string> seen_;
  std::set<std::string> names_;
};

/// Tensors tile the data: each begins where the one before ends.
Status check_places(std::vector<SafetensorsTensor>& tensors, uint64_t data_bytes,
                    const std::string& source) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.begin + a.entry.bytes) <
           std::pair(b.begin, b.begin + b.entry.bytes);
  });
  uint64_t end = 0;
  const std::string* before = nullptr;
  for (const SafetensorsTensor& tensor : tensors) {
    const std::string item = "tensor " + shown_name(tensor.entry.name);
    if (tensor.begin > data_bytes || tensor.entry.bytes > data_bytes - tensor.begin) {
      return data_error(item + " (" + std::to_string(tensor.entry.bytes) +
                            " bytes at data offset " + std::to_string(tensor.begin) +
                            ") lies outside the " + std::to_string(data_bytes) +
                            " bytes of data; the file is truncated or damaged",
                        source);
    }
    if (tensor.begin < end) {
      return data_error(item + " overlaps tensor " + shown_name(*before), source);
    }
    if (tensor.begin > end) {
      return data_error(
          std::to_string(tensor.begin - end) + " bytes before " + item + " belong to no tensor",
          source);
    }
    end = tensor.begin + tensor.entry.bytes;
    before = &tensor.entry.name;
  }
  if (end == data_bytes) return {};
  return data_error(std::to_string(data_bytes - end) + " bytes at the end belong to no tensor",
                    source);
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, uint64_t data_bytes,
                                                   const std::string& source) {
  if (text.empty() || text.front() != '{') {
    return data_error("the header is no JSON object; this is not a safetensors file", source);
  }
  // The lexer would take a zero byte for the end of its input.
  if (text.find('\0') != text.npos) return data_error("the header has a zero byte", source);
  HeaderEvents events;
  if (!json::sax_parse(text.begin(), text.end(), &events)) {
    return data_error(events.fault, source);
  }
  if (Status status = check_places(events.header.tensors, data_bytes, source); !status.ok()) {
    return status.error();
  }
  return std::move(events.header);
}

}  // namespace qfs::checkpoints
