#include "metrics/text/scored_texts.h"

#include "harness/core/utf8.h"

namespace qfs::metrics {

std::string item_name(const ScoreItem& item) { return "item " + std::to_string(item.id); }

Status check_text(std::string_view text, std::string_view role) {
  const std::optional<size_t> offset = first_ill_formed_utf8(text);
  if (!offset) return {};
  return data_error("the " + std::string(role) + " is not valid UTF-8 at byte " +
                    std::to_string(*offset));
}

Status check_texts(const ScoreItem& item, std::string_view metric) {
  const auto check = [&](std::string_view text, std::string_view role) -> Status {
    const Status status = check_text(text, role);
    if (status) return {};
    return data_error(status.error().message, item_name(item));
  };
  if (item.references.empty()) {
    return invalid_argument(
        std::string(metric) + " needs at least one reference, this item has none", item_name(item));
  }
  if (Status status = check(item.candidate, "candidate"); !status) return status;
  for (size_t i = 0; i < item.references.size(); ++i) {
    Status status = check(item.references[i], "reference " + std::to_string(i + 1));
    if (!status) return status;
  }
  return {};
}

}  // namespace qfs::metrics
