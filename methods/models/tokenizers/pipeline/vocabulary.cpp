#include "methods/models/tokenizers/pipeline/vocabulary.h"

#include <bit>
#include <functional>

namespace qfs::tokenizers {

size_t Vocabulary::slot_of(std::string_view piece) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>()(piece) & mask;
  while (slots_[slot] >= 0 && pieces_[static_cast<size_t>(slots_[slot])] != piece) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

int32_t Vocabulary::find(std::string_view piece) const { return slots_[slot_of(piece)]; }

Result<std::shared_ptr<const Vocabulary>> Vocabulary::make(
    std::vector<std::pair<std::string, int64_t>> entries) {
  std::shared_ptr<Vocabulary> vocabulary(new Vocabulary);
  int64_t size = 0;
  size_t bytes = 0;
  for (const auto& [piece, id] : entries) {
    if (id < 0 || id >= kMaxVocabulary) {
      return data_error("piece '" + piece + "' has the impossible id " + std::to_string(id));
    }
    size = std::max(size, id + 1);
    bytes += piece.size() + 1;
  }
  vocabulary->storage_.reserve(bytes);
  vocabulary->pieces_.resize(static_cast<size_t>(size));
  vocabulary->slots_.assign(std::bit_ceil(2 * entries.size() + 1), -1);
  for (const auto& [piece, id] : entries) {
    std::string_view& place = vocabulary->pieces_[static_cast<size_t>(id)];
    if (place.data() != nullptr) {
      return data_error("the pieces '" + std::string(place) + "' and '" + piece +
                        "' have one id, " + std::to_string(id));
    }
    // The zero keeps an empty piece apart from a hole.
    const size_t begin = vocabulary->storage_.size();
    vocabulary->storage_.append(piece).push_back('\0');
    place = std::string_view(vocabulary->storage_).substr(begin, piece.size());
    vocabulary->slots_[vocabulary->slot_of(piece)] = static_cast<int32_t>(id);
  }
  vocabulary->count_ = static_cast<int64_t>(entries.size());
  return std::shared_ptr<const Vocabulary>(std::move(vocabulary));
}

}  // namespace qfs::tokenizers
