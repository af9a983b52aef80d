#include "methods/models/decoding/decoding_params.h"

#include <string>
#include <utility>

#include "harness/api/param_specs.h"

namespace qfs::decoding {

std::vector<ParamSpec> decoding_params() {
  constexpr double kMany = 1 << 20;
  const std::string hf = "transformers 5.23 generate()";
  return {
      from_source(
          real_param("temperature", "", 1e-3, 100,
                     "Tokens are drawn from softmax(logits / temperature); left out: the most "
                     "probable one"),
          hf),
      from_source(
          integer_param("top_k", "", 0, kMany, "Only the k most probable tokens are drawn; 0: all"),
          hf),
      from_source(
          real_param("top_p", "", 1e-6, 1,
                     "Only the most probable tokens that have this mass together are drawn"),
          "Holtzman et al. 2020"),
      from_source(
          choice_param("nucleus", {"reaches", "exceeds"},
                       "A token is out when the mass before it reaches top_p, or only when it "
                       "exceeds it"),
          "transformers 5.23; Meta's LLaMA code and IDEAL's release"),
      from_source(integer_param("num_beams", "", 1, 64, "Width of the beam search; 1: none"), hf),
      from_source(real_param("length_penalty", "", -100, 100,
                             "A hypothesis scores its log-probability over length^penalty"),
                  hf),
      from_source(
          choice_param("early_stopping", {"yes", "no", "never"},
                       "Beam search ends when num_beams hypotheses are finished, or when none "
                       "can get better"),
          hf),
      from_source(
          choice_param("beam_rules", {"vectorized", "scorer"},
                       "Beam search of transformers 5, or that of versions up to 4.35, whose "
                       "lengths count the first token and not the end"),
          "transformers 5.23 and 4.30"),
      from_source(
          integer_param("min_new_tokens", "", 0, kMany, "No end token before so many others"), hf),
      from_source(integer_param("min_length", "", 0, kMany,
                                "As min_new_tokens, but counts what the decoder begins with too; "
                                "encoder-decoders only"),
                  hf),
      from_source(
          integer_param("no_repeat_ngram", "", 0, 1000,
                        "No n-gram of tokens occurs twice in the prompt or decoder's sequence; "
                        "0: any may"),
          hf),
      from_source(real_param("repetition_penalty", "", 1e-3, 100,
                             "Divides positive scores of tokens that the prompt or decoder's "
                             "sequence has, and multiplies negative ones"),
                  hf),
  };
}

ForeignNames foreign_decoding() {
  static constexpr std::string_view kUncomputed = "this program does not compute it";
  static constexpr std::string_view kCuts =
      "this program does not compute it; 'top_k' and 'top_p' cut the distribution";
  static constexpr std::string_view kCheckpoint = "it is read from the checkpoint's own files";
  static constexpr ForeignName kNames[] = {
      {"no_repeat_ngram_size", "no_repeat_ngram", ""},
      {"do_sample", "temperature",
       "tokens are drawn where 'temperature' is given (1 leaves the probabilities as they are)"},
      {"max_length", "min_new_tokens",
       "it counts the prompt too; 'max_new_tokens' counts the output alone"},
      {"max_time", "min_new_tokens", kUncomputed},
      {"stop_strings", "min_new_tokens", "it is a list; 'stop' takes one text"},
      {"eos_token_id", "min_new_tokens", kCheckpoint},
      {"forced_bos_token_id", "min_new_tokens", kCheckpoint},
      {"forced_eos_token_id", "min_new_tokens", kCheckpoint},
      {"typical_p", "top_p", kCuts},
      {"min_p", "top_p", kCuts},
      {"top_h", "top_p", kCuts},
      {"epsilon_cutoff", "top_p", kCuts},
      {"eta_cutoff", "top_p", kCuts},
      {"num_return_sequences", "num_beams", "an example has one output; 'seeds' give more"},
      {"num_beam_groups", "num_beams", kUncomputed},
      {"diversity_penalty", "num_beams", kUncomputed},
      {"penalty_alpha", "top_k", kUncomputed},
      {"guidance_scale", "temperature", kUncomputed},
      {"renormalize_logits", "num_beams", kUncomputed},
      {"encoder_repetition_penalty", "repetition_penalty",
       "this program does not compute it; 'repetition_penalty' is about the decoder's sequence"},
      {"encoder_no_repeat_ngram_size", "no_repeat_ngram",
       "this program does not compute it; 'no_repeat_ngram' is about the decoder's sequence"},
      {"bad_words_ids", "no_repeat_ngram", kUncomputed},
      {"force_words_ids", "no_repeat_ngram", kUncomputed},
      {"suppress_tokens", "no_repeat_ngram", kUncomputed},
      {"sequence_bias", "no_repeat_ngram", kUncomputed},
      {"exponential_decay_length_penalty", "length_penalty", kUncomputed},
  };
  static constexpr ForeignValue kValues[] = {{"early_stopping", "true", "yes"},
                                             {"early_stopping", "false", "no"}};
  return {kNames, kValues};
}

std::span<const char* const> drawing_params() {
  static constexpr const char* kNames[] = {"top_k", "top_p", "nucleus"};
  return kNames;
}

std::span<const char* const> searching_params() {
  static constexpr const char* kNames[] = {"length_penalty", "early_stopping", "beam_rules"};
  return kNames;
}

std::string first_given(const Params& params, std::span<const char* const> names) {
  for (const char* name : names) {
    if (params.has(name)) return name;
  }
  return "";
}

bool may_draw(const Params& params) {
  return params.has("temperature") || params.find<std::string>("decoding") == "checkpoint";
}

EarlyStopping early_stopping_named(std::string_view name) {
  if (name == "yes") return EarlyStopping::yes;
  return name == "never" ? EarlyStopping::never : EarlyStopping::no;
}

Status check_decoding(const Params& params) {
  const bool published = params.find<std::string>("decoding") == "checkpoint";
  const std::string drawing = first_given(params, drawing_params());
  if (!drawing.empty() && !published && !params.has("temperature")) {
    return invalid_argument("'" + drawing +
                            "' needs 'temperature'; without it the most probable token is taken");
  }
  const std::string searching = first_given(params, searching_params());
  const int64_t beams = params.find<int64_t>("num_beams").value_or(1);
  if (!searching.empty() && beams < 2 && !(published && !params.has("num_beams"))) {
    return invalid_argument("'" + searching + "' needs 'num_beams' from 2");
  }
  if (beams > 1 && params.has("temperature")) {
    return invalid_argument(
        "'temperature' draws tokens and 'num_beams' searches; give one of them");
  }
  const auto minimum = params.find<int64_t>("min_new_tokens");
  const auto maximum = params.find<int64_t>("max_new_tokens");
  if (minimum && maximum && *minimum > *maximum) {
    return invalid_argument("'min_new_tokens' is above 'max_new_tokens'");
  }
  if (minimum && params.has("min_length")) {
    return invalid_argument("'min_new_tokens' and 'min_length' mean the same end; give one");
  }
  return {};
}

}  // namespace qfs::decoding
