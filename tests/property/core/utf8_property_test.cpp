// UTF-8: repair on any bytes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "harness/core/log.h"
#include "harness/core/utf8.h"

namespace qfs {
namespace {

/// Bytes near the limits of the encoding, so that long and broken sequences are frequent.
std::string bytes() {
  return *rc::gen::container<std::string>(rc::gen::oneOf(
      rc::gen::arbitrary<char>(), rc::gen::element<char>('a', '\x80', '\xBF', '\xC2', '\xE0',
                                                         '\xA0', '\xED', '\xF0', '\x90', '\xF4')));
}

RC_GTEST_PROP(RepairUtf8, YieldsWellFormedText, ()) {
  const RepairedText repaired = repair_utf8(bytes());
  RC_ASSERT(first_ill_formed_utf8(repaired.text) == std::nullopt);
}

RC_GTEST_PROP(RepairUtf8, ChangesOnlyIllFormedText, ()) {
  const std::string text = bytes();
  const RepairedText repaired = repair_utf8(text);
  RC_ASSERT((repaired.text == text) == !first_ill_formed_utf8(text).has_value());
  RC_ASSERT((repaired.replaced_bytes == 0) == !first_ill_formed_utf8(text).has_value());
}

RC_GTEST_PROP(RepairUtf8, KeepsTheTextBeforeTheFirstFault, ()) {
  const std::string text = bytes();
  const size_t good = first_ill_formed_utf8(text).value_or(text.size());
  RC_ASSERT(repair_utf8(text).text.substr(0, good) == text.substr(0, good));
  RC_ASSERT(!first_ill_formed_utf8(text.substr(0, good)).has_value());
}

RC_GTEST_PROP(WholeCodePoints, CutsWellFormedTextIntoWellFormedText, ()) {
  const std::string text = repair_utf8(bytes()).text;
  const size_t limit = *rc::gen::inRange<size_t>(0, text.size() + 2);
  const size_t cut = whole_code_points(text, limit);
  RC_ASSERT(cut <= limit);
  RC_ASSERT(std::min(limit, text.size()) - std::min(cut, text.size()) < 4U);
  RC_ASSERT(!first_ill_formed_utf8(text.substr(0, cut)).has_value());
}

RC_GTEST_PROP(TerminalSafe, IsWellFormedWithoutControls, ()) {
  const std::string safe = terminal_safe(bytes());
  RC_ASSERT(!first_ill_formed_utf8(safe).has_value());
  for (const char c : safe) {
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

}  // namespace
}  // namespace qfs
