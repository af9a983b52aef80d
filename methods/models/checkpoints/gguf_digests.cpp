#include "methods/models/checkpoints/gguf_digests.h"

#include <cstring>
#include <string_view>

#include "harness/core/sha256.h"

namespace qfs::checkpoints {

namespace {

constexpr std::string_view kPrefix = "tokenizer.";
constexpr std::string_view kTemplateKey = "tokenizer.chat_template";

template <class T>
void update(Sha256& hash, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  hash.update(std::string_view(bytes, sizeof(T)));
}

}  // namespace

std::string tokenizer_digest(const GgufFile& file) {
  Sha256 hash;
  for (const auto& [key, entry] : file.entries()) {
    if (!key.starts_with(kPrefix) || key.starts_with(kTemplateKey)) continue;
    update<uint64_t>(hash, key.size());
    hash.update(key);
    update<uint32_t>(hash, static_cast<uint32_t>(entry.type));
    update<uint64_t>(hash, entry.bytes.size());
    hash.update(entry.bytes);
  }
  return hash.hex();
}

std::string chat_template_digest(const GgufFile& file) {
  const GgufEntry* entry = file.find(kTemplateKey);
  if (entry == nullptr) return {};
  const auto* text = std::get_if<std::string_view>(&entry->value);
  return text == nullptr ? std::string() : sha256_hex(*text);
}

}  // namespace qfs::checkpoints
