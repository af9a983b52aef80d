#include "reports/signature.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "harness/api/ids.h"
#include "harness/core/whole_number.h"

namespace qfs::reports {
namespace {

/// "key:value" parts of a signature; a part without a colon has an empty value.
std::map<std::string, std::string, std::less<>> signature_parts(std::string_view signature) {
  std::map<std::string, std::string, std::less<>> parts;
  while (!signature.empty()) {
    const size_t end = signature.find('|');
    const std::string_view part = signature.substr(0, end);
    const size_t colon = part.find(':');
    parts.emplace(part.substr(0, colon),
                  colon == std::string_view::npos ? "" : part.substr(colon + 1));
    if (end == std::string_view::npos) break;
    signature.remove_prefix(end + 1);
  }
  return parts;
}

std::string percent(const std::string& level) {
  const auto value = whole_number<double>(level);
  return value ? fmt::format("{:g} %", *value * 100) : level;
}

}  // namespace

std::vector<std::string> dataset_signatures(const SweepFacts& facts) {
  std::map<DatasetId, std::set<size_t>> selected;
  for (const PlaceFacts& place : facts.places) {
    selected[place.cell.dataset].insert(place.cell.ordinals.size());
  }
  std::vector<std::string> lines;
  for (const auto& [id, counts] : selected) {
    const DatasetManifest& manifest = facts.datasets.at(id).manifest;
    std::string line = manifest.name;
    for (const std::string& part : {manifest.split, manifest.view, manifest.text_form}) {
      if (!part.empty()) line += "/" + part;
    }
    lines.push_back(fmt::format("{}#{} n={}", line, id.short_hex(), fmt::join(counts, "|")));
  }
  return lines;
}

std::vector<std::string> metric_signatures(const UsedSources& used) {
  std::vector<std::string> lines;
  for (const auto& [name, signature] : used.metrics) {
    const bool repeats = signature.starts_with(name + "|");
    lines.push_back(name + ": " + (repeats ? signature.substr(name.size() + 1) : signature));
  }
  return lines;
}

std::string interval_words(std::string_view interval_method) {
  const auto parts = signature_parts(interval_method);
  const auto has = [&](std::string_view key) { return parts.find(key) != parts.end(); };
  if (!interval_method.starts_with("bootstrap|") || !has("n") || !has("seed") || !has("level")) {
    return std::string(interval_method);
  }
  const auto unit = parts.find("unit");
  const bool clustered = unit != parts.end() && unit->second == "cluster";
  std::string words = fmt::format(
      "{}, {}, {} resamples, seed {}", clustered ? "cluster bootstrap by document" : "bootstrap",
      percent(parts.find("level")->second), parts.find("n")->second, parts.find("seed")->second);
  const auto version = parts.find("v");
  if (version != parts.end() && version->second != "1") words += ", v" + version->second;
  return words;
}

std::string signature_line(std::string_view program, const SweepFacts& facts,
                           const UsedSources& used) {
  std::string line = fmt::format("{} | identity {} | data {}", program, kIdentityVersion,
                                 fmt::join(dataset_signatures(facts), ", "));
  for (const std::string& metric : metric_signatures(used)) line += " | " + metric;
  for (const std::string& method : used.interval_methods) {
    line += " | intervals: " + interval_words(method);
  }
  return line;
}

}  // namespace qfs::reports
