#include "methods/generation/greedy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/clock.h"
#include "methods/generation/stop_rules.h"

namespace qfs::generation {

namespace {

/// The id of the largest logit, the first on ties; -1 when one is not a number.
int32_t arg_max(std::span<const float> logits) {
  size_t best = 0;
  bool ordered = true;
  for (size_t i = 0; i < logits.size(); ++i) {
    ordered = ordered && !std::isnan(logits[i]);
    if (logits[i] > logits[best]) best = i;
  }
  return ordered ? static_cast<int32_t>(best) : -1;
}

Error not_a_number() {
  return data_error("the backbone produced a logit that is not a number; its weights are damaged");
}

}  // namespace

GreedyGenerator::GreedyGenerator(std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer,
                                 std::unique_ptr<backbones::CausalModel> model)
    : tokenizer_(std::move(tokenizer)), model_(std::move(model)) {}

Result<GenerationResult> GreedyGenerator::generate(std::span<const std::vector<int32_t>> prompts,
                                                   const GreedyOptions& options) {
  const auto vocabulary = static_cast<size_t>(model_->config().vocabulary);
  GenerationResult result;
  if (prompts.empty()) return result;
  int64_t longest = 0;
  for (const auto& prompt : prompts) {
    longest = std::max(longest, static_cast<int64_t>(prompt.size()));
  }
  const int64_t needed = longest + options.max_new_tokens;
  if (needed > model_->config().context) {
    return invalid_argument("a prompt of " + std::to_string(longest) + " tokens and " +
                            std::to_string(options.max_new_tokens) +
                            " new ones do not fit the backbone's window of " +
                            std::to_string(model_->config().context) + " tokens");
  }
  const auto batch = static_cast<int64_t>(prompts.size());
  if (Status status = model_->begin(batch, needed); !status.ok()) return status.error();
  logits_.resize(prompts.size() * vocabulary);

  std::vector<RowState> rows(prompts.size(), RowState(*tokenizer_, options));
  std::vector<int64_t> active;
  std::vector<int32_t> tokens;
  GenerationTimes& times = result.times;
  for (size_t row = 0; row < prompts.size(); ++row) {
    const std::span<float> logits(logits_.data(), vocabulary);
    const int64_t begin_ns = monotonic_ns();
    const Status read = model_->prefill(static_cast<int64_t>(row), prompts[row], logits);
    if (!read.ok()) return read.error();
    const int64_t read_ns = monotonic_ns();
    times.prefill_ns += read_ns - begin_ns;
    times.prefill_tokens += static_cast<int64_t>(prompts[row].size());
    const int32_t token = arg_max(logits);
    if (token < 0) return not_a_number();
    if (rows[row].accept(token)) {
      active.push_back(static_cast<int64_t>(row));
      tokens.push_back(token);
    }
    times.first_token_ns += monotonic_ns() - begin_ns;
  }

  const int64_t decode_begin_ns = monotonic_ns();
  while (!active.empty()) {
    const std::span<float> logits(logits_.data(), active.size() * vocabulary);
    if (Status step = model_->decode(active, tokens, logits); !step.ok()) {
      return step.error();
    }
    times.decode_tokens += static_cast<int64_t>(active.size());
    size_t kept = 0;
    for (size_t i = 0; i < active.size(); ++i) {
      const int32_t token = arg_max(logits.subspan(i * vocabulary, vocabulary));
      if (token < 0) return not_a_number();
      if (!rows[static_cast<size_t>(active[i])].accept(token)) continue;
      active[kept] = active[i];
      tokens[kept++] = token;
    }
    active.resize(kept);
    tokens.resize(kept);
  }
  times.decode_ns = monotonic_ns() - decode_begin_ns;
  for (RowState& row : rows) result.rows.push_back(row.take());
  return result;
}

}  // namespace qfs::generation
