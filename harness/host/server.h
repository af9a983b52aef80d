// The host side of the session protocol: a loop that reads requests, runs sessions and replies.
//
// Called by the applications' `host` entry points. One request at a time; a background thread sends
// a heartbeat every 5 s while one runs. Ends when the driver closes its end or says something that
// is no protocol line.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "harness/api/method.h"
#include "harness/api/metric_session.h"
#include "harness/api/result.h"
#include "harness/host/messages.h"

namespace qfs::host {

/// What one executable offers as a host.
struct HostServices {
  std::span<const SessionFactory> sessions;
  std::span<const MetricSessionFactory> metrics = {};
  /// Facts about this machine under the given options; also applies them (threads, determinism).
  std::function<Result<ProbeReply>(const RuntimeOptions&)> probe;
  /// Device memory, peaks since the last call; empty for hosts without a device.
  std::function<DeviceCounts()> take_device_counts;
  /// Answers to questions about models; empty for hosts without tensors.
  std::function<Result<Json>(const ModelRequest&)> answer_about_model;
};

/// Serves until the request stream ends; the process's exit code (0, or 2 for a protocol error).
int serve(int request_fd, int reply_fd, const HostServices& services);

/// The same with the descriptors that the driver named in QFS_REQUEST_FD and QFS_REPLY_FD.
int serve_inherited(const HostServices& services);

}  // namespace qfs::host
