// Canonical JSON: equal values have equal bytes, and the text stands for the value.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/json_dom.h"

namespace qfs {
namespace {

using nlohmann::json;

/// A key as identifiers are: printable ASCII, not empty.
rc::Gen<std::string> key() {
  return rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(0x20, 0x7F)));
}

rc::Gen<std::string> any_text() {
  return rc::gen::container<std::string>(rc::gen::inRange<char>(0, 0x7F));
}

rc::Gen<double> finite_real() {
  return rc::gen::map(rc::gen::arbitrary<uint64_t>(), [](uint64_t bits) {
    const double value = std::bit_cast<double>(bits);
    return std::isfinite(value) ? value : 0.0;
  });
}

rc::Gen<json> scalar() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<int64_t>(), [](int64_t v) { return json(v); }),
      rc::gen::map(rc::gen::arbitrary<uint64_t>(), [](uint64_t v) { return json(v); }),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool v) { return json(v); }),
      rc::gen::map(finite_real(), [](double v) { return json(v); }),
      rc::gen::map(any_text(), [](std::string v) { return json(std::move(v)); }));
}

rc::Gen<json> value(int depth) {
  if (depth == 0) return scalar();
  return rc::gen::mapcat(rc::gen::inRange(0, 3), [depth](int shape) -> rc::Gen<json> {
    if (shape == 0) return scalar();
    if (shape == 1) {
      return rc::gen::map(rc::gen::container<std::vector<json>>(value(depth - 1)),
                          [](std::vector<json> items) { return json(std::move(items)); });
    }
    return rc::gen::map(
        rc::gen::container<std::map<std::string, json>>(key(), value(depth - 1)),
        [](std::map<std::string, json> members) { return json(std::move(members)); });
  });
}

/// The value as JSON text with the members of every object in a random order and spaces around.
std::string shuffled_text(const json& of) {
  if (of.is_array()) {
    std::string out = "[ ";
    for (size_t i = 0; i < of.size(); ++i) out += (i > 0 ? " ,\n" : "") + shuffled_text(of[i]);
    return out + "]";
  }
  if (!of.is_object()) return of.dump();
  std::vector<std::string> members;
  for (const auto& [name, member] : of.items()) {
    members.push_back(json(name).dump() + "\t: " + shuffled_text(member));
  }
  for (size_t i = members.size(); i > 1; --i) {
    std::swap(members[i - 1], members[*rc::gen::inRange<size_t>(0, i)]);
  }
  std::string out = "{";
  for (size_t i = 0; i < members.size(); ++i) out += (i > 0 ? ", " : "\n") + members[i];
  return out + " }";
}

RC_GTEST_PROP(CanonicalJson, DoesNotDependOnKeyOrderOrSpaces, ()) {
  const json original = *value(2);
  const Result<json> again = parse_json(shuffled_text(original), "shuffled");
  RC_ASSERT(again.ok());
  RC_ASSERT(canonical_json(*again)->text == canonical_json(original)->text);
}

RC_GTEST_PROP(CanonicalJson, IsAFixedPointOfParsing, ()) {
  const std::string text = canonical_json(*value(2))->text;
  const Result<json> parsed = parse_json(text, "canonical");
  RC_ASSERT(parsed.ok());
  RC_ASSERT(canonical_json(*parsed)->text == text);
}

RC_GTEST_PROP(ShortestDecimal, ReadsBackWithoutExponent, ()) {
  const double real = *finite_real();
  const std::string digits = shortest_decimal(real);
  RC_ASSERT(digits.find_first_of("eE") == digits.npos);
  RC_ASSERT(std::strtod(digits.c_str(), nullptr) == real);
}

}  // namespace
}  // namespace qfs
