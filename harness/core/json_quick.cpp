#include "harness/core/json_quick.h"

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

// NOLINTBEGIN: switches of RapidJSON
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
// NOLINTEND
#include <rapidjson/reader.h>

namespace qfs {
namespace {

using nlohmann::json;

/// Its scanners read aligned blocks of this size, the last one beyond the end of the text.
constexpr size_t kScannerBytes = 16;

class Builder {
 public:
  explicit Builder(size_t max_depth) : max_depth_(max_depth) {}
  json take() { return std::move(root_); }

  bool Null() { return put(nullptr) != nullptr; }
  bool Bool(bool value) { return put(value) != nullptr; }
  bool RawNumber(const char* digits, unsigned length, bool /*copy*/) {
    const char* const end = digits + length;
    if (std::string_view(digits, length).find_first_of(".eE") != std::string_view::npos) {
      return number<double>(digits, end);
    }
    return *digits == '-' ? number<int64_t>(digits, end) : number<uint64_t>(digits, end);
  }
  bool String(const char* text, unsigned length, bool /*copy*/) {
    return put(std::string(text, length)) != nullptr;
  }
  bool StartObject() { return open(json::object()); }
  bool StartArray() { return open(json::array()); }
  bool EndObject(unsigned /*members*/) { return close(); }
  bool EndArray(unsigned /*elements*/) { return close(); }
  bool Key(const char* text, unsigned length, bool /*copy*/) {
    const auto [member, inserted] = stack_.back()->emplace(std::string(text, length), nullptr);
    member_ = &*member;
    return inserted;
  }
  // The reader names them; with numbers as text it calls none.
  bool Int(int /*value*/) { return false; }
  bool Uint(unsigned /*value*/) { return false; }
  bool Int64(int64_t /*value*/) { return false; }
  bool Uint64(uint64_t /*value*/) { return false; }
  bool Double(double /*value*/) { return false; }

 private:
  template <class Number>
  bool number(const char* begin, const char* end) {
    Number value{};
    const auto [stop, code] = std::from_chars(begin, end, value);
    return code == std::errc() && stop == end && put(value) != nullptr;
  }

  json* put(json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool open(json container) {
    if (stack_.size() >= max_depth_) return false;
    // Pointers on the stack stay valid: a container grows only at its innermost open end.
    stack_.push_back(put(std::move(container)));
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  size_t max_depth_;
  json root_;
  std::vector<json*> stack_;
  json* member_ = nullptr;
};

/// What RapidJSON 1.1.0 takes and should not: a low surrogate without a high one, and in its SSE2
/// scanner the control characters 1A to 1F inside a string.
bool misleads_reader(std::string_view text) {
  uint8_t control = 0;  // a byte, so that sixteen are looked at together
  for (char c : text) control |= static_cast<uint8_t>(c - '\x1A') < 6 ? 1 : 0;
  if (control != 0) return true;
  for (size_t at = text.find("\\u"); at != text.npos; at = text.find("\\u", at + 2)) {
    if (at + 2 < text.size() && (text[at + 2] == 'd' || text[at + 2] == 'D')) return true;
  }
  return false;
}

}  // namespace

std::optional<json> quick_json(std::string_view text, size_t max_depth, std::string& scratch) {
  if (misleads_reader(text)) return std::nullopt;
  scratch.assign(text).append(kScannerBytes, '\0');
  rapidjson::InsituStringStream stream(scratch.data());
  rapidjson::Reader reader;
  Builder builder(max_depth);
  const auto result =
      reader.Parse<rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag>(stream,
                                                                                        builder);
  if (result.IsError()) return std::nullopt;
  return builder.take();
}

}  // namespace qfs
