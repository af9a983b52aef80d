#include "datasets/predictions/suspicious_lines.h"

namespace qfs::datasets {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool is_list_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("\xE2\x80\xA2")) {
    return true;
  }
  const size_t digits = line.find_first_not_of("0123456789");
  return digits > 0 && digits != line.npos && line.substr(digits).starts_with(". ");
}

}  // namespace

void SuspiciousLines::look_at(std::string_view line, int64_t number) {
  if (number == 1) sentences_start_upper_ = !line.empty() && is_upper(line.front());
  if (first_ != 0) return;
  if (line.find_first_not_of(" \t\r") == line.npos) {
    why_ = "is blank";
  } else if (number > 1 && is_list_item(line)) {
    why_ = "is an item of a list";
  } else if (sentences_start_upper_ && is_lower(line.front())) {
    why_ = "starts in lower case, as the middle of a text";
  } else if (number > 1 && line.front() == ' ' && sentences_start_upper_) {
    why_ = "starts with a space";
  } else {
    return;
  }
  first_ = number;
}

std::string SuspiciousLines::describe() const {
  return first_ == 0 ? "" : "line " + std::to_string(first_) + " " + why_;
}

}  // namespace qfs::datasets
