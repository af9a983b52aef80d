#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/api/document_cutter.h"
#include "harness/core/json_dom.h"
#include "harness/host/json_fields.h"
#include "harness/host/messages.h"

namespace qfs::host {
namespace {

using nlohmann::json;

constexpr std::string_view kSessionKinds[] = {"method", "metric", "train"};  // by SessionKind
constexpr std::array<std::string_view, 5> kModelVerbs = {"inspect", "verify", "logits", "generate",
                                                         "roofline"};

json resource_json(const Resource& resource) {
  return {{"name", resource.name}, {"path", resource.path}, {"digest", resource.digest}};
}

Resource resource_from(const json& object) {
  return {text_field(object, "name"), text_field(object, "path"), text_field(object, "digest")};
}

json runtime_json(const RuntimeOptions& runtime) {
  return {{"device", runtime.device},
          {"dtype", runtime.dtype},
          {"threads", runtime.threads},
          {"ignore_eos", runtime.ignore_eos}};
}

RuntimeOptions runtime_from(const json& object) {
  RuntimeOptions runtime;
  runtime.device = text_field(object, "device");
  runtime.dtype = text_field(object, "dtype");
  const int64_t threads = integer_field(object, "threads");
  if (threads < 1 || threads > 4096) throw FieldError("'threads' must be in 1..4096");
  runtime.threads = static_cast<int>(threads);
  runtime.ignore_eos = flag_field_or(object, "ignore_eos", false);
  return runtime;
}

json document_json(const std::vector<Segment>& document) {
  json list = json::array();
  for (const Segment& segment : document) {
    json item = {{"text", segment.text}};
    if (!segment.speaker.empty()) item["speaker"] = segment.speaker;
    list.push_back(std::move(item));
  }
  return list;
}

std::vector<Segment> document_from(const json& list) {
  std::vector<Segment> document;
  for (const json& segment : list) {
    document.push_back({text_field(segment, "text"), text_field_or(segment, "speaker", "")});
  }
  return document;
}

json example_json(const NumberedExample& numbered, Visibility visibility) {
  const Example& example = numbered.example;
  json object = {{"ordinal", numbered.ordinal},
                 {"key", example.key},
                 {"document_id", example.document_id},
                 {"language", example.language},
                 {"document", document_json(example.document)},
                 {"query", example.query}};
  if (!example.other_document.empty()) {
    object["other_document"] = document_json(example.other_document);
  }
  if (example.other_query) object["other_query"] = *example.other_query;
  if (visibility.references) object["references"] = example.references;
  if (visibility.evidence) {
    json spans = json::array();
    for (const SegmentSpan& span : example.evidence) spans.push_back({span.first, span.last});
    object["evidence"] = std::move(spans);
  }
  return object;
}

SegmentSpan span_from(const json& item) {
  if (!item.is_array() || item.size() != 2 || !item[0].is_number_integer() ||
      !item[1].is_number_integer()) {
    throw FieldError("'evidence' must hold [first, last] pairs");
  }
  return {item[0].get<int64_t>(), item[1].get<int64_t>()};
}

NumberedExample example_from(const json& object) {
  NumberedExample numbered;
  numbered.ordinal = integer_field(object, "ordinal");
  Example& example = numbered.example;
  example.key = text_field(object, "key");
  example.document_id = text_field(object, "document_id");
  example.language = text_field_or(object, "language", "en");
  example.query = text_field(object, "query");
  example.document = document_from(array_field(object, "document"));
  if (object.contains("other_document")) {
    example.other_document = document_from(array_field(object, "other_document"));
  }
  if (object.contains("other_query")) example.other_query = text_field(object, "other_query");
  if (object.contains("references")) {
    for (const json& reference : array_field(object, "references")) {
      if (!reference.is_string()) throw FieldError("'references' must hold strings");
      example.references.push_back(reference.get<std::string>());
    }
  }
  if (object.contains("evidence")) {
    for (const json& span : array_field(object, "evidence")) {
      example.evidence.push_back(span_from(span));
    }
  }
  return numbered;
}

json open_json(const OpenRequest& open) {
  json params = json::object();
  for (const auto& [name, value] : open.session.params.values()) params[name] = to_json(value);
  json object = {{"verb", "open"},
                 {"method", open.method},
                 {"params", std::move(params)},
                 {"seed", open.session.seed},
                 {"runtime", runtime_json(open.session.runtime)}};
  if (open.kind != SessionKind::method) {
    object["kind"] = kSessionKinds[static_cast<size_t>(open.kind)];
  }
  for (const auto& [role, file] : open.session.artifacts) {
    object["artifacts"][role] = resource_json(file);
  }
  if (open.session.backbone) object["backbone"] = resource_json(*open.session.backbone);
  for (const auto& [role, model] : open.session.backbones) {
    object["backbones"][role] = resource_json(model);
  }
  if (open.session.tokenizer) object["tokenizer"] = resource_json(*open.session.tokenizer);
  return object;
}

OpenRequest open_from(const json& object) {
  OpenRequest open;
  open.method = text_field(object, "method");
  const std::string kind = text_field_or(object, "kind", "method");
  const auto known = std::ranges::find(kSessionKinds, kind);
  if (known == std::end(kSessionKinds)) {
    throw FieldError("'kind' must be method, metric or train");
  }
  open.kind = static_cast<SessionKind>(known - std::begin(kSessionKinds));
  for (const auto& [name, value] : object_field(object, "params").items()) {
    open.session.params.set(name, param_value(value, name));
  }
  const json& seed = object.at("seed");
  if (!seed.is_number_integer()) throw FieldError("'seed' must be an integer");
  open.session.seed = seed.get<uint64_t>();
  open.session.runtime = runtime_from(object_field(object, "runtime"));
  if (object.contains("backbone")) open.session.backbone = resource_from(object["backbone"]);
  if (object.contains("tokenizer")) open.session.tokenizer = resource_from(object["tokenizer"]);
  if (object.contains("backbones")) {
    for (const auto& [role, model] : object_field(object, "backbones").items()) {
      open.session.backbones[role] = resource_from(model);
    }
  }
  if (object.contains("artifacts")) {
    for (const auto& [role, file] : object_field(object, "artifacts").items()) {
      open.session.artifacts[role] = resource_from(file);
    }
  }
  return open;
}

json item_json(const ScoreItem& item, const MetricNeeds& needs) {
  json object = {{"ordinal", item.id}, {"prediction", item.candidate}, {"language", item.language}};
  if (needs.references) object["references"] = item.references;
  if (needs.document) object["document"] = item.document.value_or("");
  if (needs.query) object["query"] = item.query.value_or("");
  return object;
}

/// A number from 0 on.
int64_t index_from(const json& value, const char* name) {
  if (!value.is_number_integer() || value.get<int64_t>() < 0) {
    throw FieldError(std::string("'") + name + "' must be numbers from 0 on");
  }
  return value.get<int64_t>();
}

json texts_json(const TextsRequest& request) {
  json texts = json::array();
  json uses = json::array();
  for (const CorpusText& text : request.texts) {
    texts.push_back(text.text);
    uses.push_back(text.reference_uses);
  }
  json object = {
      {"verb", "texts"}, {"texts", std::move(texts)}, {"reference_uses", std::move(uses)}};
  if (request.begin) object["begin"] = true;
  return object;
}

TextsRequest texts_from(const json& object) {
  TextsRequest request;
  request.begin = flag_field_or(object, "begin", false);
  const json& texts = array_field(object, "texts");
  const json& uses = array_field(object, "reference_uses");
  if (texts.size() != uses.size()) {
    throw FieldError("'reference_uses' must hold one number a text");
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].is_string()) throw FieldError("'texts' must hold strings");
    request.texts.push_back({texts[i].get<std::string>(), index_from(uses[i], "reference_uses")});
  }
  return request;
}

