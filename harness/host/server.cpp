#include "harness/host/server.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <unordered_set>

#include "harness/api/prediction_length.h"
#include "harness/core/child_process.h"
#include "harness/core/clock.h"
#include "harness/core/error_exception.h"
#include "harness/core/failpoint.h"
#include "harness/core/log.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"
#include "harness/host/channel.h"
#include "harness/host/heartbeat.h"

namespace qfs::host {
namespace {

/// Sends predictions as they are ready; well-formed UTF-8 is restored here for every method.
class ChannelSink : public PredictionSink {
 public:
  ChannelSink(LineChannel& channel, int64_t request_id) : channel_(channel), id_(request_id) {}

  void emit(int64_t ordinal, Prediction prediction) override {
    if (first_ill_formed_utf8(prediction.text)) {
      RepairedText repaired = repair_utf8(prediction.text);
      prediction.text = std::move(repaired.text);
      prediction.repaired_bytes += repaired.replaced_bytes;
    }
    if (Status sound = check_prediction_length(prediction.text); !sound && status_) {
      status_ = data_error("example " + std::to_string(ordinal) + ": " + sound.error().message);
    }
    QFS_FAILPOINT_HERE("host.before_prediction");
    send(PredictionReply{ordinal, std::move(prediction)});
  }

  void phase(const Phase& phase) override { send(phase); }

  const Status& status() const { return status_; }

 private:
  template <class Body>
  void send(Body body) {
    if (status_) status_ = channel_.write(encode(Reply{id_, std::move(body)}));
  }

  LineChannel& channel_;
  int64_t id_;
  Status status_;
};

/// Sends the training curve as it grows.
class ChannelProgress : public TrainingProgress {
 public:
  ChannelProgress(LineChannel& channel, int64_t request_id) : channel_(channel), id_(request_id) {}

  Status point(const TrainingPoint& point) override {
    for (const auto& [name, value] : point.values) {
      if (std::isfinite(value)) continue;
      return internal_error("'" + name + "' is no number at step " + std::to_string(point.step));
    }
    QFS_FAILPOINT_HERE("host.before_point");
    return channel_.write(encode(Reply{id_, point}));
  }

 private:
  LineChannel& channel_;
  int64_t id_;
};

class Server {
 public:
  Server(LineChannel& channel, const HostServices& services)
      : channel_(channel), services_(services) {}

  /// Handles one request; the reply that ends it, or an error that ends the host.
  Reply handle(const Request& request) {
    id_ = request.id;
    try {
      return {id_, std::visit([this](const auto& body) { return answer(body); }, request.body)};
    } catch (const std::bad_alloc&) {
      return failed(out_of_memory("the host could not allocate memory"));
    } catch (const ErrorException& error) {
      return failed(error.error());
    } catch (const std::exception& error) {
      return failed(internal_error(std::string("unexpected exception: ") + error.what()));
    }
  }

 private:
  using Body = decltype(Reply::body);

  /// A failure closes the session; the host itself takes another `open`.
  Reply failed(Error error) {
    close_sessions();
    return {id_, ErrorReply{std::move(error), true}};
  }

  Body answer(const ProbeRequest& request) {
    Result<ProbeReply> probe = services_.probe(request.runtime);
    if (!probe) return ErrorReply{probe.error(), true};
    return *std::move(probe);
  }

  Body answer(const DescribeRequest&) {
    return ErrorReply{unavailable("this host runs built-in methods; see `list methods`"), true};
  }

  Body answer(const OpenRequest& request) {
    close_sessions();
    switch (request.kind) {
      case SessionKind::method:
        return opened(request, services_.sessions, &SessionFactory::method, &SessionFactory::open,
                      session_);
      case SessionKind::metric:
        return opened(request, services_.metrics, &MetricSessionFactory::metric,
                      &MetricSessionFactory::open, metric_session_);
      case SessionKind::training:
        return opened(request, services_.sessions, &SessionFactory::method,
                      &SessionFactory::open_training, training_);
    }
    return ErrorReply{internal_error("unknown kind of session"), true};
  }

  /// Opens the factory of the requested name into `session`.
  template <class Factory, class Name, class Open, class Session>
  Body opened(const OpenRequest& request, std::span<const Factory> factories, Name Factory::*name,
              Open Factory::*open, std::unique_ptr<Session>& session) {
    std::vector<std::string> names;
    for (const Factory& factory : factories) {
      if (factory.*name != request.method) {
        names.emplace_back(factory.*name);
        continue;
      }
      // Options are applied by the probe, so that what ran is what numerics_id says.
      if (Result<ProbeReply> applied = services_.probe(request.session.runtime); !applied) {
        return ErrorReply{applied.error(), true};
      }
      if (factory.*open == nullptr) {
        return ErrorReply{unavailable("method '" + request.method + "' does not train"), true};
      }
      auto made = (factory.*open)(request.session, cache_);
      if (!made) return ErrorReply{made.error(), true};
      session = *std::move(made);
      return OpenedReply{};
    }
    const std::string kind = request.kind == SessionKind::metric ? "metric" : "method";
    return ErrorReply{not_found("this host has no " + kind + " '" + request.method + "'" +
                                suggestion(request.method, names)),
                      true};
  }

