#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "methods/models/decoding/logits_processors.h"
#include "methods/models/decoding/output_row.h"
#include "methods/models/decoding/sampler.h"
#include "methods/models/decoding/search.h"

namespace qfs::decoding {

namespace {

class SingleSearch final : public Search {
 public:
  explicit SingleSearch(const SearchInput& input)
      : options_(input.options),
        row_(input.tokenizer, input.options),
        sequence_(input.begun.begin(), input.begun.end()) {
    if (options_.sampling) sampler_.emplace(*options_.sampling, input.seed);
  }

  Result<std::vector<Continuation>> advance(std::span<float> logits) override {
    if (Status status = check_logits(logits); !status.ok()) return status.error();
    apply_logits_processors(options_, sequence_, produced(), logits);
    const auto best = std::ranges::max_element(logits);
    if (*best == -std::numeric_limits<float>::infinity()) return no_token_left();
    return append(sampler_ ? sampler_->draw(logits) : static_cast<int32_t>(best - logits.begin()));
  }

  Generated take() override { return row_.take(); }

 private:
  int64_t produced() const { return static_cast<int64_t>(row_.ids().size()); }

  std::vector<Continuation> append(int32_t token) {
    sequence_.push_back(token);
    if (!row_.accept(token)) return {};
    return {{0, token}};
  }

  const DecodingOptions& options_;
  OutputRow row_;
  std::vector<int32_t> sequence_;
  std::optional<Sampler> sampler_;
};

}  // namespace

Error damaged_logits() {
  return data_error(
      "a logit is infinite or not a number; weights of the backbone, or of what was trained, are "
      "damaged");
}

Status check_logits(std::span<const float> logits) {
  bool usable = true;
  for (const float logit : logits)
    usable = usable && logit < std::numeric_limits<float>::infinity();
  if (usable) return {};
  return damaged_logits();
}

Error no_token_left() {
  return data_error(
      "every token is banned at this step; no_repeat_ngram is too small for the "
      "vocabulary");
}

std::unique_ptr<Search> make_single_search(const SearchInput& input) {
  return std::make_unique<SingleSearch>(input);
}

}  // namespace qfs::decoding
