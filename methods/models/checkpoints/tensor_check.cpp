#include "methods/models/checkpoints/tensor_check.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace qfs::checkpoints {

namespace {

constexpr size_t kNamesShown = 5;

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.starts_with("*")) return name.ends_with(pattern.substr(1));
  if (pattern.ends_with("*")) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

void append(std::string& text, std::string_view kind, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text.append(text.empty() ? "" : "; ").append(std::to_string(names.size())).append(" ");
  text.append(kind).append(": ");
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    text.append(i == 0 ? "" : ", ").append(names[i]);
  }
  if (names.size() > kNamesShown) text.append(", …");
}

}  // namespace

TensorDifferences compare_tensors(const Checkpoint& checkpoint,
                                  std::span<const ExpectedTensor> expected,
                                  std::span<const std::string> ignored) {
  TensorDifferences differences;
  std::set<std::string_view> known;
  for (const ExpectedTensor& wanted : expected) {
    known.insert(wanted.name);
    const TensorEntry* tensor = checkpoint.find(wanted.name);
    if (tensor == nullptr) {
      if (wanted.required) differences.missing.push_back(wanted.name);
    } else if (tensor->shape != wanted.shape) {
      differences.misshaped.push_back(wanted.name + " " + shape_text(tensor->shape) +
                                      ", expected " + shape_text(wanted.shape));
    }
  }
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    const auto is_ignored = [&](const std::string& pattern) {
      return matches(tensor.name, pattern);
    };
    if (!known.contains(tensor.name) && std::ranges::none_of(ignored, is_ignored)) {
      differences.unknown.push_back(tensor.name);
    }
  }
  return differences;
}

Status to_status(const TensorDifferences& differences, const std::string& path) {
  if (differences.empty()) return {};
  std::string text;
  append(text, "missing", differences.missing);
  append(text, "of another shape", differences.misshaped);
  append(text, "unknown", differences.unknown);
  return data_error("the tensors are not those of the model: " + text, path);
}

}  // namespace qfs::checkpoints
