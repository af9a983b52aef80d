#include "methods/endpoint/session.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/api/prediction_length.h"
#include "harness/core/error_exception.h"
#include "harness/core/json_dom.h"
#include "methods/endpoint/answer.h"
#include "methods/endpoint/model_list.h"
#include "methods/endpoint/request_body.h"
#include "methods/endpoint/retry_client.h"
#include "methods/endpoint/server_counter.h"
#include "methods/models/prompting/prompt_template.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::endpoint {
namespace {

using nlohmann::json;
using prompting::TruncatedDocument;

constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;

/// What all workers of a session read.
struct Shared {
  Shared(const SessionRequest& request, HttpSettings settings)
      : params(request.params),
        seed(request.seed),
        http(std::move(settings)),
        redactor(http.secrets),
        limiter(request.params) {}

  Params params;
  uint64_t seed;
  HttpSettings http;
  Redactor redactor;
  RateLimiter limiter;
  std::shared_ptr<const tokenizers::Tokenizer> counter;  ///< null: the server counts
  prompting::TruncationPolicy policy = prompting::TruncationPolicy::head;
  ModelListing models;
};

json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"reasoning_tokens", usage.reasoning_tokens}};
}

/// One row's way from example to prediction, on one worker.
class Worker {
 public:
  Worker(Shared& shared, HttpClient client, uint64_t number)
      : shared_(shared),
        retry_client_(std::move(client), shared.limiter, shared.redactor,
                      Rng::derived(shared.seed, "endpoint backoff", number).next()),
        counter_(retry_client_, tokenize_address(shared.params),
                 shared.params.get<std::string>("model")) {}

  std::variant<Prediction, AskFailure> answer(const Example& example) {
    std::variant<TruncatedDocument, AskFailure> document = truncated(example);
    if (auto* failure = std::get_if<AskFailure>(&document)) return std::move(*failure);
    const auto& kept = std::get<TruncatedDocument>(document);
    const Params& params = shared_.params;
    const RequestBody body = request_body(
        params, shared_.seed,
        prompting::fill_prompt(params.get<std::string>("prompt"), kept.joined(), example.query));
    const bool chat = params.get<std::string>("api") == "chat";
    const std::string url = base_address(params) + (chat ? "/chat/completions" : "/completions");
    Completion completion;
    auto outcome = retry_client_.ask(url, &body.json, [&](const HttpAnswer& answer) -> Status {
      if (says_overlength(answer.body)) return {};
      Result<Completion> read = read_completion(answer.body, chat);
      if (!read.ok()) return read.error();
      completion = *std::move(read);
      return {};
    });
    if (auto* failure = std::get_if<AskFailure>(&outcome)) return std::move(*failure);
    const Asked& asked = std::get<Asked>(outcome);
    Prediction prediction;
    prediction.truncation = kept.ledger;
    prediction.prompt = body.prompt;
    if (says_overlength(asked.answer.body)) {
      prediction.finish = FinishReason::overlength;
      add_facts(prediction, asked, completion);
      return prediction;
    }
    if (asked.answer.status >= 300) return refusal(asked.answer, shared_.redactor);
    prediction.text = shared_.redactor.output(completion.text);
    if (Status sound = check_prediction_length(prediction.text); !sound.ok()) {
      return AskFailure{sound.error(), false};
    }
    prediction.finish = completion.finish;
    prediction.tokens_in = completion.usage.prompt_tokens;
    prediction.tokens_out = completion.usage.completion_tokens;
    prediction.repaired_bytes = completion.repaired_bytes;
    add_facts(prediction, asked, completion);
    return prediction;
  }

 private:
  std::variant<TruncatedDocument, AskFailure> truncated(const Example& example) {
    const auto budget = shared_.params.find<int64_t>("local_context");
    if (!shared_.counter) return counter_.truncate(example, budget, shared_.policy);
    auto document = prompting::truncate_document(example, *shared_.counter, budget, shared_.policy);
    if (!document.ok()) return AskFailure{document.error(), false};
    return *std::move(document);
  }

  /// What is known of the request besides its text; see README.md.
  void add_facts(Prediction& prediction, const Asked& asked, const Completion& completion) const {
    json observed = {{"tries", asked.tries},
                     {"latency_ms", asked.latency_ns / kNanosecondsPerMillisecond}};
    if (completion.usage_known) observed["usage"] = usage_json(completion.usage);
    json facts = json::object();
    const auto put = [&](const char* name, const std::string& text) {
      if (!text.empty()) facts[name] = shared_.redactor.message(text);
    };
    put("model", completion.model);
    put("system_fingerprint", completion.fingerprint);
    if (prediction.finish == FinishReason::overlength) {
      put("refusal", error_message(asked.answer.body));
    }
    const ModelListing& models = shared_.models;
    facts["model_list"] = !models.known ? "none" : models.listed ? "listed" : "not listed";
    put("model_root", models.root);
    if (models.window_tokens > 0) facts["window_tokens"] = models.window_tokens;
    Result<Json> extra =
        canonical_json(json{{"endpoint", std::move(facts)}, {"observed", std::move(observed)}});
    if (extra.ok()) prediction.extra = *std::move(extra);
  }

