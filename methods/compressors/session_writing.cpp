#include "methods/compressors/session_writing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/core/clock.h"
#include "harness/core/rng.h"
#include "methods/compressors/params.h"
#include "methods/compressors/session_facts.h"

namespace qfs::compressors {

namespace {

using prompted::PreparedPrompt;

/// What memory is made of becomes tokens of another document at the same places, which begins
/// again where it ends.
void put_other_memory(const std::vector<int32_t>& other, const Plan& plan, PromptParts& parts) {
  for (const Segment& segment : plan.segments) {
    const auto first = static_cast<size_t>(segment.content.first);
    for (size_t at = first; at < first + static_cast<size_t>(segment.content.count); ++at) {
      parts.content[at] = other[at % other.size()];
    }
  }
}

/// Examples of a unit on their way to the generator.
struct ReadUnit {
  std::vector<PreparedPrompt> prompts;
  std::vector<PromptParts> parts;
  std::vector<Plan> plans;
  std::vector<Compressed> memory;
  std::vector<ChosenDemonstrations> demonstrations;  ///< none, or one an example
};

class CompressingSession final : public MethodSession {
 public:
  CompressingSession(WritingParts parts, std::shared_ptr<const nn::Adapters> adapters,
                     std::vector<int32_t> opening)
      : parts_(std::move(parts)), adapters_(std::move(adapters)), opening_(std::move(opening)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    auto read = planned(unit);
    if (!read.ok()) return read.error();
    const int64_t begin_ns = monotonic_ns();
    if (Status made = compress(unit, *read); !made.ok()) return made;
    auto inputs = inputs_of(unit, *read);
    if (!inputs.ok()) return inputs.error();
    Phase compress{"compress", monotonic_ns() - begin_ns, 0, compressing_work(*read)};
    std::vector<uint64_t> seeds;
    for (size_t i = 0; i < unit.size(); ++i) {
      const auto ordinal = static_cast<uint64_t>(unit[i].ordinal);
      seeds.push_back(Rng::derived(parts_.seed, parts_.draws, ordinal).next());
      for (const Segment& segment : read->plans[i].segments) {
        compress.tokens += segment.content.count;
      }
    }
    const auto result = parts_.model.generator.generate(*inputs, parts_.model.options, seeds);
    if (!result.ok()) return result.error();
    for (size_t i = 0; i < unit.size(); ++i) {
      sink.emit(unit[i].ordinal, prediction_of(*read, i, result->rows[i]));
    }
    sink.phase(compress);
    decoding::GenerationTimes times = result->times;
    times.first_token_ns += compress.ns;
    prompted::tell_times(times, static_cast<int64_t>(unit.size()), sink);
    return {};
  }

  Result<std::optional<MachineLimits>> measure_limits() override {
    return prompted::measure_limits(parts_.model.generator, parts_.model.runtime);
  }

 private:
  /// How the documents of a unit are read.
  Result<ReadUnit> planned(std::span<const NumberedExample> unit) const {
    ReadUnit read;
    for (const NumberedExample& numbered : unit) {
      if (Status asked = check_query(numbered.example); !asked.ok()) return asked.error();
      auto prompt = prepared(numbered.example);
      if (!prompt.ok()) return prompt.error();
      auto cut = parts_of(prompt->input);
      if (!cut.ok()) return of_example(numbered, cut.error());
      auto plan = parts_.compressor->plan(*cut);
      if (!plan.ok()) return of_example(numbered, plan.error());
      if (!numbered.example.other_document.empty()) {
        const auto other = other_content(numbered.example);
        if (!other.ok()) return of_example(numbered, other.error());
        put_other_memory(*other, *plan, *cut);
      }
      read.prompts.push_back(*std::move(prompt));
      read.parts.push_back(*std::move(cut));
      read.plans.push_back(*std::move(plan));
    }
    return read;
  }

  Status compress(std::span<const NumberedExample> unit, ReadUnit& read) {
    std::vector<CompressionTask> tasks;
    for (size_t i = 0; i < unit.size(); ++i) {
      tasks.push_back({read.parts[i], read.plans[i]});
      if (!parts_.demonstrations) continue;
      auto chosen = parts_.demonstrations->chosen_for(unit[i].example);
      if (!chosen.ok()) return of_example(unit[i], chosen.error());
      read.demonstrations.push_back(*std::move(chosen));
    }
    auto memory = parts_.compressor->compress(tasks);
    if (!memory.ok()) return of_example(unit.front(), memory.error());
    read.memory = *std::move(memory);
    return {};
  }

  /// A prompt that counts what stands between segments as the backbone reads it, too.
  Result<PreparedPrompt> prepared(const Example& example) const {
    const prompted::PromptMaker& maker = parts_.model.prompts.maker;
    auto prompt = maker.prepare_any_length(example);
    if (!parts_.most_tokens) return prompt;
    const int64_t most = *parts_.most_tokens;
    for (int64_t budget = most; prompt.ok() && prompt->input.document.count > most && budget > 1;) {
      budget = std::max<int64_t>(1, budget - (prompt->input.document.count - most));
      prompt = maker.prepare_cut(example, budget);
    }
    return prompt;
  }

