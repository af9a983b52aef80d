#include "harness/host/client.h"

#include <csignal>
#include <fstream>
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

HostFailure protocol_violation(std::string message) {
  return {Verdict::method_error, data_error("protocol violation: " + std::move(message)), false};
}

}  // namespace

HostClient::HostClient(ChildProcess child, HostLimits limits)
    : child_(std::make_unique<ChildProcess>(std::move(child))),
      channel_(std::make_unique<LineChannel>(child_->reply_fd(), child_->request_fd())),
      limits_(limits),
      cgroup_oom_kills_(cgroup_oom_kills()) {}

Result<HostClient> HostClient::start(const ChildOptions& child, HostLimits limits) {
  Result<ChildProcess> process = ChildProcess::start(child);
  if (!process) return process.error();
  return HostClient(*std::move(process), limits);
}

/// How a host whose reply stream ended came to its end.
HostFailure HostClient::death() {
  std::optional<ChildExit> exit = child_->wait(kExitGrace);
  if (!exit) exit = child_->kill();
  if (exit->signal == SIGKILL && cgroup_oom_kills() > cgroup_oom_kills_) {
    return {Verdict::oom_host, out_of_memory("the kernel's OOM killer ended the host"), false};
  }
  if (exit->signal != 0) {
    return {Verdict::signal, unavailable("the host died: " + exit->describe()), false};
  }
  return {Verdict::method_error,
          unavailable("the host ended before it answered: " + exit->describe()), false};
}

std::optional<HostFailure> HostClient::watch_limits(Clock::time_point deadline, bool limited_time) {
  if (limited_time && Clock::now() >= deadline) {
    child_->kill();
    return HostFailure{Verdict::timeout, timed_out("the host did not finish in time"), false};
  }
  if (limits_.memory_bytes > 0) {
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
  const auto deadline = Clock::now() + timeout;
  const bool limited_time = timeout > Seconds::zero();
  if (Status sent = channel_->write(encode(request, visibility)); !sent) {
    return sent.error().kind == ErrorKind::unavailable
               ? death()
               : HostFailure{Verdict::data_error, sent.error(), false};
  }
  auto next_sample = Clock::now();
  while (true) {
    Result<LineChannel::ReadOutcome> read = channel_->read(kSamplePeriod);
    if (!read) return protocol_violation(read.error().message);
    if (read->event == LineChannel::Event::end) return death();
    if (Clock::now() >= next_sample) {
      if (auto exceeded = watch_limits(deadline, limited_time)) return exceeded;
      next_sample = Clock::now() + kSamplePeriod;
    }
    if (read->event == LineChannel::Event::nothing) continue;
    Result<Reply> reply = decode_reply(read->line);
    if (!reply) return protocol_violation(reply.error().message);
    if (reply->id != request.id) {
      return protocol_violation("a reply to request " + std::to_string(reply->id) +
                                " while request " + std::to_string(request.id) + " runs");
    }
    if (std::holds_alternative<HeartbeatReply>(reply->body)) continue;
    if (auto* failure = std::get_if<ErrorReply>(&reply->body)) {
      return HostFailure{verdict_of(failure->error.kind), std::move(failure->error),
                         failure->usable};
    }
    Result<bool> last = handle(*std::move(reply));
    if (!last) return protocol_violation(last.error().message);
    if (*last) return std::nullopt;
  }
}

Result<ProbeReply> HostClient::probe(const RuntimeOptions& runtime, Seconds timeout) {
  ProbeReply result;
  auto failure =
      exchange({0, ProbeRequest{runtime}}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
        auto* probe = std::get_if<ProbeReply>(&reply.body);
        if (probe == nullptr) return data_error("expected the answer to 'probe'");
        result = std::move(*probe);
        return true;
      });
  if (failure) return failure->error;
  if (result.protocol != kProtocolVersion) {
    return unavailable("the host speaks protocol " + std::to_string(result.protocol) +
                       ", this program speaks " + std::to_string(kProtocolVersion));
  }
  return result;
}

Result<Description> HostClient::describe(Seconds timeout) {
  Description result;
  auto failure = exchange({0, DescribeRequest{}}, {}, timeout, [&](Reply&& reply) -> Result<bool> {
    auto* description = std::get_if<Description>(&reply.body);
    if (description == nullptr) return data_error("expected the answer to 'describe'");
    result = std::move(*description);
    return true;
  });
  if (failure) return failure->error;
  return result;
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
                                           Seconds timeout, UnitResults& results) {
  std::unordered_map<int64_t, size_t> position;
  for (size_t i = 0; i < request.examples.size(); ++i) position[request.examples[i].ordinal] = i;
  std::vector<std::optional<PredictionReply>> predictions(request.examples.size());
  results = {};
  auto failure = exchange({0, request}, visibility, timeout, [&](Reply&& reply) -> Result<bool> {
    if (auto* prediction = std::get_if<PredictionReply>(&reply.body)) {
      const auto it = position.find(prediction->ordinal);
      const std::string name = "a prediction for example " + std::to_string(prediction->ordinal);
      if (it == position.end()) return data_error(name + ", which the unit does not hold");
      if (predictions[it->second]) return data_error("twice " + name);
      predictions[it->second] = std::move(*prediction);
      return false;
    }
    if (auto* phase = std::get_if<PhaseReply>(&reply.body)) {
      results.phases.push_back(std::move(*phase));
      return false;
    }
    if (auto* done = std::get_if<DoneReply>(&reply.body)) {
      results.done = *done;
      return true;
    }
    return data_error("expected a prediction, a phase or 'done'");
  });
  for (size_t i = 0; i < predictions.size(); ++i) {
    if (failure && !predictions[i]) continue;
    if (!predictions[i]) {
      return protocol_violation("no prediction for example " +
                                std::to_string(request.examples[i].ordinal));
    }
    results.predictions.push_back(std::move(*predictions[i]));
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

std::optional<HostFailure> HostClient::close(Seconds timeout) {
  return exchange({0, CloseRequest{}}, {}, timeout, [](Reply&& reply) -> Result<bool> {
    if (!std::holds_alternative<ClosedReply>(reply.body)) {
      return data_error("expected the answer to 'close'");
    }
    return true;
  });
}

}  // namespace qfs::host
