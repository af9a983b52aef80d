#include "methods/models/decoding/generator.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/clock.h"
#include "methods/models/decoding/search.h"

namespace qfs::decoding {

namespace {

using nn::SequenceInput;
using nn::SequenceModel;
using nn::SequenceShape;
using nn::SharedPrefix;

int64_t rows_per_input(const DecodingOptions& options) {
  return options.beams ? options.beams->count : 1;
}

Status check_options(const DecodingOptions& options, const SequenceShape& shape) {
  if (options.max_new_tokens < 1) return invalid_argument("max_new_tokens is below 1");
  if (options.min_new_tokens > options.max_new_tokens) {
    return invalid_argument("min_new_tokens is above max_new_tokens");
  }
  if (options.sampling && options.beams) {
    return invalid_argument("beams do not draw tokens; give beams or sampling, not both");
  }
  if (options.sampling && !(options.sampling->temperature > 0 && options.sampling->top_p > 0)) {
    return invalid_argument("temperature and top_p must be above 0");
  }
  if (options.share_prefixes && shape.encoder_decoder()) {
    return invalid_argument("an encoder-decoder shares no prefixes");
  }
  if (options.beams && (options.beams->count < 2 || 2 * options.beams->count > shape.vocabulary)) {
    return invalid_argument(std::to_string(options.beams->count) +
                            " beams; expected 2 to half the vocabulary's size");
  }
  return {};
}

/// Positions that the longest row needs; an error when the window is shorter.
Result<int64_t> needed_positions(std::span<const SequenceInput> inputs, int64_t new_tokens,
                                 const SequenceShape& shape) {
  int64_t longest = 0;
  for (const SequenceInput& input : inputs) {
    longest = std::max(longest, static_cast<int64_t>(begun_with(input, shape).size()));
  }
  const int64_t needed = longest + new_tokens;
  if (needed <= shape.context) return needed;
  return invalid_argument(
      (shape.encoder_decoder() ? "a decoder that begins with " : "a prompt of ") +
      std::to_string(longest) + " tokens and " + std::to_string(new_tokens) +
      " new ones do not fit the backbone's window of " + std::to_string(shape.context) + " tokens");
}

/// The longest beginning that `ids` have in common with one of the inputs before them, if it is
/// half of them: a long rest is faster read with its whole prompt. Rows of inputs are `width`
/// apart.
std::optional<SharedPrefix> shared_prefix(std::span<const SequenceInput> before,
                                          const std::vector<int32_t>& ids, int64_t width) {
  std::optional<SharedPrefix> best;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto differing = std::ranges::mismatch(before[i].ids, ids).in2 - ids.begin();
    const auto positions = std::min<int64_t>(differing, static_cast<int64_t>(ids.size()) - 1);
    if (2 * positions < static_cast<int64_t>(ids.size())) continue;
    if (best && positions <= best->positions) continue;
    best = SharedPrefix{static_cast<int64_t>(i) * width, positions};
  }
  return best;
}

/// An input's search with the model rows that it has now.
struct Active {
  Search* search = nullptr;
  int64_t first_row = 0;
  int64_t rows = 1;
  int64_t past = 0;    ///< positions that its rows hold
  int64_t source = 0;  ///< tokens that an encoder read
};

/// The work of a step, whose rows then hold a position more.
Work step_work(const nn::ModelWork& model, std::vector<Active>& active) {
  std::vector<nn::RowGroup> groups;
  for (Active& one : active) groups.push_back({one.rows, one.past++, one.source});
  return nn::decode_work(model, groups);
}

/// Rows, where they go on from, and the tokens that they take, of one step.
struct Step {
  std::vector<int64_t> rows;
  std::vector<int64_t> sources;
  std::vector<int32_t> tokens;

  void add(const Active& active, const std::vector<Continuation>& continuations) {
    for (size_t i = 0; i < continuations.size(); ++i) {
      rows.push_back(active.first_row + static_cast<int64_t>(i));
      sources.push_back(active.first_row + continuations[i].source);
      tokens.push_back(continuations[i].token);
    }
  }
};

/// How the active searches go on, each by rows of its own.
using Choices = Result<std::vector<std::vector<Continuation>>>;

/// Computes a step's logits [rows, vocabulary], from which the searches choose.
Choices decode_and_choose(SequenceModel& model, const Step& step, const std::vector<Active>& active,
                          std::span<float> logits) {
  if (Status run = model.decode(step.rows, step.tokens, logits); !run.ok()) return run.error();
  std::vector<std::vector<Continuation>> chosen;
  for (const Active& one : active) {
    const size_t size =
        static_cast<size_t>(one.rows) * static_cast<size_t>(model.shape().vocabulary);
    auto next = one.search->advance(logits.first(size));
    if (!next.ok()) return next.error();
    chosen.push_back(*std::move(next));
    logits = logits.subspan(size);
  }
  return chosen;
}

}  // namespace

