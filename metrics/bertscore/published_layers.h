// The layer that bert_score 0.3.13 takes of a published model.
//
// Called by read_bertscore_settings. Pure; thread-safe. Source: utils.py `model2layers`, the models
// of architectures that this program encodes with; `minilm` has no entry there and takes its last.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace qfs::metrics {

/// `model`: a registered name, "hf:org/name" or "hf:org/name@revision"; nothing for any other.
std::optional<int64_t> published_layer(std::string_view model);

}  // namespace qfs::metrics
