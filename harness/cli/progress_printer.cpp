#include "harness/cli/progress_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/counted.h"

namespace qfs::cli {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr int64_t kRedrawNs = 100'000'000;        // a terminal: ten times a second
constexpr int64_t kHeartbeatNs = 30'000'000'000;  // a log: a line every half minute
/// Steps of an earlier run are told again at once when a training goes on.
constexpr int64_t kRepeatedNs = 20'000'000;
constexpr int64_t kMebibyte = int64_t{1} << 20;

double seconds_between(int64_t from_ns, int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / kNanosecondsPerSecond;
}

std::string failure_words(const run::CellOutcome& outcome) {
  switch (outcome.failure) {
    case store::FailureKind::oom_device:
    case store::FailureKind::oom_host:
    case store::FailureKind::implied_oom:
      return "OOM";
    case store::FailureKind::timeout:
      return "timeout";
    default:
      return "failed";
  }
}

}  // namespace

ProgressPrinter::ProgressPrinter(const plan::Plan& plan, std::unique_ptr<ProgressSink> sink,
                                 std::function<int64_t()> now_ns)
    : names_(plan), sink_(std::move(sink)), now_ns_(std::move(now_ns)) {}

ProgressPrinter::~ProgressPrinter() { sink_->status(""); }

void ProgressPrinter::ahead(const run::WorkAhead& work) {
  work_ = work;
  started_ns_ = shown_ns_ = now_ns_();
  std::string text = fmt::format("{}: {} to run ({})", counted(work.cells, "cell"),
                                 work.cells_to_run, counted(work.units_to_run, "unit"));
  if (work.cells_to_measure > 0) text += fmt::format(", {} to measure", work.cells_to_measure);
  if (work.cells_to_run > 0) text += ", about " + duration_text(seconds_left());
  sink_->line(text);
}

void ProgressPrinter::cell_started(const plan::Cell& cell, store::ResultKind kind, size_t units) {
  name_ = kind == store::ResultKind::train ? names_.of_training(cell) : names_.of(cell);
  kind_ = kind;
  first_point_.reset();
  repeated_ = true;
  generates_ = cell.needs.network || cell.host == plan::HostKind::tensor ||
               cell.host == plan::HostKind::external;
  units_ = units;
  units_done_ = examples_ = 0;
  tokens_ = host_ns_ = host_bytes_ = 0;
  pace_ = nullptr;
  if (kind == store::ResultKind::predict) {
    size_t examples = 0;
    for (const Unit& unit : cell.units) examples += unit.ordinals.size();
    pace_ = &paces_[std::string(cell.spec->name())];
    example_estimate_s_ =
        estimator_.seconds(cell) / static_cast<double>(std::max<size_t>(examples, 1));
  }
  counted_ns_ = now_ns_();
  sink_->status(status_text());
}

void ProgressPrinter::count(size_t examples, int64_t tokens_out, int64_t ns) {
  examples_ += examples;
  tokens_ += tokens_out;
  host_ns_ += ns;
  if (pace_ == nullptr) return;
  const int64_t now = now_ns_();
  pace_->estimated_s += example_estimate_s_ * static_cast<double>(examples);
  pace_->taken_s += seconds_between(std::exchange(counted_ns_, now), now);
}

void ProgressPrinter::rows_done(size_t examples, int64_t tokens_out, int64_t ns) {
  count(examples, tokens_out, ns);
  show_now_and_then();
}

void ProgressPrinter::unit_done(size_t examples, int64_t tokens_out, int64_t ns,
                                const ProcessMemory& host) {
  ++units_done_;
  host_bytes_ = std::max(host_bytes_, host.resident_bytes);
  count(examples, tokens_out, ns);
  show_now_and_then();
}

void ProgressPrinter::trained(const TrainingPoint& point) {
  const int64_t now = now_ns_();
  repeated_ = repeated_ && (!first_point_ || now - point_ns_ < kRepeatedNs);
  if (repeated_) {
    first_point_ = point;
    first_point_ns_ = now;
  }
  point_ = point;
  point_ns_ = now;
  show_now_and_then();
}

/// "step 40/125, loss 2.310, development.loss 2.405, 12 min 05 s left".
std::string ProgressPrinter::curve_text() const {
  std::string text = fmt::format("step {}/{}", point_.step, point_.steps);
  const auto loss = point_.values.find("loss");
  if (loss != point_.values.end()) text += fmt::format(", loss {:.3f}", loss->second);
  for (const auto& [name, value] : point_.values) {
    if (name.starts_with("development.")) text += fmt::format(", {} {:.3f}", name, value);
  }
  const int64_t done = point_.step - first_point_->step;
  if (done <= 0) return text;
  const double pace = seconds_between(first_point_ns_, now_ns_()) / static_cast<double>(done);
  const auto left = static_cast<double>(std::max<int64_t>(0, point_.steps - point_.step));
  return text + ", " + duration_text(pace * left) + " left";
}

