#include "metrics/rouge155/report.h"

#include <algorithm>
#include <vector>

#include "harness/core/log.h"
#include "metrics/rouge155/five_digits.h"

namespace qfs::metrics::rouge155 {
namespace {

const std::string kDashes(45, '-');
const std::string kDots(45, '.');

std::string heading(const ReportBlock& block) {
  return terminal_safe(block.system) + " ROUGE-" + std::string(block.label);
}

/// Digits at the front without leading zeros; empty and `has_digits` false when there are none.
struct Number {
  bool has_digits = false;
  std::string_view digits;
};

Number number_in_front(std::string_view id) {
  size_t end = 0;
  while (end < id.size() && id[end] >= '0' && id[end] <= '9') ++end;
  std::string_view digits = id.substr(0, end);
  while (!digits.empty() && digits[0] == '0') digits.remove_prefix(1);
  return {end > 0, digits};
}

bool comes_before(const InstanceScore* a, const InstanceScore* b) {
  const Number left = number_in_front(a->id);
  const Number right = number_in_front(b->id);
  if (!left.has_digits || !right.has_digits) return a->id < b->id;
  if (left.digits.size() != right.digits.size()) return left.digits.size() < right.digits.size();
  if (left.digits != right.digits) return left.digits < right.digits;
  return a->id < b->id;  // equal numbers: upstream's order is that of a hash table
}

}  // namespace

std::string format_estimates(const ReportBlock& block, std::span<const Estimate> three) {
  constexpr char kNames[] = {'R', 'P', 'F'};
  std::string text = kDashes + "\n";
  for (size_t i = 0; i < 3; ++i) {
    text += heading(block) + " Average_" + kNames[i] + ": " + five_digits(three[i].average) + " (" +
            std::string(block.confidence) + "%-conf.int. " + five_digits(three[i].lower) + " - " +
            five_digits(three[i].upper) + ")\n";
  }
  return text;
}

std::string format_counts(const ReportBlock& block, const Counts& sums) {
  const auto whole = [](double count) { return std::to_string(static_cast<int64_t>(count)); };
  return kDashes + "\n" + heading(block) + " M_count: " + whole(sums.reference) +
         " P_count: " + whole(sums.candidate) + " H_count: " + whole(sums.hits) + "\n";
}

std::string format_instances(const ReportBlock& block, std::span<const InstanceScore> instances) {
  std::vector<const InstanceScore*> order;
  for (const InstanceScore& instance : instances) order.push_back(&instance);
  std::stable_sort(order.begin(), order.end(), comes_before);
  std::string text = kDots + "\n";
  for (const InstanceScore* instance : order) {
    text += heading(block) + " Eval " + terminal_safe(instance->id) +
            " R:" + five_digits(instance->triple.recall) +
            " P:" + five_digits(instance->triple.precision) +
            " F:" + five_digits(instance->triple.f) + "\n";
  }
  return text;
}

}  // namespace qfs::metrics::rouge155