  Shared& shared_;
  RetryClient retry_client_;
  ServerCounter counter_;
};

/// The rows of one unit, handed to workers and back.
class UnitRun {
 public:
  explicit UnitRun(std::span<const NumberedExample> unit) : unit_(unit) {}

  /// On a worker's thread, until nothing is left to ask.
  void work(Worker& worker) {
    while (!stopped_) {
      const size_t i = next_++;
      if (i >= unit_.size()) return;
      std::variant<Prediction, AskFailure> row = guarded(worker, unit_[i].example);
      const auto* failure = std::get_if<AskFailure>(&row);
      if (failure != nullptr && failure->for_all) stopped_ = true;
      const std::lock_guard lock(mutex_);
      done_.emplace_back(i, std::move(row));
      ready_.notify_one();
    }
  }

  void worker_ended() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    ready_.notify_one();
  }

  /// On the session's thread: emits rows as they come, until all workers have ended.
  Status emit(size_t workers, PredictionSink& sink) {
    size_t failed = 0;
    size_t first = unit_.size();
    Error error;
    std::unique_lock lock(mutex_);
    while (true) {
      ready_.wait(lock, [&] { return !done_.empty() || ended_ == workers; });
      if (done_.empty()) break;
      auto [i, row] = std::move(done_.front());
      done_.pop_front();
      lock.unlock();
      if (auto* prediction = std::get_if<Prediction>(&row)) {
        sink.emit(unit_[i].ordinal, std::move(*prediction));
      } else {
        ++failed;
        if (i < first) {
          first = i;
          error = std::get<AskFailure>(row).error;
        }
      }
      lock.lock();
    }
    if (failed == 0) return {};
    error.message = fmt::format("example '{}': {}", unit_[first].example.key, error.message);
    if (failed > 1) error.message += fmt::format(" ({} examples of this unit failed)", failed);
    return error;
  }

 private:
  static std::variant<Prediction, AskFailure> guarded(Worker& worker, const Example& example) {
    try {
      return worker.answer(example);
    } catch (const ErrorException& error) {
      return AskFailure{error.error(), true};
    } catch (const std::exception& error) {
      return AskFailure{internal_error(std::string("unexpected exception: ") + error.what()), true};
    }
  }

  std::span<const NumberedExample> unit_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::pair<size_t, std::variant<Prediction, AskFailure>>> done_;
  size_t ended_ = 0;
};

class EndpointSession final : public MethodSession {
 public:
  explicit EndpointSession(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    const auto most = static_cast<size_t>(shared_->params.get<int64_t>("max_in_flight"));
    const size_t count = std::min(most, unit.size());
    while (workers_.size() < count) {
      Result<HttpClient> client = HttpClient::open(shared_->http);
      if (!client.ok()) return client.error();
      workers_.push_back(std::make_unique<Worker>(*shared_, *std::move(client), workers_.size()));
    }
    UnitRun rows(unit);
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < count; ++i) {
      threads.emplace_back([&rows, &worker = *workers_[i]] {
        rows.work(worker);
        rows.worker_ended();
      });
    }
    return rows.emit(count, sink);
  }

 private:
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// Asks for the list of models. A server without one is none the worse.
Status ask_for_models(Shared& shared) {
  Result<HttpClient> client = HttpClient::open(shared.http);
  if (!client.ok()) return client.error();
  RetryClient retry_client(*std::move(client), shared.limiter, shared.redactor, shared.seed);
  const std::string url = base_address(shared.params) + "/models";
  auto outcome = retry_client.ask(url, nullptr, [](const HttpAnswer&) { return Status(); });
  if (auto* failure = std::get_if<AskFailure>(&outcome)) return failure->error;
  const HttpAnswer& answer = std::get<Asked>(outcome).answer;
  if (answer.status == 401 || answer.status == 403 ||
      (answer.status >= 300 && answer.status < 400)) {
    return refusal(answer, shared.redactor).error;
  }
  if (answer.status >= 300) return {};
  const std::string& model = shared.params.get<std::string>("model");
  shared.models = read_model_list(answer.body, model);
  return shared.params.get<bool>("check_model") ? check_listed(shared.models, model) : Status();
}

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  if (Status status = check_settings(request.params); !status.ok()) return status.error();
  Result<HttpSettings> settings = http_settings(request.params);
  if (!settings.ok()) return settings.error();
  auto shared = std::make_unique<Shared>(request, *std::move(settings));
  const auto policy =
      prompting::truncation_policy_from(request.params.get<std::string>("truncate"));
  if (!policy) return invalid_argument("unknown truncation policy");
  shared->policy = *policy;
  if (request.params.get<std::string>("count_by") != "server") {
    if (!request.tokenizer) return invalid_argument("endpoint counts tokens and has no tokenizer");
    auto counter = tokenizers::open_tokenizer(*request.tokenizer, cache);
    if (!counter.ok()) return counter.error();
    shared->counter = *std::move(counter);
  }
  if (Status status = ask_for_models(*shared); !status.ok()) return status.error();
  return std::unique_ptr<MethodSession>(std::make_unique<EndpointSession>(std::move(shared)));
}

}  // namespace

SessionFactory session_factory() { return {"endpoint", &open}; }

}  // namespace qfs::endpoint
