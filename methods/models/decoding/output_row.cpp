#include "methods/models/decoding/output_row.h"

#include <algorithm>
#include <utility>

namespace qfs::decoding {

bool OutputRow::accept(int32_t token) {
  const bool at_limit = static_cast<int64_t>(ids_.size()) + 1 >= options_->max_new_tokens;
  if (!options_->ignore_stops && std::ranges::count(options_->stop_ids, token) > 0) {
    const bool forced = at_limit && token == options_->forced_last;
    stopped_ = !forced;
    return false;
  }
  ids_.push_back(token);
  if (!options_->ignore_stops && !options_->stop_texts.empty() &&
      find_stop(tokenizer_->decode(ids_)) != std::string::npos) {
    stopped_ = true;
    return false;
  }
  return !at_limit;
}

size_t OutputRow::find_stop(const std::string& text) const {
  size_t first = std::string::npos;
  for (const std::string& stop : options_->stop_texts) {
    if (!stop.empty()) first = std::min(first, text.find(stop));
  }
  return first;
}

Generated OutputRow::take() {
  Generated generated;
  generated.ids = std::move(ids_);
  // As one piece: what a token's text is may depend on whether others come before it.
  generated.text = tokenizer_->decode(generated.ids);
  generated.finish = stopped_ ? FinishReason::stop : FinishReason::length;
  if (!stopped_) return generated;
  const size_t stop = find_stop(generated.text);
  generated.by_text = stop != std::string::npos;
  generated.text.resize(std::min(generated.text.size(), stop));
  return generated;
}

}  // namespace qfs::decoding
