#include "methods/endpoint/model_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"

namespace qfs::endpoint {

using nlohmann::json;

ModelListing read_model_list(std::string_view body, std::string_view model) {
  constexpr size_t kMostNames = 100;
  constexpr int64_t kLongestWindow = int64_t{1} << 32;
  ModelListing listing;
  const Result<json> parsed = parse_json(repair_utf8(body).text, "models");
  if (!parsed.ok() || !parsed->is_object()) return listing;
  const auto data = parsed->find("data");
  if (data == parsed->end() || !data->is_array()) return listing;
  listing.known = true;
  for (const json& entry : *data) {
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) continue;
    const std::string name = entry["id"].get<std::string>();
    if (listing.names.size() < kMostNames) listing.names.push_back(name);
    if (name != model) continue;
    listing.listed = true;
    if (entry.contains("root") && entry["root"].is_string()) listing.root = entry["root"];
    const auto window = entry.find("max_model_len");
    if (window != entry.end() && window->is_number_integer()) {
      listing.window_tokens = std::clamp(window->get<int64_t>(), int64_t{0}, kLongestWindow);
    }
  }
  return listing;
}

Status check_listed(const ModelListing& listing, const std::string& model) {
  if (!listing.known || listing.listed) return {};
  return not_found("the server's /models does not list '" + model + "'" +
                   suggestion(model, listing.names) +
                   "; \"check_model\": false asks it all the same");
}

}  // namespace qfs::endpoint