  /// Tokens of the document that memory is made of in place of the example's own.
  Result<std::vector<int32_t>> other_content(Example example) const {
    example.document = std::exchange(example.other_document, {});
    const auto prompt = prepared(example);
    if (!prompt.ok()) return prompt.error();
    auto parts = parts_of(prompt->input);
    if (!parts.ok()) return parts.error();
    return std::move(parts->content);
  }

  /// What was read for an example's memory and demonstrations.
  static std::vector<ReadPass> passes_of(const ReadUnit& read, size_t i) {
    std::vector<ReadPass> passes = read.memory[i].passes;
    if (!read.demonstrations.empty()) {
      const std::vector<ReadPass>& shown = read.demonstrations[i].passes;
      passes.insert(passes.end(), shown.begin(), shown.end());
    }
    return passes;
  }

  /// What compressing took; none where the sizes of a model that reads are not known.
  std::optional<Work> compressing_work(const ReadUnit& read) const {
    Work work;
    for (size_t i = 0; i < read.memory.size(); ++i) {
      const auto flops = pass_flops(passes_of(read, i), parts_.model.generator.shape());
      if (!flops) return std::nullopt;
      work.flops += *flops;
    }
    return work;
  }

  /// What the generator reads; `invalid_argument` where it has no room for that.
  Result<std::vector<nn::SequenceInput>> inputs_of(std::span<const NumberedExample> unit,
                                                   ReadUnit& read) const {
    const int64_t context = parts_.model.generator.shape().context;
    std::vector<nn::SequenceInput> inputs;
    for (size_t i = 0; i < unit.size(); ++i) {
      auto pieces = pieces_of(read, i);
      if (!pieces.ok()) return of_example(unit[i], pieces.error());
      nn::SequenceInput& input = read.prompts[i].input;
      input = input_of(*pieces, parts_.compressor->placeholder());
      input.adapters = adapters_;
      const auto length = static_cast<int64_t>(input.ids.size());
      if (length + parts_.model.options.max_new_tokens > context) {
        return of_example(unit[i],
                          invalid_argument(std::to_string(length) +
                                           " positions with memory and the output exceed the "
                                           "backbone's window of " +
                                           std::to_string(context) +
                                           "; raise 'ratio' or lower "
                                           "input_tokens, max_new_tokens or shots"));
      }
      inputs.push_back(input);
    }
    return inputs;
  }

  Result<std::vector<Piece>> pieces_of(const ReadUnit& read, size_t i) const {
    const Compressor& compressor = *parts_.compressor;
    std::span<const Piece> shown;
    if (parts_.demonstrations) shown = read.demonstrations[i].pieces;
    const bool opens = compressor.memory_opens();
    auto pieces = read_pieces(compressor, {read.parts[i], read.plans[i]}, read.memory[i].memory,
                              opens ? shown : std::span<const Piece>());
    if (opens || !parts_.demonstrations) return pieces;
    if (Status put = put_behind_opening(opening_, shown, pieces); !put.ok()) return put.error();
    return pieces;
  }

  Prediction prediction_of(const ReadUnit& read, size_t i,
                           const decoding::Generated& generated) const {
    Prediction prediction = prompted::prediction_of(read.prompts[i], generated);
    const std::vector<Piece>& memory = read.memory[i].memory;
    nlohmann::json facts = facts_of(read.parts[i], read.plans[i], memory);
    if (parts_.demonstrations) add_facts(read.demonstrations[i], facts);
    const std::vector<ReadPass> passes = passes_of(read, i);
    const bool ended = prediction.finish == FinishReason::stop;
    add_operations({.passes = passes,
                    .prompt = prediction.tokens_in,
                    .new_tokens = prediction.tokens_out + (ended ? 1 : 0),
                    .beside_token = parts_.compressor->generator_beside()},
                   parts_.model.generator.shape(), facts);
    prediction.extra = {nlohmann::json{{"compression", std::move(facts)}}.dump()};
    return prediction;
  }

  WritingParts parts_;
  std::shared_ptr<const nn::Adapters> adapters_;
  std::vector<int32_t> opening_;  ///< what demonstrations stand behind
};

}  // namespace

Result<std::unique_ptr<MethodSession>> open_writing(WritingParts parts) {
  const nn::AdapterSet set = parts.compressor->generator_adapters();
  std::shared_ptr<const nn::Adapters> adapters;
  if (!set.linears.empty()) {
    auto bound = parts.model.generator.bind(set);
    if (!bound.ok()) return bound.error();
    adapters = *std::move(bound);
  }
  std::vector<int32_t> opening;
  if (parts.demonstrations && !parts.compressor->memory_opens()) {
    auto known = opening_of(parts.model.prompts);
    if (!known.ok()) return known.error();
    opening = *std::move(known);
  }
  return std::unique_ptr<MethodSession>(std::make_unique<CompressingSession>(
      std::move(parts), std::move(adapters), std::move(opening)));
}

Error of_example(const NumberedExample& numbered, Error error) {
  error.message = "example '" + numbered.example.key + "': " + error.message;
  return error;
}

}  // namespace qfs::compressors
