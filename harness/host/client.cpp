#include "harness/host/client.h"

#include <fcntl.h>

#include <csignal>
#include <fstream>
#include <set>
#include <unordered_map>

namespace qfs::host {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kSamplePeriod{100};
constexpr std::chrono::milliseconds kExitGrace{2000};

/// Processes of this cgroup that the kernel's OOM killer ended so far; 0 where that is not visible.
int64_t cgroup_oom_kills() {
  std::ifstream events("/sys/fs/cgroup/memory.events");
  std::string key;
  int64_t value = 0;
  while (events >> key >> value) {
    if (key == "oom_kill") return value;
  }
  return 0;
}

Verdict verdict_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::out_of_memory:
      return Verdict::oom_device;
    case ErrorKind::timeout:
      return Verdict::timeout;
    case ErrorKind::data:
      return Verdict::data_error;
    default:
      return Verdict::method_error;
  }
}

/// The kept ranges are places of the document, in its order and at whole code points.
Status check_ledger(const Prediction& prediction, const Example& example) {
  if (!prediction.truncation) return {};
  int64_t segment = -1;
  int64_t end = 0;
  std::string text;
  const auto cuts_a_code_point = [&text](int64_t at) {
    return at < std::ssize(text) && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  for (const ByteSpan& span : prediction.truncation->kept) {
    if (span.segment > segment && span.segment < std::ssize(example.document)) {
      segment = span.segment;
      end = 0;
      text = rendered(example.document[static_cast<size_t>(segment)]);
    }
    if (span.segment != segment || span.begin < end || span.end < span.begin ||
        span.end > std::ssize(text) || cuts_a_code_point(span.begin) ||
        cuts_a_code_point(span.end)) {
      return data_error("'kept' holds [" + std::to_string(span.segment) + ", " +
                        std::to_string(span.begin) + ", " + std::to_string(span.end) +
                        "], which is no part of the document behind the one before it");
    }
    end = span.end;
  }
  return {};
}

HostFailure protocol_violation(std::string message) {
  return {Verdict::method_error, data_error("protocol violation: " + std::move(message)), false};
}

}  // namespace

HostClient::HostClient(ChildProcess child, HostLimits limits)
    : child_(std::make_unique<ChildProcess>(std::move(child))),
      channel_(std::make_unique<LineChannel>(child_->reply_fd(), child_->request_fd())),
      limits_(limits),
      cgroup_oom_kills_(cgroup_oom_kills()) {
  const int flags = ::fcntl(child_->request_fd(), F_GETFL);
  ::fcntl(child_->request_fd(), F_SETFL, flags | O_NONBLOCK);
}

Result<HostClient> HostClient::start(const ChildOptions& child, HostLimits limits) {
  Result<ChildProcess> process = ChildProcess::start(child);
  if (!process) return process.error();
  return HostClient(*std::move(process), limits);
}

/// How a host that ended, or whose reply stream did, came to its end.
HostFailure HostClient::death() {
  const std::optional<ChildExit> exit = child_->wait(kExitGrace);
  if (!exit) {
    child_->kill();
    return protocol_violation("the host closed its pipe for replies and did not end");
  }
  if (exit->signal == SIGKILL && cgroup_oom_kills() > cgroup_oom_kills_) {
    return {Verdict::oom_host, out_of_memory("the kernel's OOM killer ended the host"), false};
  }
  if (exit->signal != 0) {
    return {Verdict::signal, unavailable("the host died: " + exit->describe()), false};
  }
  return {Verdict::method_error,
          unavailable("the host ended before it answered: " + exit->describe()), false};
}

/// Whether it has been silent and idle for longer than a host that sends heartbeats is.
bool HostClient::hangs() {
  if (!beats_ || Clock::now() - alive_ < limits_.silence) return false;
  const int64_t ticks = processor_ticks(child_->pid());
  if (ticks == std::exchange(processor_ticks_, ticks)) return true;
  alive_ = Clock::now();  // a computation may hold up the thread that sends heartbeats
  return false;
}

