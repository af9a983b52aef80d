#include "methods/endpoint/spec.h"

#include <algorithm>

#include "harness/api/param_specs.h"
#include "methods/endpoint/settings.h"
#include "methods/models/prompting/length_params.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::endpoint {
namespace {

constexpr int64_t kUnitRounds = 4;
constexpr const char* kApi = "OpenAI API reference";

/// With the first of the choices as default.
ParamSpec choice(std::string name, std::vector<std::string> choices, std::string doc) {
  std::string first = choices.front();
  return with_default(choice_param(std::move(name), std::move(choices), std::move(doc)),
                      std::move(first));
}

/// How requests travel: in no id.
ParamSpec transport(ParamSpec spec) {
  spec.transport = true;
  return spec;
}

ParamSpec a_file(ParamSpec spec) {
  spec.path = true;
  return spec;
}

/// What is asked of the model.
void add_request(std::vector<ParamSpec>& params) {
  params.push_back(required(text_param("model", "Name by which the server knows the model")));
  params.push_back(required(
      text_param("revision",
                 "Which version of the model the name stands for, in your words; \"live\" when "
                 "nobody knows: no other sweep then reuses the outputs")));
  params.push_back(choice("api", {"chat", "completions"}, "Form of the requests"));
  params.push_back(prompting::local_context_param());
  params.push_back(prompting::truncate_param());
  params.push_back(choice("count_by", {"tokenizer", "server"},
                          "Who counts document tokens: the cell's tokenizer, or the server's "
                          "/tokenize"));
  params.push_back(
      from_source(prompting::max_new_tokens_param(), std::string(kApi) + ": max_tokens"));
  params.push_back(from_source(
      with_default(real_param("temperature", "", 0, 2, "0: the likeliest token"), 0.0), kApi));
  params.push_back(
      from_source(real_param("top_p", "", 0, 1, "Nucleus; not sent when left out"), kApi));
  params.push_back(flag_param("send_seed", true, "Send the cell's seed; some servers refuse one"));
  params.push_back(with_default(text_param("prompt", "Template with {document} and {query}"),
                                std::string(prompting::default_prompt())));
  params.push_back(text_param("system", "System message; none when left out"));
  params.push_back(text_param("stop", "Text that ends the answer"));
  params.push_back(from_source(
      text_param("extra_body", "Object merged into every request; null removes a member"),
      "RFC 7396"));
  params.push_back(
      text_param("headers",
                 "Object of further HTTP headers; {\"env\": \"NAME\"} as a value names the "
                 "environment variable that holds it"));
  params.push_back(
      flag_param("check_model", true, "The server's /models must list the model, if it has one"));
}

/// How requests travel.
void add_transport(std::vector<ParamSpec>& params) {
  constexpr double kDay = 86400;
  params.push_back(transport(required(
      text_param("base_url", "Address up to the version, e.g. http://127.0.0.1:8000/v1"))));
  params.push_back(transport(
      text_param("api_key_env", "Name of the environment variable that holds the API key")));
  params.push_back(
      a_file(text_param("ca_file", "Certificates (PEM) to trust instead of the system's")));
  params.push_back(transport(with_default(
      integer_param("max_in_flight", "requests", 1, 256, "Requests at a time"), int64_t{4})));
  params.push_back(
      transport(real_param("requests_per_minute", "requests/min", 0.001, 1e6,
                           "Most requests begun in a minute; no limit when left out")));
  params.push_back(transport(with_default(
      integer_param("retries", "tries", 0, 100, "Further tries after a failure that may pass"),
      int64_t{5})));
  params.push_back(transport(
      with_default(real_param("backoff", "s", 0, kDay,
                              "Pause before the first retry; doubled before each further one"),
                   1.0)));
  params.push_back(
      transport(with_default(real_param("longest_backoff", "s", 0, kDay,
                                        "Longest pause, unless Retry-After asks for more"),
                             60.0)));
  params.push_back(
      transport(with_default(real_param("longest_retry_after", "s", 0, kDay,
                                        "A Retry-After beyond this ends the cell's run"),
                             600.0)));
  params.push_back(transport(with_default(
      real_param("connect_timeout", "s", 0.01, kDay, "Longest wait for a connection"), 15.0)));
  params.push_back(transport(with_default(
      real_param("timeout", "s", 0.01, kDay, "Longest wait for a whole answer"), 600.0)));
  params.push_back(
      transport(real_param("price_in", "per 1M tokens", 0, 1e9, "Price of prompt tokens")));
  params.push_back(
      transport(real_param("price_cached", "per 1M tokens", 0, 1e9,
                           "Price of prompt tokens that the server had cached; price_in "
                           "when left out")));
  params.push_back(
      transport(real_param("price_out", "per 1M tokens", 0, 1e9, "Price of answered tokens")));
}

}  // namespace

std::string_view EndpointSpec::doc() const {
  return "An OpenAI-compatible HTTP(S) server is prompted with the document and the query";
}

std::vector<std::string> EndpointSpec::layers(const Params&, const BackboneFacts&) const {
  return {"truncation@1"};
}

std::vector<ParamSpec> EndpointSpec::params() const {
  std::vector<ParamSpec> params;
  add_request(params);
  add_transport(params);
  return params;
}

Needs EndpointSpec::needs(const Params& params) const {
  Needs needs;
  needs.tokenizer = params.find<std::string>("count_by") != "server";
  needs.network = true;
  needs.separate_rows = true;
  needs.secrets = secret_variables(params);
  return needs;
}

Status EndpointSpec::validate(const Params& params) const {
  return prompting::check_prompt(params.get<std::string>("prompt")).ok()
             ? check_settings(params)
             : prompting::check_prompt(params.get<std::string>("prompt"));
}

std::vector<Unit> EndpointSpec::units(const Params& params,
                                      std::span<const NumberedExample> examples) const {
  const auto size = static_cast<size_t>(kUnitRounds * params.get<int64_t>("max_in_flight"));
  std::vector<Unit> units;
  for (size_t i = 0; i < examples.size(); ++i) {
    if (i % size == 0) units.emplace_back();
    units.back().ordinals.push_back(examples[i].ordinal);
  }
  return units;
}

Cost EndpointSpec::cost(const Params& params, const DatasetStats& stats) const {
  // A model of medium size: which cell takes longer than another does not depend on it.
  constexpr double kParameters = 8e9;
  constexpr double kTokensPerWord = 1.35;
  double document = stats.mean_document_words * kTokensPerWord;
  if (const auto limit = params.find<int64_t>("local_context")) {
    document = std::min(document, static_cast<double>(*limit));
  }
  const auto produced = static_cast<double>(params.get<int64_t>("max_new_tokens"));
  const auto examples = static_cast<double>(stats.examples);
  Cost cost;
  cost.tokens_out = examples * produced;
  cost.flops =
      examples * 2 * kParameters * (document + stats.mean_query_words * kTokensPerWord + produced);
  return cost;
}

std::string EndpointSpec::sweep_bound(const Params& params) const {
  if (params.get<std::string>("revision") != kLive) return {};
  return params.get<std::string>("base_url");
}

}  // namespace qfs::endpoint
