// qfs-host: the process that holds tensors. Started by qfs-bench, speaks the session protocol, runs
// the LibTorch methods and, so that weights can be shared, the light ones.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include "harness/host/server.h"
#include "methods/backbones/torch_runtime.h"
#include "methods/register_light_sessions.h"
#include "methods/register_torch_sessions.h"

namespace {

qfs::Result<qfs::host::ProbeReply> probe(const qfs::RuntimeOptions& runtime) {
  qfs::Result<qfs::backbones::TorchFacts> facts = qfs::backbones::probe_torch(runtime);
  if (!facts.ok()) return facts.error();
  qfs::host::ProbeReply reply;
  reply.host = "tensor";
  reply.numerics = facts->numerics;
  reply.facts = facts->details;
  return reply;
}

/// `qfs-host probe --json`: how this machine computes, one JSON object on standard output.
int print_probe() {
  const qfs::Result<qfs::host::ProbeReply> reply = probe({});
  if (!reply) {
    std::fprintf(stderr, "qfs-host: error: %s\n", reply.error().to_string().c_str());
    return 5;
  }
  std::printf("{\"facts\":%s,\"numerics\":%s,\"schema\":\"qfs-host/probe/1\"}\n",
              reply->facts.text.c_str(), reply->numerics.text.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "probe") == 0) return print_probe();
  std::signal(SIGPIPE, SIG_IGN);  // a driver that is gone shows as a failed write
  std::vector<qfs::SessionFactory> sessions = qfs::methods::light_sessions();
  for (const qfs::SessionFactory& factory : qfs::methods::torch_sessions()) {
    sessions.push_back(factory);
  }
  return qfs::host::serve_inherited(
      {.sessions = sessions, .probe = probe, .take_peak_device_bytes = {}});
}
