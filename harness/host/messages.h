// The messages of the session protocol, version 1, as plain structs with their JSON line codec.
//
// Both ends use them: the driver encodes requests and decodes replies, a host the other way round.
// PROTOCOL.md is the specification. Decoding checks types and ranges of everything; an ill-formed
// line is a `data` error that quotes the pointer at fault. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/metric.h"
#include "harness/api/metric_session.h"
#include "harness/api/result.h"

namespace qfs::host {

inline constexpr int kProtocolVersion = 1;
inline constexpr size_t kMaxMessageBytes = size_t{64} << 20;

// ---- requests ---------------------------------------------------------------------------------

/// What the host is and how it would compute (the device-dependent part of numerics_id).
struct ProbeRequest {
  RuntimeOptions runtime;
};

/// Which method an external program is; hosts of this project answer with the list of theirs.
struct DescribeRequest {};

/// What `open` begins.
enum class SessionKind { method, metric, training };

struct OpenRequest {
  std::string method;  ///< or the metric that the host computes
  SessionKind kind = SessionKind::method;
  SessionRequest session;
};

/// Examples to learn from, or to choose by, for the open training; in the order of all requests.
struct LearnRequest {
  bool development = false;
  std::vector<NumberedExample> examples;
};

/// Run one unit. `measure`: reset peak memory before it and report memory after it. `limits`: then
/// measure the machine's limits, outside the unit's time and peaks.
struct RunRequest {
  int64_t unit = 0;
  bool measure = false;
  std::vector<NumberedExample> examples;
  bool limits = false;
  /// Of documents that were cut for a program of the user: where the tokens of each segment end, in
  /// bytes of its rendered text. By ordinal.
  std::map<int64_t, std::vector<std::vector<int64_t>>> token_ends = {};
};

/// Score a batch; the fields that `needs` does not name are left out of the line.
struct ScoreRequest {
  std::vector<ScoreItem> items;
  MetricNeeds needs;
};

/// Distinct texts for the open metric; `begin`: they are the first of a corpus.
struct TextsRequest {
  bool begin = false;
  std::vector<CorpusText> texts;
};

/// Score a batch of the open metric by the numbers of its texts.
struct PairsRequest {
  std::vector<TextPairs> items;
};

struct CloseRequest {};

/// A question about a model, outside any session.
struct ModelRequest {
  std::string verb;  ///< inspect, verify, logits, generate or roofline
  Resource model;
  RuntimeOptions runtime;
  Json arguments;  ///< an object, as the verb wants it
};

struct Request {
  int64_t id = 0;
  std::variant<ProbeRequest, DescribeRequest, OpenRequest, RunRequest, ScoreRequest, TextsRequest,
               PairsRequest, LearnRequest, FitRequest, CloseRequest, ModelRequest>
      body;
};

/// Which parts of an example the method may see; everything else is left out of the line.
struct Visibility {
  bool references = false;
  bool evidence = false;
};

std::string encode(const Request& request, Visibility visibility = {});
/// `unknown verb` is `invalid_argument`; `score` of items, which hosts of this project do not have,
/// is `unavailable`.
Result<Request> decode_request(std::string_view line);

// ---- replies ----------------------------------------------------------------------------------

struct ProbeReply {
  int protocol = kProtocolVersion;
  std::string host;  ///< "light", "tensor" or the external program's name
  Json numerics;     ///< enters numerics_id
  Json facts;        ///< stored with the environment only
};

/// What a program that is a metric gives and needs.
struct MetricDescription {
  std::vector<std::string> columns;  ///< at least one, distinct
  MetricNeeds needs;
};

/// An external method's or metric's declaration.
struct Description {
  std::string name;
  int version = 1;
  std::string doc;
  std::vector<ParamSpec> params;
  bool references = false;
  bool evidence = false;
  std::vector<std::string> artifacts = {};  ///< roles of the files that it trains
  std::optional<MetricDescription> metric;  ///< there: the program is a metric, no method
};

struct OpenedReply {};

struct PredictionReply {
  int64_t ordinal = 0;
  Prediction prediction;
};

/// The values of one item, by column.
struct ScoreReply {
  int64_t ordinal = 0;
  std::map<std::string, double> values;
};

/// The answer to TextsRequest.
struct TextsReply {
  AddedTexts added;
};

using PhaseReply = Phase;

/// Memory of a unit on a device, in bytes, and energy; absent where the host has no such count.
struct DeviceCounts {
  std::optional<int64_t> allocated_peak = {};  ///< by tensors, as the allocator rounds them
  std::optional<int64_t> requested_peak = {};  ///< what they asked for
  std::optional<int64_t> reserved_peak = {};   ///< by the allocator that serves them
  std::optional<int64_t> used = {};  ///< of the whole device, by the driver's count, at the end
  std::optional<int64_t> used_before = {};  ///< the same before this process came to the device
  /// Millijoules that the whole device has used since its driver was loaded, at the end.
  std::optional<int64_t> energy = {};
};

struct DoneReply {
  int64_t ns = 0;                            ///< wall time of the unit inside the host
  int64_t peak_resident_bytes = 0;           ///< host memory peak, `measure` only
  DeviceCounts device = {};                  ///< `measure` only
  std::optional<MachineLimits> limits = {};  ///< where they were asked for and are known
};

/// The answer to LearnRequest.
struct LearnedReply {
  int64_t examples = 0;  ///< that the host has of this split
};

/// Between FitRequest and its end; then the outcome.
using PointReply = TrainingPoint;
using FittedReply = TrainingOutcome;

struct HeartbeatReply {};
struct ClosedReply {};

/// The answer to a ModelRequest, an object.
struct ModelReply {
  Json answer;
};

struct ErrorReply {
  Error error;
  bool usable = false;  ///< whether the session (or host, outside one) can take another request
};

struct Reply {
  int64_t id = 0;
  std::variant<ProbeReply, Description, OpenedReply, PredictionReply, ScoreReply, TextsReply,
               PhaseReply, DoneReply, LearnedReply, PointReply, FittedReply, HeartbeatReply,
               ClosedReply, ModelReply, ErrorReply>
      body;
};

std::string encode(const Reply& reply);
Result<Reply> decode_reply(std::string_view line);

}  // namespace qfs::host
