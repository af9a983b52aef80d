#include "reports/served.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

/// {"observed": {…}} of an output, or null.
json observed_facts(const store::OutputRow& output) {
  Result<json> extra = parse_json(output.prediction.extra.text, "extra");
  if (!extra || !extra->is_object() || !extra->contains("observed")) return {};
  json facts = (*extra)["observed"];
  return facts.is_object() ? facts : json();
}

std::optional<int64_t> integer_in(const json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<int64_t>();
}

/// A real parameter: canonical JSON writes it as text, integers as they are.
std::optional<double> price_in_params(const json& params, const char* name) {
  const auto it = params.find(name);
  if (it == params.end()) return std::nullopt;
  if (it->is_number()) return it->get<double>();
  if (!it->is_string()) return std::nullopt;
  const std::string text = it->get<std::string>();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<int64_t> served_latencies_ms(std::span<const store::OutputRow> outputs) {
  std::vector<int64_t> latencies;
  for (const store::OutputRow& output : outputs) {
    if (const auto ms = integer_in(observed_facts(output), "latency_ms")) latencies.push_back(*ms);
  }
  std::ranges::sort(latencies);
  return latencies;
}

int64_t percentile(std::span<const int64_t> sorted, int percent) {
  const size_t rank = (sorted.size() * static_cast<size_t>(percent) + 99) / 100;
  return sorted[std::clamp(rank, size_t{1}, sorted.size()) - 1];
}

std::optional<Prices> prices_in(const Json& params) {
  const Result<json> object = parse_json(params.text, "parameters");
  if (!object || !object->is_object()) return std::nullopt;
  const auto in = price_in_params(*object, "price_in");
  const auto out = price_in_params(*object, "price_out");
  if (!in || !out) return std::nullopt;
  return Prices{*in, price_in_params(*object, "price_cached").value_or(*in), *out};
}

std::optional<double> served_cost(std::span<const store::OutputRow> outputs, const Prices& prices) {
  constexpr double kTokensOfAPrice = 1e6;
  double cost = 0;
  for (const store::OutputRow& output : outputs) {
    const json facts = observed_facts(output);
    const auto usage = facts.is_object() ? facts.find("usage") : facts.end();
    if (!facts.is_object() || usage == facts.end()) {
      if (output.prediction.finish == FinishReason::overlength) continue;  // nothing was computed
      return std::nullopt;
    }
    const int64_t prompt = integer_in(*usage, "prompt_tokens").value_or(0);
    const int64_t cached = std::clamp(integer_in(*usage, "cached_tokens").value_or(0), int64_t{0},
                                      std::max(prompt, int64_t{0}));
    const int64_t answered = integer_in(*usage, "completion_tokens").value_or(0);
    cost += static_cast<double>(prompt - cached) * prices.in +
            static_cast<double>(cached) * prices.cached +
            static_cast<double>(answered) * prices.out;
  }
  return cost / kTokensOfAPrice;
}

}  // namespace qfs::reports
