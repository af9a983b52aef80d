#include "methods/compressors/session_labels.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/clock.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/params.h"
#include "methods/compressors/session_facts.h"
#include "methods/compressors/session_train.h"
#include "methods/compressors/session_writing.h"
#include "methods/models/decoding/generated.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/prompting/truncation.h"

namespace qfs::compressors {

namespace {

/// A template filled with one of the labels.
struct Candidate {
  std::string text;
  nn::SequenceInput input;
  int64_t front = 0;            ///< positions before the text, at least one
  std::vector<bool> of_answer;  ///< of each of its tokens
  Perplexities perplexities = {};
};

class LabelSession final : public MethodSession {
 public:
  LabelSession(LabelParts parts, std::vector<int32_t> opening,
               std::shared_ptr<const nn::Adapters> adapters)
      : parts_(std::move(parts)), opening_(std::move(opening)), adapters_(std::move(adapters)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    const int64_t begin_ns = monotonic_ns();
    std::vector<Candidate> candidates;
    std::vector<ChosenDemonstrations> demonstrations(unit.size());
    for (size_t i = 0; i < unit.size(); ++i) {
      if (Status asked = check_query(unit[i].example); !asked.ok()) return asked.error();
      if (parts_.demonstrations) {
        auto chosen = parts_.demonstrations->chosen_for(unit[i].example);
        if (!chosen.ok()) return of_example(unit[i], chosen.error());
        demonstrations[i] = *std::move(chosen);
      }
      if (Status added = add_candidates(unit[i].example, demonstrations[i], candidates);
          !added.ok()) {
        return of_example(unit[i], added.error());
      }
    }
    const int64_t compressed_ns = monotonic_ns();
    if (Status scored = score(candidates); !scored.ok()) {
      return of_example(unit.front(), scored.error());
    }
    decoding::GenerationTimes times;
    times.prefill_ns = monotonic_ns() - compressed_ns;
    times.first_token_ns = monotonic_ns() - begin_ns;
    const size_t labels = parts_.labels.size();
    Work compressing;
    for (size_t i = 0; i < unit.size(); ++i) {
      const auto own = std::span(candidates).subspan(i * labels, labels);
      const nn::SequenceShape& shape = parts_.reader->shape().sequence;
      times.prefill_work.flops += pass_flops(read_passes(own), shape).value_or(0);
      compressing.flops += pass_flops(demonstrations[i].passes, shape).value_or(0);
      auto prediction = prediction_of(unit[i].example, demonstrations[i], own);
      if (!prediction.ok()) return of_example(unit[i], prediction.error());
      times.prefill_tokens += prediction->tokens_in;
      sink.emit(unit[i].ordinal, *std::move(prediction));
    }
    sink.phase({"compress", compressed_ns - begin_ns, 0, compressing});
    prompted::tell_times(times, static_cast<int64_t>(unit.size()), sink);
    return {};
  }

 private:
  Status add_candidates(const Example& example, const ChosenDemonstrations& demonstrations,
                        std::vector<Candidate>& candidates) const {
    const tokenizers::VocabularyTokenizer& tokenizer = *parts_.prompts.backbone->tokenizer;
    const int64_t context = parts_.reader->shape().sequence.context;
    for (const std::string& label : parts_.labels) {
      const AnsweredText filled = demonstration_text(parts_.text, example, label);
      const std::vector<tokenizers::Token> tokens = tokenizer.encode(filled.text);
      const PromptParts parts{opening_, {}, tokenizers::ids_of(tokens)};
      std::vector<Piece> pieces =
          parts_.compressor->assemble({parts, Plan{}}, demonstrations.pieces);
      // What stands behind the text is not seen by it.
      while (pieces.back().rows.defined()) pieces.pop_back();
      Candidate candidate;
      for (const Piece& piece : pieces) candidate.front += piece.size();
      candidate.front -= static_cast<int64_t>(parts.tail.size());
      if (candidate.front == 0) {
        pieces.insert(pieces.begin(), {{begin_id(*parts_.prompts.backbone)}, {}});
        candidate.front = 1;
      }
      candidate.input = input_of(pieces, 0);
      candidate.input.adapters = adapters_;
      candidate.text = filled.text;
      candidate.of_answer = answer_tokens(tokens, filled.answer);
      const auto length = static_cast<int64_t>(candidate.input.ids.size());
      if (length > context) {
        return invalid_argument(std::to_string(length) +
                                " positions exceed the backbone's window of " +
                                std::to_string(context) +
                                "; nothing is cut with 'labels', fewer 'shots' or a larger "
                                "'ratio' take less");
      }
      candidates.push_back(std::move(candidate));
    }
    return {};
  }

