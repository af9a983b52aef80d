#include "methods/models/tokenizers/gguf/gguf_token_ids.h"

#include <string>

namespace qfs::tokenizers {

Result<std::optional<int32_t>> read_token_id(const checkpoints::GgufFile& file,
                                             std::string_view key, size_t pieces) {
  const Result<std::optional<int64_t>> id = file.optional_integer(key);
  if (!id.ok()) return id.error();
  if (!*id) return std::optional<int32_t>();
  if (**id < 0 || **id >= static_cast<int64_t>(pieces)) {
    return data_error("metadata key '" + std::string(key) + "' of '" + file.path() +
                      "' is outside the vocabulary");
  }
  return std::optional(static_cast<int32_t>(**id));
}

}  // namespace qfs::tokenizers
