#include "harness/run/hosted_metric.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/core/utf8.h"

namespace qfs::run {
namespace {

constexpr std::chrono::seconds kOpenTimeout{600};
constexpr std::chrono::seconds kNoTimeout{0};
constexpr size_t kTextBytes = size_t{8} << 20;
constexpr size_t kPairsAtOnce = size_t{1} << 14;

/// A corpus by its distinct texts.
struct NumberedCorpus {
  std::vector<std::string_view> texts;
  std::vector<int64_t> reference_uses;
  std::vector<TextPairs> items;  ///< with their places as ordinals
};

NumberedCorpus numbered(std::span<const ScoreItem> items) {
  NumberedCorpus corpus;
  std::unordered_map<std::string_view, int64_t> numbers;
  const auto number_of = [&](const std::string& text) {
    const auto [place, added] =
        numbers.try_emplace(text, static_cast<int64_t>(corpus.texts.size()));
    if (added) {
      corpus.texts.push_back(text);
      corpus.reference_uses.push_back(0);
    }
    return place->second;
  };
  for (const ScoreItem& item : items) {
    TextPairs& pairs = corpus.items.emplace_back();
    pairs.ordinal = static_cast<int64_t>(corpus.items.size()) - 1;
    pairs.candidate = number_of(item.candidate);
    for (const std::string& reference : item.references) {
      pairs.references.push_back(number_of(reference));
      ++corpus.reference_uses[static_cast<size_t>(pairs.references.back())];
    }
  }
  return corpus;
}

Status check_item(const ScoreItem& item, const std::string& metric) {
  const std::string where = "item " + std::to_string(item.id);
  if (item.references.empty()) return invalid_argument(metric + " needs references", where);
  const auto well_formed = [](const std::string& text) { return !first_ill_formed_utf8(text); };
  if (!well_formed(item.candidate)) return data_error("the candidate is not UTF-8", where);
  if (!std::ranges::all_of(item.references, well_formed)) {
    return data_error("a reference is not UTF-8", where);
  }
  return {};
}

class HostedMetric final : public Metric {
 public:
  explicit HostedMetric(HostedMetricSettings settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return settings_.name; }
  std::string_view doc() const override { return settings_.doc; }
  std::vector<std::string> columns() const override { return settings_.columns; }
  std::string signature() const override { return settings_.signature; }
  MetricNeeds needs() const override { return {.corpus = true}; }
  std::string_view tool() const override { return settings_.tool; }
  std::string tool_signature(size_t, size_t) const override { return settings_.tool_signature; }

  std::string_view note(const ScoreItem& item) const override {
    const std::lock_guard lock(mutex_);
    const auto in = [&](const std::unordered_set<std::string>& texts) {
      return texts.contains(item.candidate) ||
             std::ranges::any_of(item.references,
                                 [&](const std::string& text) { return texts.contains(text); });
    };
    if (in(truncated_)) {
      return "a text is longer than the encoder reads, and its end is not scored";
    }
    if (in(empty_)) return "a text without a token scores 0, before any rescaling";
    return {};
  }

  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    for (const ScoreItem& item : items) {
      if (Status sound = check_item(item, settings_.name); !sound) return sound.error();
    }
    const std::lock_guard lock(mutex_);
    Result<std::vector<Statistics>> rows = measured(items);
    if (rows) return rows;
    client_.reset();
    Error error = rows.error();
    error.message += " (qfs-host's output is in " + settings_.log + ")";
    return error;
  }

 private:
  Result<std::vector<Statistics>> measured(std::span<const ScoreItem> items) const {
    if (items.empty()) return std::vector<Statistics>();
    if (Status open = ensure_open(); !open) return open.error();
    const NumberedCorpus corpus = numbered(items);
    if (Status sent = send_texts(corpus); !sent) return sent.error();
    std::vector<Statistics> rows;
    const size_t at_once = settings_.pairs_at_once ? corpus.items.size() : kPairsAtOnce;
    while (rows.size() < corpus.items.size()) {
      host::PairsRequest request;
      const auto begin = corpus.items.begin() + static_cast<std::ptrdiff_t>(rows.size());
      const size_t count = std::min(at_once, corpus.items.size() - rows.size());
      request.items.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      std::vector<host::ScoreReply> replies;
      if (auto failure = client_->score(request, kNoTimeout, replies)) return failure->error;
      for (const host::ScoreReply& reply : replies) {
        Result<Statistics> row = row_of(reply);
        if (!row) return row.error();
        rows.push_back(*std::move(row));
      }
    }
    return rows;
  }

  Status ensure_open() const {
    if (client_) return {};
    Result<host::HostClient> started = settings_.start();
    if (!started) return started.error();
    client_.emplace(*std::move(started));
    if (auto failure = client_->open(settings_.open, kOpenTimeout)) return failure->error;
    return {};
  }

  Status send_texts(const NumberedCorpus& corpus) const {
    truncated_.clear();
    empty_.clear();
    for (size_t first = 0; first < corpus.texts.size();) {
      host::TextsRequest request;
      request.begin = first == 0;
      size_t bytes = 0;
      for (size_t i = first; i < corpus.texts.size() && bytes < kTextBytes; ++i) {
        request.texts.push_back({std::string(corpus.texts[i]), corpus.reference_uses[i]});
        bytes += corpus.texts[i].size();
      }
      AddedTexts added;
      if (auto failure = client_->add_texts(request, kNoTimeout, added)) return failure->error;
      for (const int64_t place : added.truncated) {
        truncated_.emplace(request.texts[static_cast<size_t>(place)].text);
      }
      for (const int64_t place : added.empty) {
        empty_.emplace(request.texts[static_cast<size_t>(place)].text);
      }
      first += request.texts.size();
    }
    return {};
  }

  Result<Statistics> row_of(const host::ScoreReply& reply) const {
    Statistics row;
    for (const std::string& column : settings_.columns) {
      const auto value = reply.values.find(column);
      if (value == reply.values.end() || !std::isfinite(value->second)) {
        return internal_error("qfs-host gave no finite " + column);
      }
      row.push_back(value->second);
    }
    return row;
  }

  HostedMetricSettings settings_;
  mutable std::mutex mutex_;
  mutable std::optional<host::HostClient> client_;
  mutable std::unordered_set<std::string> truncated_;  ///< texts of the last corpus
  mutable std::unordered_set<std::string> empty_;
};

}  // namespace

std::shared_ptr<const Metric> make_hosted_metric(HostedMetricSettings settings) {
  return std::make_shared<HostedMetric>(std::move(settings));
}

}  // namespace qfs::run
