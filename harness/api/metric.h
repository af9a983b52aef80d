// Metric: a measure over stored predictions. One `measure` call sees the whole corpus, so that
// corpus statistics and shared encodings are possible; per-item sufficient statistics are stored,
// and every aggregate, interval and test is computed from them without the texts.
//
// Metrics are stateless and thread-safe. A text that cannot be scored is an error, never a 0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs {

struct ScoreItem {
  int64_t id = 0;       ///< ordinal in its data set
  std::string group;    ///< rows of one question
  std::string cluster;  ///< document id: the unit of resampling
  std::string candidate;
  std::vector<std::string> references;
  std::optional<std::string> document;
  std::optional<std::string> query;
  std::string language;
};

struct MetricNeeds {
  bool references = true;
  bool document = false;
  bool query = false;
  bool encoder = false;
  bool corpus = false;  ///< one measure() call must see all items; otherwise batches give the same
};

/// Values of one item, in the order of Metric::columns().
using Statistics = std::vector<double>;

/// One aggregated column, in 0..1 for F measures (tables multiply by 100).
struct Score {
  std::string name;  ///< a column name, e.g. "rouge1.f"
  double value = 0;
};

/// Which values of a column are better.
enum class Better {
  unknown,  ///< the program does not say: a metric of somebody else's
  higher,
  lower,
  neither,  ///< a description: a length, a copying rate
};

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string_view name() const = 0;  ///< as in a sweep's "metrics", e.g. "rouge"
  virtual std::string_view doc() const = 0;
  /// Names of the statistics of an item, e.g. {"rouge1.p", "rouge1.r", "rouge1.f", …}.
  virtual std::vector<std::string> columns() const = 0;
  /// Every option that can change a digit, as `key:value|…`; part of score_id.
  virtual std::string signature() const = 0;
  virtual MetricNeeds needs() const = 0;
  /// The default: shares (is_share) are better when higher, of others nothing is known.
  virtual Better better(std::string_view column) const;
  virtual Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const = 0;
  /// What a reader of this item's score has to know, e.g. that the tokenizer drops most of the text
  /// and which metric does not: one fixed sentence a cause, because a scoring job says each once,
  /// with the number of items. Empty (the default): nothing. Changes no number and no id.
  virtual std::string_view note(const ScoreItem& item) const;
  /// The tool whose digits these are and the signature that it would print for this many references
  /// an item; empty where no tool has one.
  virtual std::string_view tool() const { return {}; }
  virtual std::string tool_signature(size_t fewest_references, size_t most_references) const;
  /// Turns the means of the columns into their corpus values, in place; the default leaves them. A
  /// geometric mean, or a ratio of counts, is computed here, so that intervals can resample means.
  virtual void values_from_means(std::span<double> means) const;
  /// The corpus value per column. Default: values_from_means of plain means, summed in item order.
  /// A metric that overrides it gives another estimate of the same value (the median of resamples).
  virtual std::vector<Score> aggregate(std::span<const Statistics> items) const;
};

struct MetricInfo;  ///< harness/api/metric_entry.h

class MetricCatalog {
 public:
  virtual ~MetricCatalog() = default;
  /// All metrics with aliases and options.
  virtual std::vector<MetricInfo> list() const = 0;
  /// The metric with this name (with options after ':', e.g. "rouge:stem=off"); `not_found` names
  /// the nearest one.
  virtual Result<std::shared_ptr<const Metric>> make(std::string_view name) const = 0;
};

}  // namespace qfs
