#include "harness/run/external_metric.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "harness/api/metric_entry.h"
#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "harness/host/client.h"
#include "harness/plan/identity.h"
#include "harness/run/launcher.h"

namespace qfs::run {
namespace {

constexpr size_t kBatchItems = 64;
constexpr size_t kBatchBytes = size_t{8} << 20;

size_t bytes_of(const ScoreItem& item) {
  size_t bytes = item.candidate.size();
  for (const std::string& reference : item.references) bytes += reference.size();
  if (item.document) bytes += item.document->size();
  if (item.query) bytes += item.query->size();
  return bytes;
}

/// What the program is, and how it is started.
struct Program {
  std::string name;  ///< as declared in the sweep
  ChildOptions child;
  int64_t memory_bytes = 0;
  std::chrono::seconds open_timeout{0};
  std::chrono::seconds batch_timeout{0};

  Result<host::HostClient> start() const {
    return host::HostClient::start(child, {.memory_bytes = memory_bytes});
  }

  Error explained(Error error) const {
    error.message = "external metric '" + name + "': " + error.message + " (its output is in " +
                    child.log_path + ")";
    // A program reports what it did not foresee as internal: its own defect, not ours.
    if (error.kind == ErrorKind::internal) error.kind = ErrorKind::data;
    return error;
  }
};

class ExternalMetric final : public Metric {
 public:
  ExternalMetric(Program program, host::Description description, std::string signature)
      : program_(std::move(program)),
        description_(std::move(description)),
        signature_(std::move(signature)) {}

  std::string_view name() const override { return program_.name; }
  std::string_view doc() const override { return description_.doc; }
  std::vector<std::string> columns() const override { return description_.metric->columns; }
  std::string signature() const override { return signature_; }
  MetricNeeds needs() const override { return description_.metric->needs; }

  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    const std::lock_guard lock(mutex_);
    std::vector<Statistics> rows;
    while (rows.size() < items.size()) {
      size_t count = 0;
      size_t bytes = 0;
      for (const ScoreItem& item : items.subspan(rows.size())) {
        bytes += bytes_of(item);
        if (count > 0 && (count == kBatchItems || bytes > kBatchBytes)) break;
        ++count;
      }
      Result<std::vector<Statistics>> batch = batch_rows(items.subspan(rows.size(), count));
      if (!batch) return program_.explained(batch.error());
      std::ranges::move(*batch, std::back_inserter(rows));
    }
    return rows;
  }

 private:
  /// A failure ends the program; the next measurement starts another one.
  Result<std::vector<Statistics>> batch_rows(std::span<const ScoreItem> items) const {
    if (Status open = ensure_open(); !open) return open.error();
    host::ScoreRequest request;
    request.items.assign(items.begin(), items.end());
    request.needs = needs();
    std::vector<host::ScoreReply> replies;
    if (auto failure = client_->score(request, program_.batch_timeout, replies)) {
      client_.reset();
      return failure->error;
    }
    const std::vector<std::string> names = columns();
    std::vector<Statistics> rows;
    for (const host::ScoreReply& reply : replies) {
      Statistics& row = rows.emplace_back();
      for (const std::string& column : names) {
        const auto value = reply.values.find(column);
        if (value == reply.values.end() || reply.values.size() != names.size() ||
            !std::isfinite(value->second)) {
          client_.reset();
          return data_error("the values of item " + std::to_string(reply.ordinal) +
                            " are not one finite number for each declared column");
        }
        row.push_back(value->second);
      }
    }
    return rows;
  }

  Status ensure_open() const {
    if (client_) return {};
    Result<host::HostClient> started = program_.start();
    if (!started) return started.error();
    client_.emplace(*std::move(started));
    host::OpenRequest open;
    open.method = description_.name;
    if (auto failure = client_->open(open, program_.open_timeout)) {
      client_.reset();
      return failure->error;
    }
    return {};
  }

  Program program_;
  host::Description description_;
  std::string signature_;
  mutable std::mutex mutex_;
  mutable std::optional<host::HostClient> client_;
};

/// One digest of the names and contents of the files.
Result<std::string> fingerprint_digest(const ExternalCommand& command) {
  const auto files = plan::fingerprint_files(command);
  if (!files) return files.error();
  std::string text;
  for (const plan::FingerprintFile& file : *files) text += file.name + '\0' + file.sha256 + '\n';
  return sha256_hex(text);
}

}  // namespace

Result<std::shared_ptr<const Metric>> make_external_metric(const ExternalMetricEntry& entry,
                                                           const HostLimits& limits) {
  const Result<std::string> digest = fingerprint_digest(entry.external);
  if (!digest) return digest.error();
  Program program;
  program.name = entry.name;
  program.child = external_child(entry.external);
  program.memory_bytes = limits.memory_bytes;
  program.open_timeout = std::chrono::seconds(limits.open_seconds);
  program.batch_timeout = std::chrono::seconds(entry.timeout_seconds);
  const Result<std::string> log_folder = shared_log_folder();
  if (!log_folder) return log_folder.error();
  program.child.log_path = *log_folder + "/metric-" + entry.name + ".log";

  host::Description description;
  const auto failure = host::ask_fresh_host(
      [&] { return program.start(); },
      [&](host::HostClient& client) { return client.describe(program.open_timeout, description); });
  if (failure) return program.explained(failure->error);
  if (!description.metric) {
    return program.explained(data_error("the program says that it is the method '" +
                                        description.name +
                                        "'; a metric's description has \"metric\""));
  }
  const bool plain = !description.name.empty() && std::ranges::all_of(description.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  if (!plain) {
    return program.explained(data_error("its name '" + description.name +
                                        "' is not made of letters, digits, '_', '-' and '.'"));
  }
  std::string columns;
  for (const std::string& column : description.metric->columns) {
    columns += (columns.empty() ? "" : ",") + column;
  }
  const std::string signature = "external|metric:" + description.name + "@" +
                                std::to_string(description.version) + "|fingerprint:sha256-" +
                                *digest + "|columns:" + columns + "|agg:mean|v:1";
  return std::shared_ptr<const Metric>(
      std::make_shared<ExternalMetric>(std::move(program), std::move(description), signature));
}

Result<MetricsWithExternal> MetricsWithExternal::make(const MetricCatalog& base,
                                                      const Experiment& experiment) {
  MetricsWithExternal catalog(base);
  for (const ExternalMetricEntry& entry : experiment.external_metrics) {
    const std::string where = experiment.path + "#" + entry.pointer;
    if (base.make(entry.name)) {
      return invalid_argument("'" + entry.name + "' is a built-in metric; declare another name",
                              where);
    }
    const bool used = std::ranges::any_of(experiment.metrics, [&](const NamedValue& metric) {
      const auto* const name = std::get_if<std::string>(&metric.value);
      return name != nullptr && *name == entry.name;
    });
    if (!used) {
      return invalid_argument("the external metric '" + entry.name + "' is not in \"metrics\"",
                              where);
    }
    Result<std::shared_ptr<const Metric>> metric = make_external_metric(entry, experiment.limits);
    if (!metric) {
      Error error = metric.error();
      if (error.where.empty()) error.where = where;
      return error;
    }
    catalog.external_.push_back(*std::move(metric));
  }
  return catalog;
}

std::vector<MetricInfo> MetricsWithExternal::list() const { return base_->list(); }

Result<std::shared_ptr<const Metric>> MetricsWithExternal::make(std::string_view name) const {
  for (const std::shared_ptr<const Metric>& metric : external_) {
    if (metric->name() == name) return metric;
  }
  return base_->make(name);
}

}  // namespace qfs::run
