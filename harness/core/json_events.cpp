#include "harness/core/json_events.h"

#include <cstdint>

// NOLINTBEGIN: switches of RapidJSON
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
// NOLINTEND
#include <rapidjson/reader.h>

namespace qfs {
namespace {

/// Its scanners read aligned blocks of this size, the last one beyond the end of the text.
constexpr size_t kScannerBytes = 16;

/// The reader descends by recursion: deeper than any reader here goes.
constexpr size_t kDeepestNesting = 1024;

/// Under the names that RapidJSON calls.
class Handler {
 public:
  explicit Handler(JsonEvents& events) : events_(events) {}

  bool Null() { return events_.null(); }
  bool Bool(bool value) { return events_.boolean(value); }
  bool RawNumber(const char* digits, unsigned length, bool /*copy*/) {
    return events_.number({digits, length});
  }
  bool String(const char* text, unsigned length, bool /*copy*/) {
    return events_.text({text, length});
  }
  bool Key(const char* text, unsigned length, bool /*copy*/) { return events_.key({text, length}); }
  bool StartObject() { return ++depth_ <= kDeepestNesting && events_.open_object(); }
  bool StartArray() { return ++depth_ <= kDeepestNesting && events_.open_array(); }
  bool EndObject(unsigned /*members*/) { return --depth_, events_.close(); }
  bool EndArray(unsigned /*elements*/) { return --depth_, events_.close(); }
  // With numbers as text it calls none of these.
  bool Int(int /*value*/) { return false; }
  bool Uint(unsigned /*value*/) { return false; }
  bool Int64(int64_t /*value*/) { return false; }
  bool Uint64(uint64_t /*value*/) { return false; }
  bool Double(double /*value*/) { return false; }

 private:
  JsonEvents& events_;
  size_t depth_ = 0;
};

/// What RapidJSON 1.1.0 takes and should not: a low surrogate without a high one, and in its SSE2
/// scanner the control characters 1A to 1F inside a string.
bool misleads_reader(std::string_view text) {
  uint8_t control = 0;  // a byte, so that sixteen are looked at together
  for (char c : text) control |= static_cast<uint8_t>(c - '\x1A') < 6 ? 1 : 0;
  if (control != 0) return true;
  for (size_t at = text.find("\\u"); at != text.npos; at = text.find("\\u", at + 2)) {
    if (at + 2 < text.size() && (text[at + 2] == 'd' || text[at + 2] == 'D')) return true;
  }
  return false;
}

}  // namespace

bool scan_json(std::string_view text, std::string& scratch, JsonEvents& events) {
  if (misleads_reader(text)) return false;
  scratch.assign(text).append(kScannerBytes, '\0');
  rapidjson::InsituStringStream stream(scratch.data());
  rapidjson::Reader reader;
  Handler handler(events);
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;
  return !reader.Parse<kFlags>(stream, handler).IsError();
}

}  // namespace qfs