  /// All labels of all examples side by side.
  Status score(std::vector<Candidate>& candidates) const {
    std::vector<nn::SequenceInput> inputs;
    for (const Candidate& candidate : candidates) inputs.push_back(candidate.input);
    const auto states = nn::sequence_states(*parts_.reader, inputs);
    if (!states.ok()) return states.error();
    return nn::guarded("scoring labels", [&]() -> Status {
      const nn::Linear head = nn::unpacked(parts_.reader->head(), parts_.reader->hidden());
      int64_t first = 0;
      for (Candidate& candidate : candidates) {
        const auto count = static_cast<int64_t>(candidate.of_answer.size());
        const std::vector<int64_t> wanted(candidate.input.ids.begin() + candidate.front,
                                          candidate.input.ids.end());
        const auto known = nn::label_log_probabilities(
            head, states->narrow(0, first + candidate.front - 1, count), wanted);
        if (!known.ok()) return known.error();
        const at::Tensor losses = known->neg().to(at::kCPU, at::kDouble).contiguous();
        candidate.perplexities = perplexities(
            {losses.const_data_ptr<double>(), static_cast<size_t>(count)}, candidate.of_answer);
        first += static_cast<int64_t>(candidate.input.ids.size());
      }
      return {};
    });
  }

  /// What scoring them reads.
  std::vector<ReadPass> read_passes(std::span<const Candidate> candidates) const {
    std::vector<ReadPass> passes;
    for (const Candidate& one : candidates) {
      const auto length = static_cast<int64_t>(one.input.ids.size());
      passes.push_back({length, static_cast<int64_t>(one.of_answer.size()),
                        parts_.compressor->generator_beside() * static_cast<double>(length)});
    }
    return passes;
  }

  Result<Prediction> prediction_of(const Example& example,
                                   const ChosenDemonstrations& demonstrations,
                                   std::span<const Candidate> candidates) const {
    const auto document = prompting::truncate_document(example, *parts_.prompts.counter, {},
                                                       prompting::TruncationPolicy::head);
    if (!document.ok()) return document.error();
    const auto least = [&](double Perplexities::*value) {
      const auto smaller = [&](const Candidate& a, const Candidate& b) {
        return a.perplexities.*value < b.perplexities.*value;
      };
      return static_cast<size_t>(std::ranges::min_element(candidates, smaller) -
                                 candidates.begin());
    };
    const size_t by_label = least(&Perplexities::label);
    const size_t by_full = least(&Perplexities::full);
    const size_t best = parts_.full ? by_full : by_label;
    Prediction prediction;
    prediction.text = parts_.labels[best];
    prediction.prompt = candidates[best].text;
    prediction.truncation = document->ledger;
    nlohmann::json choices = nlohmann::json::array();
    std::vector<ReadPass> passes = demonstrations.passes;
    for (const ReadPass& pass : read_passes(candidates)) {
      prediction.tokens_in += pass.tokens;
      passes.push_back(pass);
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& one = candidates[i];
      choices.push_back({{"answer", parts_.labels[i]},
                         {"label", one.perplexities.label},
                         {"full", one.perplexities.full}});
    }
    nlohmann::json facts = {{"choices", std::move(choices)},
                            {"by_label", parts_.labels[by_label]},
                            {"by_full", parts_.labels[by_full]}};
    if (parts_.demonstrations) add_facts(demonstrations, facts);
    add_operations({.passes = passes}, parts_.reader->shape().sequence, facts);
    prediction.extra = {nlohmann::json{{"compression", std::move(facts)}}.dump()};
    return prediction;
  }

  LabelParts parts_;
  std::vector<int32_t> opening_;
  std::shared_ptr<const nn::Adapters> adapters_;
};

}  // namespace

Result<std::unique_ptr<MethodSession>> open_labels(LabelParts parts) {
  auto opening = opening_of(parts.prompts);
  if (!opening.ok()) return opening.error();
  std::shared_ptr<const nn::Adapters> adapters;
  if (const nn::AdapterSet set = parts.compressor->generator_adapters(); !set.linears.empty()) {
    auto bound = nn::bind_adapters(set, *parts.reader);
    if (!bound.ok()) return bound.error();
    adapters = *std::move(bound);
  }
  return std::unique_ptr<MethodSession>(
      std::make_unique<LabelSession>(std::move(parts), *std::move(opening), std::move(adapters)));
}

}  // namespace qfs::compressors
