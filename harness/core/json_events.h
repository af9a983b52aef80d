// scan_json: JSON text as a sequence of events, at the speed of RapidJSON's SSE2 scanner.
//
// Called by quick readers, which refuse what they do not know; a refusal is no error: the careful
// reader (json_dom.h) decides that and words it. Texts of events lie in `scratch` and live during
// the scan. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qfs {

/// Every function returns whether to go on.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual bool null() = 0;
  virtual bool boolean(bool value) = 0;
  /// As written; valid JSON, of any size.
  virtual bool number(std::string_view digits) = 0;
  virtual bool text(std::string_view text) = 0;
  /// Followed by the member's value.
  virtual bool key(std::string_view name) = 0;
  virtual bool open_object() = 0;
  virtual bool open_array() = 0;
  virtual bool close() = 0;
};

/// `text`: well-formed UTF-8 without a zero byte. False when it is not JSON, when it holds what the
/// scanner is not trusted with (an escaped surrogate), or when `events` stopped.
bool scan_json(std::string_view text, std::string& scratch, JsonEvents& events);

}  // namespace qfs
