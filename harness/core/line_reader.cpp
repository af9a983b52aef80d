#include "harness/core/line_reader.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/core/byte_source.h"
#include "harness/core/utf8.h"

namespace qfs {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 17;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace

struct LineReader::State {
  std::string name;
  size_t max_line_bytes;
  std::unique_ptr<ByteSource> source;
  std::vector<char> block = std::vector<char>(kBlockBytes);
  size_t begin = 0;
  size_t end = 0;
  int64_t line = 0;

  std::string place() const { return name + ":" + std::to_string(line); }

  /// Appends up to and with the next newline; false at the end of the stream before one.
  Result<bool> append_line(std::string& text) {
    while (true) {
      if (begin == end) {
        const Result<size_t> got = source->read(block);
        if (!got) {
          Error error = got.error();
          error.where = place();
          return error;
        }
        begin = 0;
        end = *got;
        if (*got == 0) return false;
      }
      const std::string_view rest(block.data() + begin, end - begin);
      const size_t newline = rest.find('\n');
      const std::string_view part = rest.substr(0, newline);
      if (part.size() > max_line_bytes - text.size()) {
        return data_error("line longer than " + std::to_string(max_line_bytes) + " bytes", place());
      }
      text += part;
      begin += part.size();
      if (newline != rest.npos) {
        ++begin;
        return true;
      }
    }
  }
};

LineReader::LineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(const std::string& path, size_t max_line_bytes) {
  Result<std::unique_ptr<ByteSource>> source = open_byte_source(path);
  if (!source) return source.error();
  auto state = std::make_unique<State>();
  state->name = display_name(path);
  state->max_line_bytes = max_line_bytes;
  state->source = *std::move(source);
  return LineReader(std::move(state));
}

Result<std::optional<std::string>> LineReader::next() {
  std::string text;
  const Result<bool> found = next(text);
  if (!found) return found.error();
  if (!*found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(text));
}

Result<bool> LineReader::next(std::string& text) {
  text.clear();
  ++state_->line;
  const Result<bool> terminated = state_->append_line(text);
  if (!terminated) return terminated.error();
  if (!*terminated && text.empty()) {
    --state_->line;
    return false;
  }
  if (text.ends_with('\r')) text.pop_back();
  if (state_->line == 1 && text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (const std::optional<size_t> bad = first_ill_formed_utf8(text)) {
    return data_error("ill-formed UTF-8 at byte " + std::to_string(*bad + 1) + " of the line",
                      where());
  }
  return true;
}

int64_t LineReader::line_number() const { return state_->line; }
std::string LineReader::where() const { return state_->place(); }

Result<std::string> read_decompressed(const std::string& path, size_t max_bytes) {
  Result<std::unique_ptr<ByteSource>> source = open_byte_source(path);
  if (!source) return source.error();
  std::string bytes;
  std::vector<char> block(kBlockBytes);
  while (true) {
    const Result<size_t> got = (*source)->read(block);
    if (!got) {
      Error error = got.error();
      error.where = display_name(path);
      return error;
    }
    if (*got == 0) return bytes;
    if (*got > max_bytes - bytes.size()) {
      return data_error("larger than " + std::to_string(max_bytes) + " bytes after decompression",
                        display_name(path));
    }
    bytes.append(block.data(), *got);
  }
}

}  // namespace qfs