std::optional<HostFailure> HostClient::watch_limits(Clock::time_point sent, Seconds timeout) {
  const auto timed_out_because = [this](std::string why) {
    child_->kill();
    return HostFailure{Verdict::timeout, timed_out(std::move(why)), false};
  };
  if (timeout > Seconds::zero() && Clock::now() >= sent + timeout) {
    return timed_out_because("the host did not finish within " + std::to_string(timeout.count()) +
                             " s");
  }
  if (hangs()) {
    return timed_out_because("the host hangs: no heartbeat and no processor time for " +
                             std::to_string(limits_.silence.count()) + " s");
  }
  child_->bound_log();
  if (limits_.memory_bytes > 0 && watches_memory_) {
    const int64_t used = child_->memory().anonymous_bytes;
    if (used > limits_.memory_bytes) {
      child_->kill();
      return HostFailure{
          Verdict::oom_host,
          out_of_memory("the host used " + std::to_string(used) +
                        " bytes of memory, the limit is " + std::to_string(limits_.memory_bytes)),
          false};
    }
  }
  return std::nullopt;
}

/// Sends a request and feeds its replies to `handle(Reply&&) -> Result<bool>` (true: the last one).
template <class Handler>
std::optional<HostFailure> HostClient::exchange(Request request, Visibility visibility,
                                                Seconds timeout, Handler&& handle) {
  request.id = next_id_++;
  if (Status queued = channel_->queue(encode(request, visibility)); !queued) {
    return HostFailure{Verdict::data_error, queued.error(), false};
  }
  const auto sent = alive_ = Clock::now();
  auto next_sample = sent;
  bool ended = false;
  while (true) {
    Result<LineChannel::ReadOutcome> read = channel_->read(kSamplePeriod);
    if (!read) return protocol_violation(read.error().message);
    if (read->event == LineChannel::Event::end) return death();
    if (read->event == LineChannel::Event::line) alive_ = Clock::now();
    if (Clock::now() >= next_sample) {
      if (auto exceeded = watch_limits(sent, timeout)) return exceeded;
      next_sample = Clock::now() + kSamplePeriod;
    }
    if (read->event == LineChannel::Event::nothing) {
      // What the host started may hold its pipe open: its own end counts, once all is read.
      if (ended) return death();
      ended = child_->wait(std::chrono::milliseconds(0)).has_value();
      continue;
    }
    Result<Reply> reply = decode_reply(read->line);
    if (!reply) return protocol_violation(reply.error().message);
    if (reply->id != request.id) {
      return protocol_violation("a reply to request " + std::to_string(reply->id) +
                                " while request " + std::to_string(request.id) + " runs");
    }
    if (std::holds_alternative<HeartbeatReply>(reply->body)) {
      beats_ = true;
      continue;
    }
    if (auto* failure = std::get_if<ErrorReply>(&reply->body)) {
      return HostFailure{verdict_of(failure->error.kind), std::move(failure->error),
                         failure->usable};
    }
    Result<bool> last = handle(*std::move(reply));
    if (!last) return protocol_violation(last.error().message);
    if (*last) return std::nullopt;
  }
}

std::optional<HostFailure> HostClient::probe(const RuntimeOptions& runtime, Seconds timeout,
                                             ProbeReply& probe) {
  auto failure =
      exchange({0, ProbeRequest{runtime}}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
        auto* answer = std::get_if<ProbeReply>(&reply.body);
        if (answer == nullptr) return data_error("expected the answer to 'probe'");
        probe = std::move(*answer);
        return true;
      });
  if (failure || probe.protocol == kProtocolVersion) return failure;
  return HostFailure{Verdict::method_error,
                     unavailable("the host speaks version " + std::to_string(probe.protocol) +
                                 " of the session protocol, this program speaks version " +
                                 std::to_string(kProtocolVersion)),
                     false};
}