Generator::Generator(std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer,
                     std::unique_ptr<SequenceModel> model, nn::ModelWork work)
    : tokenizer_(std::move(tokenizer)), model_(std::move(model)), work_(std::move(work)) {}

Result<GenerationResult> Generator::generate(std::span<const SequenceInput> inputs,
                                             const DecodingOptions& options,
                                             std::span<const uint64_t> seeds) {
  GenerationResult result;
  if (inputs.empty()) return result;
  if (Status status = check_options(options, shape()); !status.ok()) return status.error();
  if (options.sampling && seeds.size() != inputs.size()) {
    return internal_error("sampling needs a seed for every input");
  }
  const auto needed = needed_positions(inputs, options.max_new_tokens, shape());
  if (!needed.ok()) return needed.error();
  const int64_t width = rows_per_input(options);
  const auto count = static_cast<int64_t>(inputs.size());
  if (Status status = model_->begin(count * width, *needed); !status.ok()) return status.error();
  const auto vocabulary = static_cast<size_t>(shape().vocabulary);
  std::vector<float> logits(static_cast<size_t>(count * width) * vocabulary);

  std::vector<std::unique_ptr<Search>> searches;
  std::vector<int64_t> shared;  // tokens of each input
  std::vector<Active> active;
  Step step;
  GenerationTimes& times = result.times;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t begin_ns = monotonic_ns();
    const std::span<float> first(logits.data(), vocabulary);
    const int64_t row = static_cast<int64_t>(i) * width;
    SequenceInput input = inputs[i];
    if (options.share_prefixes) input.shared = shared_prefix(inputs.first(i), input.ids, width);
    shared.push_back(input.shared ? input.shared->positions : 0);
    if (Status read = model_->prefill(row, input, first); !read.ok()) return read.error();
    times.prefill_ns += monotonic_ns() - begin_ns;
    const auto length = static_cast<int64_t>(input.ids.size());
    const auto past = static_cast<int64_t>(begun_with(input, shape()).size());
    times.prefill_tokens += length - shared.back();
    times.prefill_work +=
        nn::prefill_work(work_, {.tokens = length,
                                 .shared = shared.back(),
                                 .global = static_cast<int64_t>(input.global_positions.size()),
                                 .begun = past});
    const SearchInput about = {*tokenizer_, options, begun_with(inputs[i], shape()),
                               shape().vocabulary, seeds.empty() ? 0 : seeds[i]};
    searches.push_back(options.beams ? make_beam_search(about) : make_single_search(about));
    Active now{searches.back().get(), row};
    now.past = past;
    now.source = shape().encoder_decoder() ? length : 0;
    const auto next = now.search->advance(first);
    if (!next.ok()) return next.error();
    now.rows = static_cast<int64_t>(next->size());
    step.add(now, *next);
    if (now.rows > 0) active.push_back(now);
    times.first_token_ns += monotonic_ns() - begin_ns;
  }

  const int64_t decode_begin_ns = monotonic_ns();
  while (!step.rows.empty()) {
    if (width > 1) {
      if (Status moved = model_->reassign(step.rows, step.sources); !moved.ok()) {
        return moved.error();
      }
    }
    const auto chosen = decode_and_choose(*model_, step, active,
                                          {logits.data(), step.rows.size() * vocabulary});
    if (!chosen.ok()) return chosen.error();
    times.decode_tokens += static_cast<int64_t>(step.rows.size());
    times.decode_work += step_work(work_, active);
    step = {};
    for (size_t i = 0; i < active.size(); ++i) {
      active[i].rows = static_cast<int64_t>((*chosen)[i].size());
      step.add(active[i], (*chosen)[i]);
    }
    std::erase_if(active, [](const Active& one) { return one.rows == 0; });
  }
  times.decode_ns = monotonic_ns() - decode_begin_ns;
  for (size_t i = 0; i < searches.size(); ++i) {
    result.rows.push_back(searches[i]->take());
    result.rows.back().shared_tokens = shared[i];
  }
  return result;
}

}  // namespace qfs::decoding