json pairs_json(const PairsRequest& request) {
  json items = json::array();
  for (const TextPairs& item : request.items) {
    items.push_back({item.ordinal, item.candidate, item.references});
  }
  return {{"verb", "score"}, {"pairs", std::move(items)}};
}

PairsRequest pairs_from(const json& object) {
  PairsRequest request;
  for (const json& item : array_field(object, "pairs")) {
    if (!item.is_array() || item.size() != 3 || !item[2].is_array()) {
      throw FieldError("'pairs' must hold [ordinal, candidate, [reference, …]] triples");
    }
    TextPairs& pairs = request.items.emplace_back();
    pairs.ordinal = index_from(item[0], "pairs");
    pairs.candidate = index_from(item[1], "pairs");
    for (const json& reference : item[2]) {
      pairs.references.push_back(index_from(reference, "pairs"));
    }
  }
  return request;
}

std::vector<NumberedExample> examples_from(const json& object) {
  std::vector<NumberedExample> examples;
  for (const json& example : array_field(object, "examples")) {
    examples.push_back(example_from(example));
  }
  return examples;
}

RunRequest run_from(const json& object, bool measure) {
  RunRequest run;
  run.unit = integer_field(object, "unit");
  run.measure = measure;
  run.limits = flag_field_or(object, "limits", false);
  run.examples = examples_from(object);
  return run;
}