  Body answer(const RunRequest& request) {
    if (!session_) return ErrorReply{invalid_argument("'run' without an open session"), true};
    if (request.measure) reset_peaks();
    ChannelSink sink(channel_, id_);
    const int64_t start_ns = monotonic_ns();
    Status status = session_->run(request.examples, sink);
    DoneReply done;
    done.ns = monotonic_ns() - start_ns;
    if (status && !sink.status()) status = sink.status();
    if (!status) {
      session_.reset();
      return ErrorReply{status.error(), true};
    }
    if (request.measure) {
      done.peak_resident_bytes = process_memory(getpid()).peak_bytes;
      if (services_.take_device_counts) done.device = services_.take_device_counts();
    }
    if (request.limits) done.limits = session_limits();
    return done;
  }

  /// A measurement that fails is no failure of the unit.
  std::optional<MachineLimits> session_limits() {
    Result<std::optional<MachineLimits>> limits = session_->measure_limits();
    if (limits) return *limits;
    log_warning("the machine's limits are not known: " + limits.error().to_string());
    return std::nullopt;
  }

  Body answer(const ScoreRequest&) {
    return ErrorReply{unavailable("this host scores numbered texts ('pairs'), no items"), true};
  }

  Body answer(const TextsRequest& request) {
    if (!metric_session_)
      return ErrorReply{invalid_argument("'texts' without an open metric"), true};
    if (request.begin) metric_session_->begin_corpus();
    Result<AddedTexts> added = metric_session_->add_texts(request.texts);
    if (!added) {
      close_sessions();
      return ErrorReply{added.error(), true};
    }
    return TextsReply{*std::move(added)};
  }

  Body answer(const PairsRequest& request) {
    if (!metric_session_)
      return ErrorReply{invalid_argument("'score' without an open metric"), true};
    const int64_t start_ns = monotonic_ns();
    Result<std::vector<Statistics>> rows = metric_session_->score(request.items);
    if (!rows) {
      close_sessions();
      return ErrorReply{rows.error(), true};
    }
    const std::vector<std::string> columns = metric_session_->columns();
    for (size_t i = 0; i < rows->size(); ++i) {
      ScoreReply score;
      score.ordinal = request.items[i].ordinal;
      for (size_t c = 0; c < columns.size(); ++c) score.values[columns[c]] = (*rows)[i][c];
      if (Status sent = channel_.write(encode(Reply{id_, std::move(score)})); !sent) {
        close_sessions();
        return ErrorReply{sent.error(), false};
      }
    }
    DoneReply done;
    done.ns = monotonic_ns() - start_ns;
    return done;
  }

  Body answer(const LearnRequest& request) {
    if (!training_) return ErrorReply{invalid_argument("'learn' without an open training"), true};
    std::vector<NumberedExample>& split = request.development ? data_.development : data_.train;
    split.insert(split.end(), request.examples.begin(), request.examples.end());
    return LearnedReply{static_cast<int64_t>(split.size())};
  }

  Body answer(const FitRequest& request) {
    if (!training_) return ErrorReply{invalid_argument("'fit' without an open training"), true};
    ChannelProgress progress(channel_, id_);
    Result<TrainingOutcome> outcome = training_->fit(request, data_, progress);
    close_sessions();
    if (!outcome) return ErrorReply{outcome.error(), true};
    outcome->cost.peak_bytes =
        std::max(outcome->cost.peak_bytes, process_memory(getpid()).peak_bytes);
    return *std::move(outcome);
  }

  /// Answered without a session, so that the model's memory is the request's own.
  Body answer(const ModelRequest& request) {
    close_sessions();
    if (!services_.answer_about_model) {
      return ErrorReply{unavailable("this host holds no models; qfs-host does"), true};
    }
    Result<Json> answer = services_.answer_about_model(request);
    if (!answer) return ErrorReply{answer.error(), true};
    return ModelReply{*std::move(answer)};
  }

  Body answer(const CloseRequest&) {
    close_sessions();
    return ClosedReply{};
  }

  void close_sessions() {
    session_.reset();
    metric_session_.reset();
    training_.reset();
    data_ = {};
  }

  void reset_peaks() {
    reset_own_peak_memory();
    if (services_.take_device_counts) services_.take_device_counts();
  }

  LineChannel& channel_;
  const HostServices& services_;
  ResourceCache cache_;
  std::unique_ptr<MethodSession> session_;
  std::unique_ptr<MetricSession> metric_session_;
  std::unique_ptr<TrainingSession> training_;
  TrainingData data_;  ///< of the open training
  int64_t id_ = 0;
};

std::optional<int> descriptor_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int fd = -1;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), fd);
  if (error != std::errc{} || *end != '\0' || fd < 0) return std::nullopt;
  return fd;
}

}  // namespace

int serve(int request_fd, int reply_fd, const HostServices& services) {
  LineChannel channel(request_fd, reply_fd);
  Server server(channel, services);
  while (true) {
    auto read = channel.read();
    if (!read) {
      log_warning(read.error().to_string());
      return 2;
    }
    if (read->event == LineChannel::Event::end) return 0;
    Result<Request> request = decode_request(read->line);
    Reply reply;
    if (!request) {
      reply.body = ErrorReply{request.error(), true};
    } else {
      const Heartbeat heartbeat(channel, request->id);
      reply = server.handle(*request);
    }
    if (Status sent = channel.write(encode(reply)); !sent) return 0;
  }
}

int serve_inherited(const HostServices& services) {
  const std::optional<int> request_fd = descriptor_from("QFS_REQUEST_FD");
  const std::optional<int> reply_fd = descriptor_from("QFS_REPLY_FD");
  if (!request_fd || !reply_fd) {
    log_warning(
        "a host is started by qfs-bench, which names its pipes in QFS_REQUEST_FD and QFS_REPLY_FD");
    return 2;
  }
  return serve(*request_fd, *reply_fd, services);
}

}  // namespace qfs::host
