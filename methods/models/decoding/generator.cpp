#include "methods/models/decoding/generator.h"

#include <ATen/ops/cat.h>

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

int64_t beams_of(const DecodingOptions& options) {
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

Status check_rows(std::span<const MixedInput> inputs) {
  for (const MixedInput& input : inputs) {
    if (input.rows.empty()) return invalid_argument("an output has no rows to be written from");
    if (input.rows.size() > 1 && input.mixer == nullptr) {
      return internal_error("several rows of an output need a mixer");
    }
  }
  return {};
}

/// Positions that the longest row needs; an error when the window is shorter. `options`: of each.
Result<int64_t> needed_positions(std::span<const MixedInput> inputs,
                                 std::span<const DecodingOptions> options,
                                 const SequenceShape& shape) {
  int64_t most = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t new_tokens = options[i].max_new_tokens;
    if (new_tokens < 1) return internal_error("an output of no tokens");
    for (const SequenceInput& row : inputs[i].rows) {
      const auto begun = static_cast<int64_t>(begun_with(row, shape).size());
      most = std::max(most, begun + new_tokens);
      if (begun + new_tokens <= shape.context) continue;
      return invalid_argument(
          (shape.encoder_decoder() ? "a decoder that begins with " : "a prompt of ") +
          std::to_string(begun) + " tokens and " + std::to_string(new_tokens) +
          " new ones do not fit the backbone's window of " + std::to_string(shape.context) +
          " tokens");
    }
  }
  return most;
}

/// A prompt that was read, and the row that holds it.
struct ReadPrompt {
  const SequenceInput* input = nullptr;
  int64_t row = 0;
};

/// The longest beginning that an input has in common with one of the prompts before it, if it is
/// half of it: a long rest is faster read with its whole prompt.
std::optional<SharedPrefix> shared_prefix(std::span<const ReadPrompt> before,
                                          const SequenceInput& input) {
  const std::vector<int32_t>& ids = input.ids;
  std::optional<SharedPrefix> best;
  if (!input.embedded.empty()) return best;  // equal placeholders say nothing of what stands there
  for (const ReadPrompt& other : before) {
    if (!other.input->embedded.empty()) continue;
    const auto differing = std::ranges::mismatch(other.input->ids, ids).in2 - ids.begin();
    const auto positions = std::min<int64_t>(differing, static_cast<int64_t>(ids.size()) - 1);
    if (2 * positions < static_cast<int64_t>(ids.size())) continue;
    if (best && positions <= best->positions) continue;
    best = SharedPrefix{other.row, positions};
  }
  return best;
}

/// An output's search with the model rows that it has now: `width` of each beam beside one another.
struct Active {
  Search* search = nullptr;
  RowMixer* mixer = nullptr;
  int64_t first_row = 0;
  int64_t width = 1;
  int64_t beams = 1;
  std::vector<nn::RowGroup> groups;  ///< what each row of a beam holds

  int64_t rows() const { return beams * width; }
};

/// The work of a step, whose rows then hold a position more.
Work step_work(const nn::ModelWork& model, std::vector<Active>& active) {
  std::vector<nn::RowGroup> groups;
  for (Active& one : active) {
    for (nn::RowGroup& group : one.groups) {
      group.rows = one.beams;
      groups.push_back(group);
      ++group.past;
    }
  }
  return nn::decode_work(model, groups);
}

/// Rows, where they go on from, and the tokens that they take, of one step.
struct Step {
  std::vector<int64_t> rows;
  std::vector<int64_t> sources;
  std::vector<int32_t> tokens;

  void add(const Active& active, const std::vector<Continuation>& continuations) {
    for (size_t i = 0; i < continuations.size(); ++i) {
      for (int64_t k = 0; k < active.width; ++k) {
        rows.push_back(active.first_row + static_cast<int64_t>(i) * active.width + k);
        sources.push_back(active.first_row + continuations[i].source * active.width + k);
        tokens.push_back(continuations[i].token);
      }
    }
  }
};

/// How one search goes on from the logits of its rows; `states` are theirs.
Result<std::vector<Continuation>> choose(const Active& active, std::span<float> logits,
                                         const at::Tensor& states, size_t vocabulary) {
  if (active.mixer == nullptr) return active.search->advance(logits);
  std::vector<float> mixed(static_cast<size_t>(active.beams) * vocabulary);
  const auto width = static_cast<size_t>(active.width);
  for (size_t beam = 0; beam < static_cast<size_t>(active.beams); ++beam) {
    const Status fine =
        active.mixer->mix(logits.subspan(beam * width * vocabulary, width * vocabulary),
                          states.narrow(0, static_cast<int64_t>(beam) * active.width, active.width),
                          {mixed.data() + beam * vocabulary, vocabulary});
    if (!fine.ok()) return fine.error();
  }
  return active.search->advance(mixed);
}

/// How the active searches go on, each by beams of its own.
using Choices = Result<std::vector<std::vector<Continuation>>>;

