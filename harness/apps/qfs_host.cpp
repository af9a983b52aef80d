// qfs-host: the process that holds tensors. Started by qfs-bench, speaks the session protocol, runs
// the LibTorch methods and, so that weights can be shared, the light ones.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/bertscore_session.h"
#include "harness/core/available_cores.h"
#include "harness/core/json_dom.h"
#include "harness/host/server.h"
#include "methods/families.h"
#include "methods/light_sessions.h"
#include "methods/models/inspect/model_verbs.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/tensor_sessions.h"

namespace {

qfs::Result<qfs::host::ProbeReply> probe(const qfs::RuntimeOptions& runtime) {
  qfs::Result<qfs::nn::TorchFacts> facts = qfs::nn::probe_torch(runtime);
  if (!facts.ok()) return facts.error();
  qfs::host::ProbeReply reply;
  reply.host = "tensor";
  reply.numerics = facts->numerics;
  nlohmann::json details = nlohmann::json::parse(facts->details.text);
  details["sources"] = qfs::methods::method_sources();
  details["layers"] = qfs::methods::layer_digests();
  qfs::Result<qfs::Json> canonical = qfs::canonical_json(details);
  if (!canonical.ok()) return canonical.error();
  reply.facts = *std::move(canonical);
  return reply;
}

qfs::host::DeviceCounts take_device_counts() {
  const std::optional<qfs::nn::DeviceUse> use = qfs::nn::take_device_use();
  if (!use) return {};
  return {.allocated_peak = use->allocator.allocated_peak,
          .requested_peak = use->allocator.requested_peak,
          .reserved_peak = use->allocator.reserved_peak,
          .used = use->used_bytes,
          .used_before = use->used_before_bytes,
          .energy = use->energy_millijoules};
}

qfs::Result<qfs::Json> answer_about_model(const qfs::host::ModelRequest& request) {
  return qfs::inspect::answer_model_verb(request.verb, request.model, request.runtime,
                                         request.arguments);
}

/// Reads the options of `probe`; false when they are not such.
bool read_runtime(std::span<char* const> arguments, qfs::RuntimeOptions& runtime) {
  runtime.threads = qfs::available_cores();
  std::optional<std::string> dtype;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--json") continue;  // the only form there is
    if (++i == arguments.size()) return false;
    const std::string_view value = arguments[i];
    if (argument == "--device") {
      runtime.device = value;
    } else if (argument == "--dtype") {
      dtype = value;
    } else if (argument == "--threads") {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), runtime.threads);
      if (error != std::errc() || end != value.data() + value.size()) return false;
    } else {
      return false;
    }
  }
  runtime.dtype = dtype.value_or(runtime.device == "cpu" ? "float32" : "bfloat16");
  return true;
}

/// How this machine computes, one JSON object on standard output, for `qfs-bench plan --numerics`.
int print_probe(std::span<char* const> arguments) {
  qfs::RuntimeOptions runtime;
  if (!read_runtime(arguments, runtime)) {
    std::fprintf(
        stderr,
        "qfs-host: error: usage: qfs-host probe [--json] [--threads N] [--device cpu|cuda] "
        "[--dtype float32|bfloat16|float16]\n");
    return 2;
  }
  const qfs::Result<qfs::host::ProbeReply> reply = probe(runtime);
  if (!reply) {
    std::fprintf(stderr, "qfs-host: error: %s\n", reply.error().to_string().c_str());
    return reply.error().kind == qfs::ErrorKind::invalid_argument ? 2 : 5;
  }
  std::printf("{\"facts\":%s,\"numerics\":%s,\"schema\":\"qfs-host/probe/1\"}\n",
              reply->facts.text.c_str(), reply->numerics.text.c_str());
  if (std::fflush(stdout) == 0) return 0;
  std::fprintf(stderr, "qfs-host: error: cannot write to standard output\n");
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
  // cuBLAS gives equal bits with a fixed workspace only, and reads this when it is loaded.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  if (argc > 1 && std::strcmp(argv[1], "probe") == 0) return print_probe(arguments.subspan(2));
  std::signal(SIGPIPE, SIG_IGN);  // a driver that is gone shows as a failed write
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<qfs::SessionFactory> sessions = qfs::methods::light_sessions();
  for (const qfs::SessionFactory& factory : qfs::methods::torch_sessions()) {
    sessions.push_back(factory);
  }
  const qfs::MetricSessionFactory metrics[] = {qfs::apps::bertscore_factory()};
  return qfs::host::serve_inherited({.sessions = sessions,
                                     .metrics = metrics,
                                     .probe = probe,
                                     .take_device_counts = take_device_counts,
                                     .answer_about_model = answer_about_model});
}