std::optional<HostFailure> HostClient::describe(Seconds timeout, Description& description) {
  return exchange({0, DescribeRequest{}}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
    auto* answer = std::get_if<Description>(&reply.body);
    if (answer == nullptr) return data_error("expected the answer to 'describe'");
    description = std::move(*answer);
    return true;
  });
}

Result<Json> HostClient::ask(const ModelRequest& request, Seconds timeout) {
  Json answer;
  auto failure = exchange({0, request}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
    auto* model = std::get_if<ModelReply>(&reply.body);
    if (model == nullptr) return data_error("expected the answer to '" + request.verb + "'");
    answer = std::move(model->answer);
    return true;
  });
  if (failure) return failure->error;
  return answer;
}

std::optional<HostFailure> HostClient::open(const OpenRequest& request, Seconds timeout) {
  return exchange({0, request}, {}, timeout, [](Reply&& reply) -> Result<bool> {
    if (!std::holds_alternative<OpenedReply>(reply.body)) {
      return data_error("expected the answer to 'open'");
    }
    return true;
  });
}

std::optional<HostFailure> HostClient::run(const RunRequest& request, Visibility visibility,
                                           Seconds timeout, UnitResults& results,
                                           const RowSink& on_row) {
  std::unordered_map<int64_t, size_t> position;
  for (size_t i = 0; i < request.examples.size(); ++i) position[request.examples[i].ordinal] = i;
  std::vector<std::optional<PredictionReply>> predictions(request.examples.size());
  std::set<std::string> phases;
  results = {};
  size_t arrived = 0;
  const auto keep = [&](PredictionReply& prediction) -> Result<bool> {
    const auto it = position.find(prediction.ordinal);
    const std::string name = "a prediction for example " + std::to_string(prediction.ordinal);
    if (it == position.end()) return data_error(name + ", which the unit does not hold");
    if (predictions[it->second]) return data_error("twice " + name);
    const Example& example = request.examples[it->second].example;
    if (Status sound = check_ledger(prediction.prediction, example); !sound) {
      return data_error(name + ": " + sound.error().message);
    }
    predictions[it->second] = std::move(prediction);
    // What measures the machine's limits behind the last of a unit is no memory of the method.
    if (++arrived == predictions.size() && request.limits) watches_memory_ = false;
    if (on_row) {
      if (Status taken = on_row(*predictions[it->second]); !taken) return taken.error();
    }
    return false;
  };
  auto failure = exchange({0, request}, visibility, timeout, [&](Reply&& reply) -> Result<bool> {
    if (auto* prediction = std::get_if<PredictionReply>(&reply.body)) return keep(*prediction);
    if (auto* phase = std::get_if<PhaseReply>(&reply.body)) {
      if (!phases.insert(phase->name).second) return data_error("twice the phase " + phase->name);
      results.phases.push_back(std::move(*phase));
      return false;
    }
    if (auto* done = std::get_if<DoneReply>(&reply.body)) {
      results.done = *done;
      return true;
    }
    return data_error("expected a prediction, a phase or 'done'");
  });
  watches_memory_ = true;
  for (size_t i = 0; i < predictions.size(); ++i) {
    if (predictions[i]) {
      results.predictions.push_back(std::move(*predictions[i]));
    } else if (!failure) {
      failure = protocol_violation("no prediction for example " +
                                   std::to_string(request.examples[i].ordinal));
    }
  }
  return failure;
}

std::optional<HostFailure> HostClient::collect_scores(Request request,
                                                      std::span<const int64_t> ordinals,
                                                      Seconds timeout,
                                                      std::vector<ScoreReply>& replies) {
  std::unordered_map<int64_t, size_t> position;
  for (size_t i = 0; i < ordinals.size(); ++i) position[ordinals[i]] = i;
  std::vector<std::optional<ScoreReply>> scores(ordinals.size());
  auto failure = exchange(std::move(request), {}, timeout, [&](Reply&& reply) -> Result<bool> {
    if (std::holds_alternative<DoneReply>(reply.body)) return true;
    auto* score = std::get_if<ScoreReply>(&reply.body);
    if (score == nullptr) return data_error("expected a score or 'done'");
    const auto it = position.find(score->ordinal);
    const std::string name = "a score of item " + std::to_string(score->ordinal);
    if (it == position.end()) return data_error(name + ", which the request does not hold");
    if (scores[it->second]) return data_error("twice " + name);
    scores[it->second] = std::move(*score);
    return false;
  });
  if (failure) return failure;
  replies.clear();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i]) {
      return protocol_violation("no score of item " + std::to_string(ordinals[i]));
    }
    replies.push_back(std::move(*scores[i]));
  }
  return std::nullopt;
}

