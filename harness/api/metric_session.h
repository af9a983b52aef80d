// MetricSession: a metric that needs tensors, computed in a host over the session protocol: the
// distinct texts of a corpus first, then which of them are compared.
//
// Implemented beside the encoder (harness/apps), opened by the host's loop from the list that its
// application gives it, fed by the driver's run::HostedMetric. Sessions are not thread-safe. An
// error leaves a session in a state in which it is only destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/metric.h"
#include "harness/api/resource_cache.h"
#include "harness/api/result.h"

namespace qfs {

/// A text, and how many references of the corpus it is (0: only a candidate).
struct CorpusText {
  std::string text;
  int64_t reference_uses = 0;

  friend bool operator==(const CorpusText&, const CorpusText&) = default;
};

/// An item of a corpus by the numbers of its texts, counted from 0 in the order they were added.
struct TextPairs {
  int64_t ordinal = 0;
  int64_t candidate = 0;
  std::vector<int64_t> references;

  friend bool operator==(const TextPairs&, const TextPairs&) = default;
};

/// What the reader of a score has to know about added texts; places in the call's list.
struct AddedTexts {
  std::vector<int64_t> truncated;  ///< longer than the encoder reads
  std::vector<int64_t> empty;      ///< without a token

  friend bool operator==(const AddedTexts&, const AddedTexts&) = default;
};

class MetricSession {
 public:
  virtual ~MetricSession() = default;
  /// Names of the values of an item, as the driver knows them.
  virtual std::vector<std::string> columns() const = 0;
  /// Forgets the texts; what was computed for them may stay for texts that come again.
  virtual void begin_corpus() = 0;
  virtual Result<AddedTexts> add_texts(std::span<const CorpusText> texts) = 0;
  /// One row an item, after all texts of the corpus were added. `invalid_argument`: a number that
  /// no text has, an item without references.
  virtual Result<std::vector<Statistics>> score(std::span<const TextPairs> items) = 0;
};

/// Opens sessions of one metric.
struct MetricSessionFactory {
  std::string_view metric;
  /// Weights are taken from `cache`, which outlives the session.
  Result<std::unique_ptr<MetricSession>> (*open)(const SessionRequest& request,
                                                 ResourceCache& cache) = nullptr;
};

}  // namespace qfs
