#include "harness/core/json_quick.h"

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/json_events.h"

namespace qfs {
namespace {

using nlohmann::json;

class Builder final : public JsonEvents {
 public:
  explicit Builder(size_t max_depth) : max_depth_(max_depth) {}
  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number(std::string_view digits) override {
    if (digits.find_first_of(".eE") != digits.npos) return add_number<double>(digits);
    return digits.front() == '-' ? add_number<int64_t>(digits) : add_number<uint64_t>(digits);
  }
  bool text(std::string_view text) override { return add(std::string(text)); }
  bool key(std::string_view name) override {
    const auto [member, inserted] = stack_.back()->emplace(std::string(name), nullptr);
    member_ = &*member;
    return inserted;
  }
  bool open_object() override { return open(json::object()); }
  bool open_array() override { return open(json::array()); }
  bool close() override {
    stack_.pop_back();
    return true;
  }

 private:
  template <class Number>
  bool add_number(std::string_view digits) {
    Number value{};
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, value);
    return code == std::errc() && stop == end && add(value);
  }

  bool add(json value) {
    put(std::move(value));
    return true;
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

  size_t max_depth_;
  json root_;
  std::vector<json*> stack_;
  json* member_ = nullptr;
};

}  // namespace

std::optional<json> quick_json(std::string_view text, size_t max_depth, std::string& scratch) {
  Builder builder(max_depth);
  if (!scan_json(text, scratch, builder)) return std::nullopt;
  return builder.take();
}

}  // namespace qfs