std::optional<HostFailure> HostClient::score(const ScoreRequest& request, Seconds timeout,
                                             std::vector<ScoreReply>& replies) {
  std::vector<int64_t> ordinals;
  for (const ScoreItem& item : request.items) ordinals.push_back(item.id);
  return collect_scores({0, request}, ordinals, timeout, replies);
}

std::optional<HostFailure> HostClient::score(const PairsRequest& request, Seconds timeout,
                                             std::vector<ScoreReply>& replies) {
  std::vector<int64_t> ordinals;
  for (const TextPairs& item : request.items) ordinals.push_back(item.ordinal);
  return collect_scores({0, request}, ordinals, timeout, replies);
}

std::optional<HostFailure> HostClient::add_texts(const TextsRequest& request, Seconds timeout,
                                                 AddedTexts& added) {
  return exchange({0, request}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
    auto* texts = std::get_if<TextsReply>(&reply.body);
    if (texts == nullptr) return data_error("expected the answer to 'texts'");
    const auto count = static_cast<int64_t>(request.texts.size());
    for (const auto* places : {&texts->added.truncated, &texts->added.empty}) {
      for (const int64_t place : *places) {
        if (place >= count) return data_error("a place behind the last text");
      }
    }
    added = std::move(texts->added);
    return true;
  });
}

std::optional<HostFailure> HostClient::learn(std::span<const NumberedExample> examples,
                                             bool development, Visibility visibility,
                                             Seconds timeout) {
  constexpr size_t kMessageBytes = kMaxMessageBytes / 16;  // of texts, before JSON escapes them
  for (size_t begin = 0; begin < examples.size();) {
    LearnRequest request{development, {}};
    size_t bytes = 0;
    while (begin + request.examples.size() < examples.size() && bytes < kMessageBytes) {
      const NumberedExample& next = examples[begin + request.examples.size()];
      bytes += rendered_document(next.example).size() + next.example.query.size();
      for (const std::string& reference : next.example.references) bytes += reference.size();
      request.examples.push_back(next);
    }
    begin += request.examples.size();
    auto failure =
        exchange({0, std::move(request)}, visibility, timeout, [&](Reply&& reply) -> Result<bool> {
          const auto* learned = std::get_if<LearnedReply>(&reply.body);
          if (learned != nullptr && learned->examples == std::ssize(examples.first(begin))) {
            return true;
          }
          return data_error("expected the answer to 'learn'");
        });
    if (failure) return failure;
  }
  return std::nullopt;
}

std::optional<HostFailure> HostClient::fit(const FitRequest& request, Seconds timeout,
                                           const PointSink& on_point, TrainingOutcome& outcome) {
  return exchange({0, request}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
    if (auto* point = std::get_if<TrainingPoint>(&reply.body)) {
      if (Status taken = on_point(*point); !taken) return taken.error();
      return false;
    }
    auto* fitted = std::get_if<TrainingOutcome>(&reply.body);
    if (fitted == nullptr) return data_error("expected a point of the curve or 'fitted'");
    outcome = std::move(*fitted);
    return true;
  });
}

std::optional<HostFailure> HostClient::close(Seconds timeout) {
  return exchange({0, CloseRequest{}}, {}, timeout, [](Reply&& reply) -> Result<bool> {
    if (!std::holds_alternative<ClosedReply>(reply.body)) {
      return data_error("expected the answer to 'close'");
    }
    return true;
  });
}

}  // namespace qfs::host