void ProgressPrinter::show_now_and_then() {
  const int64_t now = now_ns_();
  if (now - shown_ns_ < (sink_->redraws() ? kRedrawNs : kHeartbeatNs)) return;
  shown_ns_ = now;
  if (sink_->redraws()) {
    sink_->status(status_text());
  } else {
    sink_->line(status_text());
  }
}

std::string ProgressPrinter::head_of(const plan::Cell& cell, store::ResultKind kind) const {
  switch (kind) {
    case store::ResultKind::predict:
      return fmt::format("[{}/{}] {}", cells_ended_, work_.cells, names_.of(cell));
    case store::ResultKind::measure:
      return "measured " + names_.of(cell);
    case store::ResultKind::train:
      return names_.of_training(cell);
  }
  return names_.of(cell);
}

void ProgressPrinter::cell_ended(const plan::Cell& cell, const run::CellOutcome& outcome) {
  sink_->status("");
  if (outcome.kind == store::ResultKind::predict) ++cells_ended_;
  const std::string head = head_of(cell, outcome.kind);
  if (outcome.failure != store::FailureKind::none) {
    std::string when = outcome.remembered ? " (earlier run)" : "";
    if (outcome.kind == store::ResultKind::predict && examples_ > 0) {
      when = " after " + counted(examples_, "example");
    }
    sink_->problem(
        fmt::format("{}: {}{}: {}{}", head, failure_words(outcome), when, outcome.message,
                    outcome.log.empty() ? "" : " (its output is in " + outcome.log + ")"));
  } else if (outcome.reused) {
    sink_->line(head + ": in the store");
  } else if (outcome.kind == store::ResultKind::train) {
    const std::string curve = first_point_ ? curve_text() : "no step";
    sink_->line(fmt::format("{}: {}{}", head, curve, outcome.complete ? "" : "; stopped"));
  } else {
    sink_->line(
        fmt::format("{}: {}{}", head, facts_of_cell(), outcome.complete ? "" : "; stopped"));
  }
  if (outcome.conflicts > 0) {
    const std::string what =
        outcome.kind == store::ResultKind::train
            ? counted(outcome.conflicts, "trained file differs", "trained files differ")
            : counted(outcome.conflicts, "output differs", "outputs differ");
    sink_->problem(fmt::format("{}: {} from what was computed before", head, what));
  }
  shown_ns_ = now_ns_();
}

void ProgressPrinter::note(std::string_view text) {
  sink_->status("");
  sink_->line(text);
}

/// "20 examples in 34 s, 12.3 tokens/s, 812 MiB".
std::string ProgressPrinter::facts_of_cell() const {
  const double seconds = static_cast<double>(host_ns_) / kNanosecondsPerSecond;
  std::string text = fmt::format("{} in {}", counted(examples_, "example"), duration_text(seconds));
  if (generates_ && tokens_ > 0 && seconds > 0) {
    text += fmt::format(", {:.1f} tokens/s", static_cast<double>(tokens_) / seconds);
  }
  if (host_bytes_ > 0) text += fmt::format(", {} MiB", host_bytes_ / kMebibyte);
  return text;
}

std::string ProgressPrinter::status_text() const {
  if (kind_ == store::ResultKind::train) {
    return name_ + (first_point_ ? ": " + curve_text() : ": reading the training split");
  }
  std::string text = kind_ == store::ResultKind::measure
                         ? "measuring " + name_
                         : fmt::format("[{}/{}] {}: {}/{} units", cells_ended_ + 1, work_.cells,
                                       name_, units_done_, units_);
  if (examples_ > 0) text += ", " + facts_of_cell();
  const bool known =
      std::ranges::any_of(paces_, [](const auto& p) { return p.second.taken_s > 0; });
  if (kind_ == store::ResultKind::measure || !known) return text;
  return text + ", " + duration_text(seconds_left()) + " left";
}

/// What is still estimated, scaled by how estimates and clock compared until now; of each method by
/// its own examples, in this run and in earlier ones, once there are some.
double ProgressPrinter::seconds_left() const {
  std::map<std::string, run::Pace> known = work_.paces;
  run::Pace all;
  for (const auto& [method, pace] : paces_) {
    known[method].estimated_s += pace.estimated_s;
    known[method].taken_s += pace.taken_s;
  }
  for (const auto& [method, pace] : known) {
    all.estimated_s += pace.estimated_s;
    all.taken_s += pace.taken_s;
  }
  const auto scaled = [&](double estimate, const run::Pace& own) {
    const run::Pace& pace = own.estimated_s > 0 ? own : all;
    const double scale = pace.estimated_s > 0 ? pace.taken_s / pace.estimated_s : 1;
    return std::max(0.0, estimate) * scale;
  };
  double other = work_.seconds;
  double left = 0;
  for (const auto& [method, estimate] : work_.predict_seconds) {
    const auto now = paces_.find(method);
    const double done = now == paces_.end() ? 0 : now->second.estimated_s;
    left += scaled(estimate - done, known[method]);
    other -= estimate;
  }
  return left + scaled(other, {});
}

}  // namespace qfs::cli
