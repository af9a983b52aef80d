#include "harness/score/run_signature.h"

#include <algorithm>

#include "harness/core/sha256.h"

namespace qfs::score {
namespace {

constexpr size_t kHashDigits = 8;

std::string references_text(const RunFacts& facts) {
  const std::string most = std::to_string(facts.most_references);
  if (facts.fewest_references == facts.most_references) return most;
  return std::to_string(facts.fewest_references) + "-" + most;
}

std::string missing_text(const RunFacts& facts) {
  return facts.missing_policy + ";" + std::to_string(facts.missing);
}

}  // namespace

std::string long_signature(const Metric& metric, const RunFacts& facts) {
  std::string intervals = facts.intervals;
  std::ranges::replace(intervals, '|', ';');
  std::string text = metric.signature() + "|n:" + std::to_string(facts.items) +
                     "|nrefs:" + references_text(facts) + "|missing:" + missing_text(facts) +
                     "|empty:" + std::to_string(facts.empty_predictions) +
                     "|empty-refs:" + std::to_string(facts.empty_references) +
                     "|unit:" + facts.unit + "|ci:" + intervals;
  if (!facts.dataset.empty()) text += "|data:" + facts.dataset;
  if (facts.postprocess != "[]") text += "|post:" + facts.postprocess;
  return text + "|qfs-bench:" + facts.version;
}

std::string short_signature(const Metric& metric, const RunFacts& facts) {
  return std::string(metric.name()) + "|nrefs:" + references_text(facts) +
         "|missing:" + missing_text(facts) + "|empty:" + std::to_string(facts.empty_predictions) +
         "|unit:" + facts.unit + "|#" +
         sha256_hex(long_signature(metric, facts)).substr(0, kHashDigits);
}

}  // namespace qfs::score
