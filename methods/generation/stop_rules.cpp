#include "methods/generation/stop_rules.h"

#include <algorithm>

namespace qfs::generation {

bool RowState::accept(int32_t token) {
  const auto& stop_ids = options_->stop_ids;
  if (!options_->ignore_stops &&
      std::find(stop_ids.begin(), stop_ids.end(), token) != stop_ids.end()) {
    generated_.finish = FinishReason::stop;
    return false;
  }
  generated_.ids.push_back(token);
  const size_t old_size = generated_.text.size();
  generated_.text += tokenizer_->decode({&token, 1});
  if (!options_->ignore_stops && ends_at_stop_text(old_size)) {
    generated_.finish = FinishReason::stop;
    return false;
  }
  return static_cast<int64_t>(generated_.ids.size()) < options_->max_new_tokens;
}

bool RowState::ends_at_stop_text(size_t old_size) {
  size_t first = std::string::npos;
  for (const std::string& stop : options_->stop_texts) {
    if (stop.empty()) continue;
    // A stop text may begin in what was there before, by all but its last byte.
    const size_t from = old_size - std::min(old_size, stop.size() - 1);
    first = std::min(first, generated_.text.find(stop, from));
  }
  if (first == std::string::npos) return false;
  generated_.text.resize(first);
  return true;
}

}  // namespace qfs::generation
