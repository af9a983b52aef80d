// How compound values lie in columns: short JSON texts, written and read without loss.
//
// Used by Store and Reader. Reading is strict: std::nullopt for anything that writing cannot have
// produced, which the caller reports as damage. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/example.h"
#include "harness/api/metric.h"
#include "harness/api/prediction.h"

namespace qfs::store {

/// "[1,2,3]"
std::string encode_integers(std::span<const int64_t> values);
std::optional<std::vector<int64_t>> decode_integers(std::string_view text);

/// "[0.5,1,0.30000000000000004]": shortest forms that read back to the same bits; finite values
/// only.
std::string encode_reals(std::span<const double> values);
std::optional<std::vector<double>> decode_reals(std::string_view text);

std::string encode_strings(std::span<const std::string> values);
std::optional<std::vector<std::string>> decode_strings(std::string_view text);

std::string encode_truncation(const Truncation& truncation);
std::optional<Truncation> decode_truncation(std::string_view text);

/// A document as text, one per distinct document: [["text","speaker"],["text"],…].
std::string encode_document(std::span<const Segment> document);
std::optional<std::vector<Segment>> decode_document(std::string_view text);

/// [[first,last],…]
std::string encode_evidence(std::span<const SegmentSpan> evidence);
std::optional<std::vector<SegmentSpan>> decode_evidence(std::string_view text);

std::string encode_manifest(const DatasetManifest& manifest);
std::optional<DatasetManifest> decode_manifest(std::string_view text);

/// What output_digest hashes besides texts; `prompt_sha256` is empty where there is no prompt.
struct OutputFacts {
  std::string text_sha256;
  std::string prompt_sha256;
  std::string truncation;  ///< encode_truncation's text, or empty
};
std::string output_digest(const Prediction& prediction, const OutputFacts& facts);

}  // namespace qfs::store