/// Computes a step's logits [rows, vocabulary], from which the searches choose.
Choices decode_and_choose(SequenceModel& model, const Step& step, const std::vector<Active>& active,
                          std::span<float> logits) {
  if (Status run = model.decode(step.rows, step.tokens, logits); !run.ok()) return run.error();
  at::Tensor states;
  if (std::ranges::any_of(active, [](const Active& one) { return one.mixer != nullptr; })) {
    auto read = model.last_states();
    if (!read.ok()) return read.error();
    states = *std::move(read);
  }
  std::vector<std::vector<Continuation>> chosen;
  const auto vocabulary = static_cast<size_t>(model.shape().vocabulary);
  int64_t first = 0;
  for (const Active& one : active) {
    const size_t size = static_cast<size_t>(one.rows()) * vocabulary;
    auto next = choose(one, logits.first(size),
                       states.defined() ? states.narrow(0, first, one.rows()) : states, vocabulary);
    if (!next.ok()) return next.error();
    chosen.push_back(*std::move(next));
    logits = logits.subspan(size);
    first += one.rows();
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
  std::vector<MixedInput> single;
  for (size_t i = 0; i < inputs.size(); ++i) single.push_back({inputs.subspan(i, 1)});
  return generate_mixed(single, options, seeds);
}

Result<GenerationResult> Generator::generate_mixed(std::span<const MixedInput> inputs,
                                                   const DecodingOptions& options,
                                                   std::span<const uint64_t> seeds) {
  GenerationResult result;
  if (inputs.empty()) return result;
  if (Status status = check_options(options, shape()); !status.ok()) return status.error();
  if (Status status = check_rows(inputs); !status.ok()) return status.error();
  if (options.sampling && seeds.size() != inputs.size()) {
    return internal_error("sampling needs a seed for every input");
  }
  std::vector<DecodingOptions> own;  // which searches look at
  for (const MixedInput& input : inputs) {
    own.push_back(input.new_tokens ? with_new_tokens(options, *input.new_tokens) : options);
  }
  const auto needed = needed_positions(inputs, own, shape());
  if (!needed.ok()) return needed.error();
  const int64_t beams = beams_of(options);
  int64_t rows = 0;
  for (const MixedInput& input : inputs) {
    rows += beams * static_cast<int64_t>(input.rows.size());
  }
  if (Status status = model_->begin(rows, *needed); !status.ok()) return status.error();
  const auto vocabulary = static_cast<size_t>(shape().vocabulary);
  std::vector<float> logits(static_cast<size_t>(rows) * vocabulary);

  std::vector<std::unique_ptr<Search>> searches;
  std::vector<int64_t> shared;  // tokens of each output
  std::vector<ReadPrompt> prompts;
  std::vector<Active> active;
  Step step;
  GenerationTimes& times = result.times;
  int64_t first_row = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t begin_ns = monotonic_ns();
    Active now{.mixer = inputs[i].mixer,
               .first_row = first_row,
               .width = static_cast<int64_t>(inputs[i].rows.size())};
    first_row += beams * now.width;
    const std::span<float> first(logits.data(), inputs[i].rows.size() * vocabulary);
    std::vector<at::Tensor> states;
    shared.push_back(0);
    for (size_t k = 0; k < inputs[i].rows.size(); ++k) {
      SequenceInput input = inputs[i].rows[k];
      const int64_t row = now.first_row + static_cast<int64_t>(k);
      if (options.share_prefixes) input.shared = shared_prefix(prompts, input);
      const int64_t taken = input.shared ? input.shared->positions : 0;
      const Status read = model_->prefill(row, input, first.subspan(k * vocabulary, vocabulary));
      if (!read.ok()) return read.error();
      if (now.mixer != nullptr) {
        auto state = model_->last_states();
        if (!state.ok()) return state.error();
        states.push_back(*std::move(state));
      }
      const auto length = static_cast<int64_t>(input.ids.size());
      const auto past = static_cast<int64_t>(begun_with(input, shape()).size());
      times.prefill_tokens += length - taken;
      times.prefill_work +=
          nn::prefill_work(work_, {.tokens = length,
                                   .shared = taken,
                                   .global = static_cast<int64_t>(input.global_positions.size()),
                                   .begun = past,
                                   .stepped = input.stepped});
      shared.back() += taken;
      now.groups.push_back({1, past, shape().encoder_decoder() ? length : 0});
      prompts.push_back({&inputs[i].rows[k], row});
    }
    times.prefill_ns += monotonic_ns() - begin_ns;
    const bool begins_alike = now.mixer == nullptr || shape().encoder_decoder();
    const std::span<const int32_t> begun =
        begins_alike ? std::span<const int32_t>(begun_with(inputs[i].rows.front(), shape()))
                     : std::span<const int32_t>();
    const SearchInput about = {*tokenizer_, own[i], begun, shape().vocabulary,
                               seeds.empty() ? 0 : seeds[i]};
    searches.push_back(options.beams ? make_beam_search(about) : make_single_search(about));
    now.search = searches.back().get();
    const auto next =
        choose(now, first, states.empty() ? at::Tensor() : at::cat(states), vocabulary);
    if (!next.ok()) return next.error();
    now.beams = static_cast<int64_t>(next->size());
    step.add(now, *next);
    if (now.beams > 0) active.push_back(std::move(now));
    times.first_token_ns += monotonic_ns() - begin_ns;
  }

  const int64_t decode_begin_ns = monotonic_ns();
  while (!step.rows.empty()) {
    if (beams > 1) {
      if (Status moved = model_->reassign(step.rows, step.sources); !moved.ok()) {
        return moved.error();
      }
    }
    const auto chosen =
        decode_and_choose(*model_, step, active, {logits.data(), step.rows.size() * vocabulary});
    if (!chosen.ok()) return chosen.error();
    times.decode_tokens += static_cast<int64_t>(active.size());
    times.decode_work += step_work(work_, active);
    step = {};
    for (size_t i = 0; i < active.size(); ++i) {
      active[i].beams = static_cast<int64_t>((*chosen)[i].size());
      step.add(active[i], (*chosen)[i]);
    }
    std::erase_if(active, [](const Active& one) { return one.beams == 0; });
  }
  times.decode_ns = monotonic_ns() - decode_begin_ns;
  for (size_t i = 0; i < searches.size(); ++i) {
    result.rows.push_back(searches[i]->take());
    result.rows.back().shared_tokens = shared[i];
  }
  return result;
}

}  // namespace qfs::decoding
