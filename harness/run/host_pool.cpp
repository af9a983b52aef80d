#include "harness/run/host_pool.h"

#include <sys/stat.h>
#include <unistd.h>

namespace qfs::run {
namespace {

constexpr std::chrono::seconds kCloseTimeout{30};

/// Hosts that said nothing leave no file behind.
void remove_if_empty(const std::string& path) {
  struct stat file {};
  if (!path.empty() && stat(path.c_str(), &file) == 0 && file.st_size == 0) unlink(path.c_str());
}

}  // namespace

host::OpenRequest open_request(const plan::Cell& cell, const RuntimeOptions& runtime,
                               host::SessionKind kind) {
  host::OpenRequest request;
  request.kind = kind;
  request.method = std::string(cell.spec->name());
  request.session.params = cell.params;
  request.session.seed = cell.seed;
  request.session.backbone = cell.backbone;
  request.session.backbones = cell.backbones;
  request.session.tokenizer = cell.tokenizer;
  request.session.runtime = runtime;
  request.session.artifacts = cell.artifacts;
  return request;
}

void HostPool::discard() {
  host_.reset();
  weights_key_.clear();
  remove_if_empty(log_path_);
}

std::optional<host::HostFailure> HostPool::start_fresh(const plan::Cell& cell) {
  discard();
  const std::string name = cell.id.short_hex();
  log_path_ = launcher_.log_path(name);
  Result<host::HostClient> started = launcher_.start(cell, name, not_started_);
  if (!started) {
    return host::HostFailure{host::Verdict::method_error, started.error(), false};
  }
  host_.emplace(*std::move(started));
  weights_key_ = cell.weights_key;
  return std::nullopt;
}

std::optional<host::HostFailure> HostPool::open(const plan::Cell& cell,
                                                const RuntimeOptions& runtime,
                                                host::SessionKind kind) {
  const bool shared =
      reuse_ == HostReuse::weights && host_.has_value() && weights_key_ == cell.weights_key;
  if (!shared) {
    if (auto failure = start_fresh(cell)) return failure;
  }
  const std::chrono::seconds timeout(launcher_.limits().open_seconds);
  runtime_ = runtime;
  kind_ = kind;
  auto failure = host_->open(open_request(cell, runtime, kind), timeout);
  // A shared host may have died before this cell asked anything of it: not this cell's doing.
  const bool again =
      failure && (failure->verdict == host::Verdict::signal || (shared && !failure->host_usable));
  if (again) return reopen(cell);
  if (failure) discard();
  return failure;
}

std::optional<host::HostFailure> HostPool::reopen(const plan::Cell& cell) {
  if (auto failure = start_fresh(cell)) return failure;
  const std::chrono::seconds timeout(launcher_.limits().open_seconds);
  auto failure = host_->open(open_request(cell, runtime_, kind_), timeout);
  if (failure) discard();
  return failure;
}

void HostPool::release() {
  if (!host_) return;
  if (reuse_ == HostReuse::none || host_->close(kCloseTimeout)) discard();
}

}  // namespace qfs::run
