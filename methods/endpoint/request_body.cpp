#include "methods/endpoint/request_body.h"

#include <nlohmann/json.hpp>

namespace qfs::endpoint {

using nlohmann::json;

RequestBody request_body(const Params& params, uint64_t seed, const std::string& text) {
  json body = {{"model", params.get<std::string>("model")},
               {"max_tokens", params.get<int64_t>("max_new_tokens")},
               {"temperature", params.get<double>("temperature")}};
  RequestBody request;
  if (params.get<std::string>("api") == "chat") {
    json messages = json::array();
    if (auto system = params.find<std::string>("system")) {
      messages.push_back({{"role", "system"}, {"content", *system}});
    }
    messages.push_back({{"role", "user"}, {"content", text}});
    request.prompt = messages.dump();
    body["messages"] = std::move(messages);
  } else {
    request.prompt = text;
    body["prompt"] = text;
  }
  if (const auto top_p = params.find<double>("top_p")) body["top_p"] = *top_p;
  if (params.get<bool>("send_seed")) body["seed"] = seed;
  if (auto stop = params.find<std::string>("stop")) body["stop"] = json::array({*stop});
  if (const auto extra = params.find<std::string>("extra_body")) {
    body.merge_patch(json::parse(*extra));  // checked when planned
  }
  request.json = body.dump();
  return request;
}

}  // namespace qfs::endpoint
