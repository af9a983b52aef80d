#include <charconv>
#include <cmath>
#include <string>

#include "harness/store/codec.h"

namespace qfs::store {
namespace {

template <class T>
std::string encode_numbers(std::span<const T> values) {
  std::string text = "[";
  for (const T value : values) {
    if (text.size() > 1) text += ',';
    constexpr size_t kLongestNumber = 32;
    char digits[kLongestNumber];
    const std::to_chars_result end = std::to_chars(digits, digits + kLongestNumber, value);
    text.append(digits, end.ptr);
  }
  return text += ']';
}

template <class T>
std::optional<std::vector<T>> decode_numbers(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::vector<T> values;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at != end) {
    if (!values.empty() && *at++ != ',') return std::nullopt;
    T value{};
    const std::from_chars_result read = std::from_chars(at, end, value);
    if (read.ec != std::errc()) return std::nullopt;
    values.push_back(value);
    at = read.ptr;
  }
  return values;
}

}  // namespace

std::string encode_integers(std::span<const int64_t> values) { return encode_numbers(values); }

std::optional<std::vector<int64_t>> decode_integers(std::string_view text) {
  return decode_numbers<int64_t>(text);
}

std::string encode_reals(std::span<const double> values) { return encode_numbers(values); }

std::optional<std::vector<double>> decode_reals(std::string_view text) {
  std::optional<std::vector<double>> values = decode_numbers<double>(text);
  if (!values) return values;
  // from_chars also reads "inf" and "nan".
  for (const double value : *values) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return values;
}

std::string encode_truncation(const Truncation& truncation) {
  // One flat list keeps the ledger of a long document short: counts, query_whole, then the spans.
  std::vector<int64_t> numbers = {truncation.document_tokens, truncation.kept_tokens,
                                  truncation.query_tokens, truncation.query_whole ? 1 : 0};
  for (const ByteSpan& span : truncation.kept) {
    numbers.insert(numbers.end(), {span.segment, span.begin, span.end});
  }
  return encode_integers(numbers);
}

std::optional<Truncation> decode_truncation(std::string_view text) {
  constexpr size_t kCounts = 4;
  constexpr size_t kNumbersOfSpan = 3;
  const std::optional<std::vector<int64_t>> numbers = decode_integers(text);
  if (!numbers || numbers->size() < kCounts || (numbers->size() - kCounts) % kNumbersOfSpan != 0) {
    return std::nullopt;
  }
  const std::vector<int64_t>& n = *numbers;
  if (n[3] != 0 && n[3] != 1) return std::nullopt;
  Truncation truncation{n[0], n[1], n[2], {}, n[3] == 1};
  for (size_t i = kCounts; i < n.size(); i += kNumbersOfSpan) {
    truncation.kept.push_back({n[i], n[i + 1], n[i + 2]});
  }
  return truncation;
}

std::string encode_evidence(std::span<const SegmentSpan> evidence) {
  std::vector<int64_t> numbers;
  for (const SegmentSpan& span : evidence) {
    numbers.push_back(span.first);
    numbers.push_back(span.last);
  }
  return encode_integers(numbers);
}

std::optional<std::vector<SegmentSpan>> decode_evidence(std::string_view text) {
  const std::optional<std::vector<int64_t>> numbers = decode_integers(text);
  if (!numbers || numbers->size() % 2 != 0) return std::nullopt;
  std::vector<SegmentSpan> evidence;
  for (size_t i = 0; i < numbers->size(); i += 2) {
    evidence.push_back({(*numbers)[i], (*numbers)[i + 1]});
  }
  return evidence;
}

}  // namespace qfs::store
