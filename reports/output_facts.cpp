#include "reports/output_facts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ranges>

#include "harness/api/training_warnings.h"
#include "harness/core/json_dom.h"
#include "harness/core/whole_number.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

/// The facts of an output, an object or null.
json facts_of(const store::OutputRow& output) {
  Result<json> extra = parse_json(output.prediction.extra.text, "extra");
  return extra && extra->is_object() ? *std::move(extra) : json();
}

/// {"observed": {…}} of them, likewise.
json observed_facts(const store::OutputRow& output) {
  const json facts = facts_of(output);
  const auto observed = facts.find("observed");
  return observed != facts.end() && observed->is_object() ? *observed : json();
}

std::optional<int64_t> integer_in(const json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<int64_t>();
}

/// Canonical JSON writes real numbers as texts, integers as they are.
std::optional<double> number_of(const json& said) {
  if (said.is_number()) return said.get<double>();
  if (!said.is_string()) return std::nullopt;
  return whole_number<double>(said.get_ref<const std::string&>());
}

}  // namespace

std::vector<SaidNumber> said_numbers(std::span<const store::OutputRow> outputs,
                                     const std::string& name) {
  std::vector<SaidNumber> said;
  json::json_pointer place;
  for (const auto part : std::views::split(name, '.')) {
    place.push_back(std::string(part.begin(), part.end()));
  }
  for (const store::OutputRow& output : outputs) {
    for (const json& facts : {facts_of(output), observed_facts(output)}) {
      const auto number = facts.contains(place) ? number_of(facts[place]) : std::nullopt;
      if (!number || !std::isfinite(*number)) continue;
      said.push_back({output.ordinal, *number});
      break;
    }
  }
  return said;
}

std::set<std::string> warnings_of(const store::OutputRow& output) {
  std::set<std::string> warnings;
  const json observed = observed_facts(output);
  for (const auto& [name, value] : observed.items()) {
    if (name.starts_with(kTrainingWarning)) warnings.insert(warning_words(name));
  }
  return warnings;
}

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
  const auto price = [&](const char* name) { return number_of(object->value(name, json())); };
  const auto in = price("price_in");
  const auto out = price("price_out");
  if (!in || !out) return std::nullopt;
  return Prices{*in, price("price_cached").value_or(*in), *out};
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
