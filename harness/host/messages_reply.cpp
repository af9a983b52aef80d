#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/api/prediction_length.h"
#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"
#include "harness/host/json_fields.h"
#include "harness/host/messages.h"

namespace qfs::host {
namespace {

using nlohmann::json;

struct DeviceField {
  const char* name;
  std::optional<int64_t> DeviceCounts::*bytes;
};

constexpr DeviceField kDeviceFields[] = {
    {"peak_device_bytes", &DeviceCounts::allocated_peak},
    {"peak_device_requested_bytes", &DeviceCounts::requested_peak},
    {"peak_device_reserved_bytes", &DeviceCounts::reserved_peak},
    {"device_used_bytes", &DeviceCounts::used},
    {"device_used_before_bytes", &DeviceCounts::used_before},
    {"device_energy_millijoules", &DeviceCounts::energy}};

DeviceCounts device_counts_from(const json& done) {
  DeviceCounts counts;
  for (const auto& [name, bytes] : kDeviceFields) {
    if (done.contains(name)) counts.*bytes = count_field(done, name);
  }
  return counts;
}

json truncation_json(const Truncation& truncation) {
  json kept = json::array();
  for (const ByteSpan& span : truncation.kept) kept.push_back({span.segment, span.begin, span.end});
  return {{"document_tokens", truncation.document_tokens},
          {"kept_tokens", truncation.kept_tokens},
          {"query_tokens", truncation.query_tokens},
          {"query_whole", truncation.query_whole},
          {"kept", std::move(kept)}};
}

/// Sums over a data set stay numbers.
int64_t tokens_field(const json& object, const char* name) { return count_field(object, name, 40); }

int64_t tokens_field_or_0(const json& object, const char* name) {
  return object.contains(name) ? tokens_field(object, name) : 0;
}

Truncation truncation_from(const json& object) {
  Truncation truncation;
  truncation.document_tokens = tokens_field(object, "document_tokens");
  truncation.kept_tokens = tokens_field(object, "kept_tokens");
  truncation.query_tokens = tokens_field_or_0(object, "query_tokens");
  truncation.query_whole = flag_field_or(object, "query_whole", true);
  if (!object.contains("kept")) return truncation;
  for (const json& span : array_field(object, "kept")) {
    const auto is_place = [](const json& number) {
      return number.is_number_unsigned() && number.get<uint64_t>() <= uint64_t{INT64_MAX};
    };
    if (!span.is_array() || span.size() != 3 || !std::ranges::all_of(span, is_place)) {
      throw FieldError("'kept' must hold [segment, begin, end] triples of numbers from 0 on");
    }
    truncation.kept.push_back(
        {span[0].get<int64_t>(), span[1].get<int64_t>(), span[2].get<int64_t>()});
  }
  return truncation;
}

json prediction_json(const PredictionReply& reply) {
  const Prediction& prediction = reply.prediction;
  json object = {{"ordinal", reply.ordinal},
                 {"text", prediction.text},
                 {"finish", std::string(to_string(prediction.finish))}};
  if (prediction.tokens_in != 0) object["tokens_in"] = prediction.tokens_in;
  if (prediction.tokens_out != 0) object["tokens_out"] = prediction.tokens_out;
  if (prediction.repaired_bytes != 0) object["repaired_bytes"] = prediction.repaired_bytes;
  if (!prediction.prompt.empty()) object["prompt"] = prediction.prompt;
  if (prediction.truncation) object["truncation"] = truncation_json(*prediction.truncation);
  if (prediction.extra != Json{}) object["extra"] = parsed(prediction.extra);
  return object;
}

FinishReason finish_from(const std::string& name) {
  if (const std::optional<FinishReason> reason = finish_reason_from(name)) return *reason;
  throw FieldError("'finish' must be stop, length, overlength, reasoning or filtered, not '" +
                   name + "'");
}

PredictionReply prediction_from(const json& object) {
  PredictionReply reply;
  reply.ordinal = integer_field(object, "ordinal");
  Prediction& prediction = reply.prediction;
  prediction.text = text_field(object, "text");
  if (Status sound = check_prediction_length(prediction.text); !sound) {
    throw FieldError("example " + std::to_string(reply.ordinal) + ": " + sound.error().message);
  }
  prediction.finish = finish_from(text_field_or(object, "finish", "stop"));
  prediction.tokens_in = tokens_field_or_0(object, "tokens_in");
  prediction.tokens_out = tokens_field_or_0(object, "tokens_out");
  prediction.repaired_bytes = count_field_or(object, "repaired_bytes", 0);
  prediction.prompt = text_field_or(object, "prompt", "");
  if (object.contains("truncation")) {
    prediction.truncation = truncation_from(object_field(object, "truncation"));
  }
  prediction.extra = json_field_or_empty(object, "extra");
  return reply;
}

/// Names of values and roles of files: of this length, as they become rows and parts of names.
std::string short_name(const std::string& name) {
  constexpr size_t kLongest = 64;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  if (!name.empty() && name.size() <= kLongest && std::ranges::all_of(name, is_plain)) return name;
  throw FieldError("'" + name +
                   "' is no name of at most 64 letters a-z and A-Z, digits, '_' and '.'");
}

TrainingPoint point_from(const json& object) {
  constexpr size_t kMostValues = 64;
  TrainingPoint point;
  point.step = count_field(object, "step");
  point.steps = count_field(object, "steps");
  for (const auto& [name, value] : object_field(object, "values").items()) {
    if (!value.is_number()) throw FieldError("'values' must hold numbers");
    point.values[short_name(name)] = value.get<double>();
  }
  if (point.values.empty() || point.values.size() > kMostValues) {
    throw FieldError("'values' must hold 1 to 64 numbers");
  }
  return point;
}

json outcome_json(const TrainingOutcome& outcome) {
  json files = json::array();
  for (const TrainedFile& file : outcome.files) {
    files.push_back(
        {{"role", file.role}, {"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  }
  const TrainingCost& cost = outcome.cost;
  return {{"files", std::move(files)},
          {"cost",
           {{"seconds", cost.seconds},
            {"steps", cost.steps},
            {"tokens", cost.tokens},
            {"flops", cost.flops},
            {"trainable_parameters", cost.trainable_parameters},
            {"peak_bytes", cost.peak_bytes}}}};
}

TrainingOutcome outcome_from(const json& object) {
  TrainingOutcome outcome;
  for (const json& item : array_field(object, "files")) {
    TrainedFile file{short_name(text_field(item, "role")), text_field(item, "name"),
                     text_field(item, "sha256"), count_field(item, "bytes")};
    const bool plain =
        !file.name.empty() && file.name.find('/') == std::string::npos && file.name.front() != '.';
    if (!plain) throw FieldError("'name' must be the name of a file in the folder of the training");
    if (file.sha256.size() != 64) throw FieldError("'sha256' must be 64 hex digits");
    outcome.files.push_back(std::move(file));
  }
  const json& cost = object_field(object, "cost");
  outcome.cost.seconds = cost.contains("seconds") ? real_field(cost, "seconds") : 0;
  outcome.cost.steps = count_field_or(cost, "steps", 0);
  outcome.cost.tokens = count_field_or(cost, "tokens", 0);
  outcome.cost.flops = integer_field_or(cost, "flops", 0);
  outcome.cost.trainable_parameters = count_field_or(cost, "trainable_parameters", 0);
  outcome.cost.peak_bytes = count_field_or(cost, "peak_bytes", 0);
  if (outcome.cost.seconds < 0 || outcome.cost.flops < 0) {
    throw FieldError("'cost' must hold numbers from 0 on");
  }
  return outcome;
}

constexpr std::string_view kStages[] = {"predict", "train", "both"};  // by Stage

json param_spec_json(const ParamSpec& spec) {
  json object = {{"name", spec.name}, {"type", std::string(to_string(spec.type))}};
  if (!spec.unit.empty()) object["unit"] = spec.unit;
  if (spec.default_value) object["default"] = to_json(*spec.default_value);
  if (spec.required) object["required"] = true;
  if (spec.minimum) object["minimum"] = *spec.minimum;
  if (spec.maximum) object["maximum"] = *spec.maximum;
  if (!spec.choices.empty()) object["choices"] = spec.choices;
  if (!spec.doc.empty()) object["doc"] = spec.doc;
  if (spec.numerics) object["numerics"] = true;
  if (spec.stage != Stage::predict) object["stage"] = kStages[static_cast<size_t>(spec.stage)];
  return object;
}

ParamType param_type_from(const std::string& name) {
  for (ParamType type :
       {ParamType::boolean, ParamType::integer, ParamType::real, ParamType::text}) {
    if (to_string(type) == name) return type;
  }
  throw FieldError("'type' must be boolean, integer, real or text, not '" + name + "'");
}

ParamSpec param_spec_from(const json& object) {
  ParamSpec spec;
  spec.name = text_field(object, "name");
  spec.type = param_type_from(text_field(object, "type"));
  spec.unit = text_field_or(object, "unit", "");
  spec.doc = text_field_or(object, "doc", "");
  spec.required = flag_field_or(object, "required", false);
  spec.numerics = flag_field_or(object, "numerics", false);
  const auto stage = std::ranges::find(kStages, text_field_or(object, "stage", "predict"));
  if (stage == std::end(kStages)) throw FieldError("'stage' must be predict, train or both");
  spec.stage = static_cast<Stage>(stage - std::begin(kStages));
  if (object.contains("default")) {
    spec.default_value = param_value(object["default"], spec.type, spec.name);
  }
  if (object.contains("minimum")) spec.minimum = real_field(object, "minimum");
  if (object.contains("maximum")) spec.maximum = real_field(object, "maximum");
  if (object.contains("choices")) {
    for (const json& choice : array_field(object, "choices")) {
      if (!choice.is_string()) throw FieldError("'choices' must hold strings");
      spec.choices.push_back(choice.get<std::string>());
    }
  }
  return spec;
}

MetricDescription metric_from(const json& object) {
  MetricDescription metric;
  for (const json& column : array_field(object, "columns")) {
    const std::string name = column.is_string() ? column.get<std::string>() : "";
    const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("_.+-").find(c) != std::string_view::npos;
    });
    if (!plain || std::ranges::count(metric.columns, name) > 0) {
      throw FieldError(
          "'columns' must hold distinct names of letters, digits, '_', '.', '+' and '-'");
    }
    metric.columns.push_back(name);
  }
  if (metric.columns.empty()) throw FieldError("'columns' must name one value at least");
  metric.needs.references = false;
  for (const json& need : array_field(object, "needs")) {
    if (need == "references") {
      metric.needs.references = true;
    } else if (need == "document") {
      metric.needs.document = true;
    } else if (need == "query") {
      metric.needs.query = true;
    } else {
      throw FieldError("'needs' may hold references, document and query");
    }
  }
  return metric;
}

ScoreReply score_from(const json& object) {
  ScoreReply reply;
  reply.ordinal = integer_field(object, "ordinal");
  for (const auto& [column, value] : object_field(object, "values").items()) {
    if (!value.is_number()) throw FieldError("'values' must hold numbers");
    reply.values[column] = value.get<double>();
  }
  return reply;
}

std::vector<int64_t> places_from(const json& object, const char* name) {
  std::vector<int64_t> places;
  for (const json& place : array_field(object, name)) {
    if (!place.is_number_unsigned() || place.get<uint64_t>() > uint64_t{INT64_MAX}) {
      throw FieldError(std::string("'") + name + "' must hold numbers from 0 on");
    }
    places.push_back(place.get<int64_t>());
  }
  return places;
}

Description description_from(const json& object) {
  Description description;
  description.name = text_field(object, "name");
  const int64_t version = integer_field(object, "version");
  if (version < 1 || version > 1'000'000'000)
    throw FieldError("'version' must be a positive integer");
  description.version = static_cast<int>(version);
  description.doc = text_field_or(object, "doc", "");
  description.references = flag_field_or(object, "references", false);
  description.evidence = flag_field_or(object, "evidence", false);
  if (object.contains("params")) {
    for (const json& spec : array_field(object, "params")) {
      description.params.push_back(param_spec_from(spec));
    }
  }
  if (object.contains("artifacts")) {
    for (const json& role : array_field(object, "artifacts")) {
      if (!role.is_string()) throw FieldError("'artifacts' must hold roles of trained files");
      description.artifacts.push_back(short_name(role.get<std::string>()));
    }
  }
  if (object.contains("metric")) description.metric = metric_from(object_field(object, "metric"));
  return description;
}

json phase_json(const Phase& phase) {
  json object = {{"name", phase.name}, {"ns", phase.ns}, {"tokens", phase.tokens}};
  if (phase.work) {
    object["flops"] = phase.work->flops;
    object["bytes"] = phase.work->bytes;
  }
  return object;
}

Phase phase_from(const json& object) {
  Phase phase{text_field(object, "name"), count_field(object, "ns"),
              tokens_field(object, "tokens")};
  const bool plain = !phase.name.empty() && std::ranges::all_of(phase.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!plain || phase.name.size() > 64 || phase.name == "total") {
    throw FieldError("the 'name' of a phase is snake_case and not \"total\"");
  }
  if (object.contains("flops") || object.contains("bytes")) {
    phase.work = {integer_field_or(object, "flops", 0), integer_field_or(object, "bytes", 0)};
    if (phase.work->flops < 0 || phase.work->bytes < 0) {
      throw FieldError("'flops' and 'bytes' of a phase must not be negative");
    }
  }
  return phase;
}

MachineLimits limits_from(const json& object) {
  const MachineLimits limits{integer_field(object, "read_bytes_per_second"),
                             integer_field(object, "copy_bytes_per_second"),
                             integer_field(object, "gemm_flops_per_second")};
  if (limits.read_bytes <= 0 || limits.copy_bytes <= 0 || limits.gemm_flops <= 0) {
    throw FieldError("'limits' must hold rates above 0");
  }
  return limits;
}

DoneReply done_from(const json& object) {
  DoneReply done{count_field_or(object, "ns", 0), count_field_or(object, "peak_resident_bytes", 0),
                 device_counts_from(object)};
  if (object.contains("limits")) done.limits = limits_from(object_field(object, "limits"));
  return done;
}

struct ReplyEncoder {
  json operator()(const ProbeReply& probe) const {
    return {{"probe",
             {{"protocol", probe.protocol},
              {"host", probe.host},
              {"numerics", parsed(probe.numerics)},
              {"facts", parsed(probe.facts)}}}};
  }
  json operator()(const Description& description) const {
    json params = json::array();
    for (const ParamSpec& spec : description.params) params.push_back(param_spec_json(spec));
    json object = {{"name", description.name},         {"version", description.version},
                   {"doc", description.doc},           {"references", description.references},
                   {"evidence", description.evidence}, {"params", std::move(params)}};
    if (!description.artifacts.empty()) object["artifacts"] = description.artifacts;
    if (description.metric) {
      json needs = json::array();
      if (description.metric->needs.references) needs.push_back("references");
      if (description.metric->needs.document) needs.push_back("document");
      if (description.metric->needs.query) needs.push_back("query");
      object["metric"] = {{"columns", description.metric->columns}, {"needs", std::move(needs)}};
    }
    return {{"description", std::move(object)}};
  }
  json operator()(const OpenedReply&) const { return {{"opened", true}}; }
  json operator()(const PredictionReply& prediction) const {
    return {{"prediction", prediction_json(prediction)}};
  }
  json operator()(const ScoreReply& score) const {
    return {{"score", {{"ordinal", score.ordinal}, {"values", score.values}}}};
  }
  json operator()(const TextsReply& reply) const {
    return {{"texts", {{"truncated", reply.added.truncated}, {"empty", reply.added.empty}}}};
  }
  json operator()(const PhaseReply& phase) const { return {{"phase", phase_json(phase)}}; }
  json operator()(const DoneReply& done) const {
    json body = {{"ns", done.ns}, {"peak_resident_bytes", done.peak_resident_bytes}};
    for (const auto& [name, bytes] : kDeviceFields) {
      if (done.device.*bytes) body[name] = *(done.device.*bytes);
    }
    if (done.limits) {
      body["limits"] = {{"read_bytes_per_second", done.limits->read_bytes},
                        {"copy_bytes_per_second", done.limits->copy_bytes},
                        {"gemm_flops_per_second", done.limits->gemm_flops}};
    }
    return {{"done", std::move(body)}};
  }
  json operator()(const LearnedReply& reply) const { return {{"learned", reply.examples}}; }
  json operator()(const PointReply& point) const {
    return {{"point", {{"step", point.step}, {"steps", point.steps}, {"values", point.values}}}};
  }
  json operator()(const FittedReply& outcome) const { return {{"fitted", outcome_json(outcome)}}; }
  json operator()(const HeartbeatReply&) const { return {{"heartbeat", true}}; }
  json operator()(const ClosedReply&) const { return {{"closed", true}}; }
  json operator()(const ModelReply& reply) const { return {{"answer", parsed(reply.answer)}}; }
  json operator()(const ErrorReply& failure) const {
    json error = {{"kind", std::string(to_string(failure.error.kind))},
                  {"message", failure.error.message}};
    if (!failure.error.where.empty()) error["where"] = failure.error.where;
    return {{"error", std::move(error)}, {"usable", failure.usable}};
  }
};

/// A host knows nothing of our store, and its story fits into a line.
Error error_from(const json& object) {
  constexpr size_t kLongestMessage = 4096;
  Error error{error_kind_from(text_field(object, "kind")), text_field(object, "message"),
              text_field_or(object, "where", "")};
  if (error.kind == ErrorKind::store) error.kind = ErrorKind::internal;
  for (std::string* const text : {&error.message, &error.where}) {
    if (text->size() <= kLongestMessage) continue;
    text->resize(whole_code_points(*text, kLongestMessage));
    *text += "…";
  }
  return error;
}

Reply reply_from(const json& object) {
  Reply reply;
  reply.id = integer_field(object, "id");
  if (object.contains("prediction")) {
    reply.body = prediction_from(object_field(object, "prediction"));
  } else if (object.contains("score")) {
    reply.body = score_from(object_field(object, "score"));
  } else if (object.contains("texts")) {
    const json& texts = object_field(object, "texts");
    reply.body = TextsReply{{places_from(texts, "truncated"), places_from(texts, "empty")}};
  } else if (object.contains("phase")) {
    reply.body = phase_from(object_field(object, "phase"));
  } else if (object.contains("done")) {
    reply.body = done_from(object_field(object, "done"));
  } else if (object.contains("learned")) {
    reply.body = LearnedReply{count_field(object, "learned")};
  } else if (object.contains("point")) {
    reply.body = point_from(object_field(object, "point"));
  } else if (object.contains("fitted")) {
    reply.body = outcome_from(object_field(object, "fitted"));
  } else if (object.contains("heartbeat")) {
    reply.body = HeartbeatReply{};
  } else if (object.contains("error")) {
    reply.body = ErrorReply{error_from(object_field(object, "error")),
                            flag_field_or(object, "usable", false)};
  } else if (object.contains("opened")) {
    reply.body = OpenedReply{};
  } else if (object.contains("closed")) {
    reply.body = ClosedReply{};
  } else if (object.contains("answer")) {
    reply.body = ModelReply{Json{object_field(object, "answer").dump()}};
  } else if (object.contains("probe")) {
    const json& probe = object_field(object, "probe");
    const int64_t protocol = integer_field(probe, "protocol");
    if (protocol < 1 || protocol > INT32_MAX) {
      throw FieldError("'protocol' must be a positive integer, not " + std::to_string(protocol));
    }
    reply.body =
        ProbeReply{static_cast<int>(protocol), text_field(probe, "host"),
                   json_field_or_empty(probe, "numerics"), json_field_or_empty(probe, "facts")};
  } else if (object.contains("description")) {
    reply.body = description_from(object_field(object, "description"));
  } else {
    throw FieldError(
        "a reply holds one of probe, description, opened, prediction, score, texts, phase, done, "
        "learned, point, fitted, heartbeat, closed, answer, error");
  }
  return reply;
}

}  // namespace

std::string encode(const Reply& reply) {
  json object = std::visit(ReplyEncoder{}, reply.body);
  object["id"] = reply.id;
  return object.dump();
}

Result<Reply> decode_reply(std::string_view line) {
  Result<json> object = parse_json(line, "reply", {.max_depth = 64, .max_bytes = kMaxMessageBytes});
  if (!object) return object.error();
  try {
    return reply_from(*object);
  } catch (const FieldError& error) {
    return data_error(error.what(), "reply");
  } catch (const json::exception& error) {
    return data_error(error.what(), "reply");
  }
}

}  // namespace qfs::host
