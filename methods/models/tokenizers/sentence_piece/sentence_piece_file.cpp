#include "methods/models/tokenizers/sentence_piece/sentence_piece_file.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

namespace qfs::tokenizers {

namespace {

constexpr size_t kMaxPieces = size_t{1} << 22;
constexpr size_t kMaxPieceBytes = 1 << 16;

/// One field of a protobuf message.
struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  uint64_t value = 0;     ///< varint, or the bits of a fixed one
  std::string_view data;  ///< of a length-delimited one
};

/// Walks over the fields of one message.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  /// std::nullopt when the bytes are no message.
  std::optional<Field> next() {
    const std::optional<uint64_t> tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1FFFFFFF) return std::nullopt;
    Field field{static_cast<uint32_t>(*tag >> 3), static_cast<uint32_t>(*tag & 7), 0, {}};
    if (field.wire_type == 0 || field.wire_type == 2) {
      const std::optional<uint64_t> value = varint();
      if (!value) return std::nullopt;
      field.value = *value;
      if (field.wire_type == 0) return field;
      if (*value > rest_.size()) return std::nullopt;
      field.data = rest_.substr(0, static_cast<size_t>(*value));
      rest_.remove_prefix(field.data.size());
      return field;
    }
    const size_t bytes = field.wire_type == 1 ? 8 : field.wire_type == 5 ? 4 : 0;
    if (bytes == 0 || rest_.size() < bytes) return std::nullopt;
    std::memcpy(&field.value, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
    return field;
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

/// Appends a piece; what is wrong with it, or nothing.
std::optional<std::string> add_piece(std::string_view bytes, std::set<std::string_view>& known,
                                     PieceVocabulary& pieces) {
  Message message(bytes);
  std::string_view text;
  float score = 0;
  auto type = PieceType::normal;
  while (!message.done()) {
    const std::optional<Field> field = message.next();
    if (!field) return "is no message";
    if (field->number == 1) text = field->data;
    if (field->number == 2 && field->wire_type == 5) {
      std::memcpy(&score, &field->value, sizeof(score));
      if (!std::isfinite(score)) return "has a score that is not finite";
    }
    if (field->number == 3) {
      if (field->value < 1 || field->value > 6) return "has an unknown type";
      type = static_cast<PieceType>(field->value);
    }
  }
  if (text.empty() || text.size() > kMaxPieceBytes) return "is empty or too long";
  if (text.find('\0') != text.npos) return "has a zero byte";
  if (!known.insert(text).second) return "occurs twice";
  pieces.texts.push_back(text);
  pieces.scores.push_back(score);
  pieces.types.push_back(type);
  return std::nullopt;
}

/// Whether every step from every node of the double array stays inside it, and every value inside
/// the texts, which end in a zero.
bool charsmap_is_sound(std::string_view charsmap) {
  if (charsmap.empty()) return true;
  uint32_t trie_bytes = 0;
  if (charsmap.size() < sizeof(trie_bytes)) return false;
  std::memcpy(&trie_bytes, charsmap.data(), sizeof(trie_bytes));
  if (trie_bytes < 1024 || trie_bytes % 1024 != 0 || trie_bytes > charsmap.size() - 4) return false;
  const std::string_view texts = charsmap.substr(4 + trie_bytes);
  if (texts.empty() || texts.back() != '\0') return false;
  std::vector<uint32_t> units(trie_bytes / 4);
  std::memcpy(units.data(), charsmap.data() + 4, trie_bytes);
  for (size_t i = 0; i < units.size(); ++i) {
    const uint32_t unit = units[i];
    if (unit >> 31 != 0 && i != 0) continue;  // a value; the root is a node whatever it says
    const size_t base = i ^ (size_t{unit >> 10} << ((unit & (1u << 9)) >> 6));
    if ((base | 0xFF) >= units.size()) return false;
    if (((unit >> 8) & 1) != 0 && (units[base] & 0x7FFFFFFF) >= texts.size()) return false;
  }
  return true;
}

/// Reads a NormalizerSpec; whether it is sound.
bool read_normalizer(std::string_view bytes, bool& normalizes) {
  bool removes_spaces = true;  // where the file does not say so
  bool has_table = false;
  Message message(bytes);
  while (!message.done()) {
    const std::optional<Field> field = message.next();
    if (!field) return false;
    if (field->number == 2 && !charsmap_is_sound(field->data)) return false;
    if (field->number == 2) has_table = !field->data.empty();
    if (field->number == 4) removes_spaces = field->value != 0;
  }
  normalizes = has_table || removes_spaces;
  return true;
}

/// Whether a TrainerSpec says that the pieces are those of BPE; nothing when it is no message.
std::optional<bool> is_bpe(std::string_view bytes) {
  constexpr uint32_t kModelType = 3;
  constexpr uint64_t kBpe = 2;
  bool bpe = false;
  Message message(bytes);
  while (!message.done()) {
    const std::optional<Field> field = message.next();
    if (!field) return std::nullopt;
    if (field->number == kModelType) bpe = field->value == kBpe;
  }
  return bpe;
}

}  // namespace

Result<SentencePieceFile> read_sentence_piece_file(std::string_view model,
                                                   const std::string& source) {
  enum : uint32_t { piece = 1, trainer = 2, normalizer = 3, denormalizer = 5 };
  SentencePieceFile file;
  file.normalizes = true;  // as a spec without fields
  Message message(model);
  std::set<std::string_view> known;
  bool denormalizes = false;
  while (!message.done()) {
    const std::optional<Field> field = message.next();
    if (!field) return data_error("this is no SentencePiece model", source);
    const size_t count = file.pieces.texts.size();
    if (field->number == piece) {
      if (count == kMaxPieces) return data_error("the model has too many pieces", source);
      if (const auto fault = add_piece(field->data, known, file.pieces)) {
        return data_error("piece " + std::to_string(count) + " of the model " + *fault, source);
      }
      if (file.pieces.types.back() == PieceType::unknown && !file.unknown) {
        file.unknown = static_cast<int32_t>(count);
      }
    } else if (field->number == trainer) {
      const std::optional<bool> bpe = is_bpe(field->data);
      if (!bpe) return data_error("the model's description of its training is damaged", source);
      file.bpe = *bpe;
    } else if (field->number == normalizer || field->number == denormalizer) {
      bool& changes = field->number == normalizer ? file.normalizes : denormalizes;
      if (!read_normalizer(field->data, changes)) {
        return data_error("the model's table of characters is damaged", source);
      }
    }
  }
  if (file.pieces.texts.empty()) {
    return data_error("this is no SentencePiece model: it has no pieces", source);
  }
  return file;
}

}  // namespace qfs::tokenizers
