#include "methods/models/decoding/chosen_decoding.h"

#include <algorithm>
#include <string>
#include <utility>

#include "methods/models/decoding/decoding_params.h"

namespace qfs::decoding {

namespace {

using architectures::PublishedDecoding;
using nn::SequenceShape;

constexpr int64_t kReferenceTopK = 50;  // of generate(), where no file and no caller says another

template <class T>
void replace(const Params& params, const char* name, std::optional<T>& value) {
  if (auto given = params.find<T>(name)) value = *std::move(given);
}

/// The publisher's settings, or none, with what was given in their places.
PublishedDecoding settings_of(const Params& params, PublishedDecoding settings) {
  replace(params, "temperature", settings.temperature);
  replace(params, "top_k", settings.top_k);
  replace(params, "top_p", settings.top_p);
  replace(params, "num_beams", settings.num_beams);
  replace(params, "length_penalty", settings.length_penalty);
  replace(params, "early_stopping", settings.early_stopping);
  replace(params, "min_new_tokens", settings.min_new_tokens);
  replace(params, "no_repeat_ngram", settings.no_repeat_ngram);
  replace(params, "repetition_penalty", settings.repetition_penalty);
  replace(params, "min_length", settings.min_length);
  if (params.has("min_length")) settings.min_new_tokens.reset();
  settings.sample = settings.sample || params.has("temperature");
  return settings;
}

Error uncomputed(const std::string& place) {
  return unavailable(
      "the publisher's setting '" + place.substr(place.rfind('/') + 1) + "' (" + place +
      ") is not computed by this program; leave out \"decoding\": \"checkpoint\" and "
      "give what you want of the others");
}

/// Whether the publisher's settings, with the parameters in their places, go together.
Status check_published(const Params& params, const PublishedDecoding& settings) {
  if (!settings.status.ok()) return settings.status;
  if (settings.uncomputed) return uncomputed(*settings.uncomputed);
  if (settings.sample && settings.uncomputed_draw) return uncomputed(*settings.uncomputed_draw);
  if (settings.sample && settings.temperature.value_or(1) <= 0) {
    return data_error("the publisher's setting 'temperature' is not above 0 and tokens are drawn");
  }
  if (settings.repetition_penalty.value_or(1) <= 0) {
    return data_error("the publisher's setting 'repetition_penalty' is not above 0");
  }
  const int64_t beams = settings.num_beams.value_or(1);
  if (settings.sample && beams > 1) {
    const std::string searches = std::to_string(beams) + " beams";
    if (params.has("temperature")) {
      return invalid_argument(
          "'temperature' draws tokens and the checkpoint's settings search with " + searches +
          "; give \"num_beams\": 1 too");
    }
    return unavailable("the publisher's setting 'do_sample' (" + settings.source +
                       "#/do_sample) draws tokens, which with " + searches +
                       " is not computed by this program; leave out \"decoding\": \"checkpoint\"");
  }
  const std::string drawing = first_given(params, drawing_params());
  if (!drawing.empty() && !settings.sample) {
    return invalid_argument("'" + drawing +
                            "' needs 'temperature'; the checkpoint's settings take the most "
                            "probable token");
  }
  const std::string searching = first_given(params, searching_params());
  if (!searching.empty() && beams < 2) {
    return invalid_argument("'" + searching +
                            "' needs 'num_beams' from 2; the checkpoint's settings have no beams");
  }
  return {};
}

SamplingOptions sampling_of(const Params& params, const PublishedDecoding& settings,
                            int64_t default_top_k) {
  SamplingOptions sampling;
  sampling.temperature = settings.temperature.value_or(1.0);
  sampling.top_k = settings.top_k.value_or(default_top_k);
  sampling.top_p = settings.top_p.value_or(1.0);
  const bool exceeds = params.find<std::string>("nucleus") == "exceeds";
  sampling.nucleus = exceeds ? NucleusRule::exceeds : NucleusRule::reaches;
  return sampling;
}

BeamOptions beams_of(const Params& params, const PublishedDecoding& settings) {
  BeamOptions beams;
  beams.count = *settings.num_beams;
  beams.length_penalty = settings.length_penalty.value_or(1.0);
  beams.early_stopping = early_stopping_named(settings.early_stopping.value_or("no"));
  const bool scorer = params.find<std::string>("beam_rules") == "scorer";
  beams.rules = scorer ? BeamRules::scorer : BeamRules::vectorized;
  return beams;
}

/// `min_length` counts what a decoder begins with; for a decoder-only model that is its prompt.
Result<int64_t> shortest_output(const Params& params, const PublishedDecoding& settings,
                                const SequenceShape& shape) {
  if (settings.min_new_tokens || settings.min_length.value_or(0) == 0) {
    return settings.min_new_tokens.value_or(0);
  }
  if (!shape.encoder_decoder() && params.has("min_length")) {
    return invalid_argument(
        "'min_length' counts the prompt of a decoder-only model; give 'min_new_tokens'");
  }
  if (!shape.encoder_decoder()) {
    return unavailable(
        "the publisher's setting 'min_length' counts the prompt, which is not computed by this "
        "program; give 'min_new_tokens'");
  }
  const auto begun = static_cast<int64_t>(shape.decoder_start.size());
  return std::max<int64_t>(*settings.min_length - begun, 0);
}

}  // namespace

Result<DecodingOptions> chosen_decoding(const Params& params,
                                        const architectures::GenerationDefaults& defaults,
                                        const SequenceShape& shape) {
  const bool published = params.find<std::string>("decoding") == "checkpoint";
  const PublishedDecoding settings =
      settings_of(params, published ? defaults.published : PublishedDecoding());
  if (published) {
    if (Status status = check_published(params, settings); !status.ok()) return status.error();
  }
  const Result<int64_t> shortest = shortest_output(params, settings, shape);
  if (!shortest.ok()) return shortest.error();
  DecodingOptions options;
  options.stop_ids = defaults.end_ids;
  if (shape.encoder_decoder()) {
    options.forced_first = defaults.forced_first;
    options.forced_last = defaults.forced_last;
  }
  options.min_new_tokens = *shortest;
  options.no_repeat_ngram = settings.no_repeat_ngram.value_or(0);
  options.repetition_penalty = settings.repetition_penalty.value_or(1);
  if (settings.num_beams.value_or(1) > 1) {
    options.beams = beams_of(params, settings);
  } else if (settings.sample) {
    options.sampling = sampling_of(params, settings, published ? kReferenceTopK : 0);
  }
  return options;
}

}  // namespace qfs::decoding