FitRequest fit_from(const json& object) {
  FitRequest fit;
  fit.folder = text_field(object, "folder");
  fit.training_cell = text_field(object, "training_cell");
  if (object.contains("steps")) fit.steps = count_field(object, "steps");
  return fit;
}

Request request_from(const json& object) {
  Request request;
  request.id = integer_field(object, "id");
  const std::string verb = text_field(object, "verb");
  if (verb == "probe") {
    request.body = ProbeRequest{runtime_from(object_field(object, "runtime"))};
  } else if (verb == "describe") {
    request.body = DescribeRequest{};
  } else if (verb == "open") {
    request.body = open_from(object);
  } else if (verb == "run" || verb == "measure") {
    request.body = run_from(object, verb == "measure");
  } else if (verb == "texts") {
    request.body = texts_from(object);
  } else if (verb == "score") {
    request.body = pairs_from(object);
  } else if (verb == "learn") {
    request.body = LearnRequest{flag_field_or(object, "development", false), examples_from(object)};
  } else if (verb == "fit") {
    request.body = fit_from(object);
  } else if (verb == "close") {
    request.body = CloseRequest{};
  } else if (std::ranges::find(kModelVerbs, verb) != kModelVerbs.end()) {
    request.body = ModelRequest{verb, resource_from(object_field(object, "model")),
                                runtime_from(object_field(object, "runtime")),
                                Json{object_field(object, "arguments").dump()}};
  } else {
    throw FieldError("unknown verb '" + verb + "'");
  }
  return request;
}

struct RequestEncoder {
  Visibility visibility;

  json operator()(const ProbeRequest& probe) const {
    return {{"verb", "probe"},
            {"protocol", kProtocolVersion},
            {"runtime", runtime_json(probe.runtime)}};
  }
  json operator()(const DescribeRequest&) const { return {{"verb", "describe"}}; }
  json operator()(const OpenRequest& open) const { return open_json(open); }
  json operator()(const RunRequest& run) const {
    json examples = json::array();
    for (const NumberedExample& example : run.examples) {
      json& item = examples.emplace_back(example_json(example, visibility));
      const auto ends = run.token_ends.find(example.ordinal);
      if (ends != run.token_ends.end()) item[kTokenEnds] = ends->second;
    }
    json object = {{"verb", run.measure ? "measure" : "run"},
                   {"unit", run.unit},
                   {"examples", std::move(examples)}};
    if (run.limits) object["limits"] = true;
    return object;
  }
  json operator()(const ScoreRequest& score) const {
    json items = json::array();
    for (const ScoreItem& item : score.items) items.push_back(item_json(item, score.needs));
    return {{"verb", "score"}, {"items", std::move(items)}};
  }
  json operator()(const TextsRequest& texts) const { return texts_json(texts); }
  json operator()(const PairsRequest& pairs) const { return pairs_json(pairs); }
  json operator()(const LearnRequest& learn) const {
    json examples = json::array();
    for (const NumberedExample& example : learn.examples) {
      examples.push_back(example_json(example, visibility));
    }
    json object = {{"verb", "learn"}, {"examples", std::move(examples)}};
    if (learn.development) object["development"] = true;
    return object;
  }
  json operator()(const FitRequest& fit) const {
    json object = {{"verb", "fit"}, {"folder", fit.folder}, {"training_cell", fit.training_cell}};
    if (fit.steps) object["steps"] = *fit.steps;
    return object;
  }
  json operator()(const CloseRequest&) const { return {{"verb", "close"}}; }
  json operator()(const ModelRequest& request) const {
    return {{"verb", request.verb},
            {"model", resource_json(request.model)},
            {"runtime", runtime_json(request.runtime)},
            {"arguments", parsed(request.arguments)}};
  }
};

}  // namespace

std::string encode(const Request& request, Visibility visibility) {
  json object = std::visit(RequestEncoder{visibility}, request.body);
  object["id"] = request.id;
  return object.dump();
}

Result<Request> decode_request(std::string_view line) {
  Result<json> object =
      parse_json(line, "request", {.max_depth = 64, .max_bytes = kMaxMessageBytes});
  if (!object) return object.error();
  if (object->is_object() && object->value("verb", json()) == "score" &&
      !object->contains("pairs")) {
    return unavailable("this host scores numbered texts ('pairs'), no items", "request");
  }
  try {
    return request_from(*object);
  } catch (const FieldError& error) {
    return invalid_argument(error.what(), "request");
  } catch (const json::exception& error) {
    return invalid_argument(error.what(), "request");
  }
}

}  // namespace qfs::host
