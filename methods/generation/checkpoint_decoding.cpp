#include "methods/generation/checkpoint_decoding.h"

#include <algorithm>

#include "methods/generation/decoding_params.h"

namespace qfs::generation {

using backbones::GenerationDefaults;
using backbones::SequenceShape;

DecodingOptions required_decoding(const GenerationDefaults& defaults, const SequenceShape& shape) {
  DecodingOptions options;
  options.stop_ids = defaults.end_ids;
  if (!shape.encoder_decoder()) return options;
  options.forced_first = defaults.forced_first;
  options.forced_last = defaults.forced_last;
  return options;
}

Result<DecodingOptions> published_decoding(const GenerationDefaults& defaults,
                                           const SequenceShape& shape) {
  if (defaults.uncomputed) {
    const std::string& place = *defaults.uncomputed;
    return unavailable("the publisher's setting '" + place.substr(place.rfind('/') + 1) + "' (" +
                       place +
                       ") is not computed by this program; leave out "
                       "\"decoding\": \"checkpoint\" and give what you want of the others");
  }
  DecodingOptions options = required_decoding(defaults, shape);
  options.no_repeat_ngram = defaults.no_repeat_ngram.value_or(0);
  options.min_new_tokens = defaults.min_new_tokens.value_or(0);
  if (defaults.min_length && shape.encoder_decoder()) {
    const auto begun = static_cast<int64_t>(shape.decoder_start.size());
    options.min_new_tokens = std::max<int64_t>(*defaults.min_length - begun, 0);
  }
  if (defaults.num_beams.value_or(1) > 1) {
    BeamOptions beams;
    beams.count = *defaults.num_beams;
    beams.length_penalty = defaults.length_penalty.value_or(1.0);
    beams.early_stopping = early_stopping_named(defaults.early_stopping.value_or("no"));
    options.beams = beams;
  } else if (defaults.sample) {
    SamplingOptions sampling;
    sampling.temperature = defaults.temperature.value_or(1.0);
    sampling.top_k = defaults.top_k.value_or(50);  // the reference's default
    sampling.top_p = defaults.top_p.value_or(1.0);
    options.sampling = sampling;
  }
  return options;
}

}  // namespace qfs::generation
