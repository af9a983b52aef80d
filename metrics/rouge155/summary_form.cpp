#include "metrics/rouge155/summary_form.h"

#include <algorithm>
#include <numeric>

namespace qfs::metrics::rouge155 {
namespace {

/// 0 … count-1 in the string order of `first + i` followed by a dot.
std::vector<size_t> string_order(size_t count, size_t first) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(std::to_string(first + i) + ".");
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
  return order;
}

void cut_at_tags(Sentences& sentences) {
  for (std::string_view& sentence : sentences) sentence = sentence.substr(0, sentence.find('<'));
  std::erase_if(sentences, [](std::string_view sentence) { return sentence.empty(); });
}

Sentences split_after_stops(std::string_view text) {
  constexpr std::string_view kStop = " .";
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  Sentences sentences;
  while (!text.empty()) {
    const size_t stop = text.find(kStop);
    const size_t end = stop == std::string_view::npos ? text.size() : stop + kStop.size();
    for (std::string_view line : split_lines(text.substr(0, end))) sentences.push_back(line);
    text.remove_prefix(end);
  }
  return sentences;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Sentences sentences_of(std::string_view text, SummaryForm form, std::string& storage) {
  Sentences sentences;
  switch (form) {
    case SummaryForm::lines:
      return split_lines(text);
    case SummaryForm::see_escaped:
      storage = escaped(text);
      return split_lines(storage);
    case SummaryForm::see:
      sentences = split_lines(text);
      break;
    case SummaryForm::files2rouge:
      sentences = split_after_stops(text);
      break;
  }
  cut_at_tags(sentences);
  return sentences;
}

std::vector<size_t> instance_order(size_t items, SummaryForm form) {
  std::vector<size_t> order = string_order(items, 1);
  if (form != SummaryForm::files2rouge) return order;
  const std::vector<size_t> item_of_evaluation = string_order(items, 0);
  for (size_t& place : order) place = item_of_evaluation[place];
  return order;
}

}  // namespace qfs::metrics::rouge155
