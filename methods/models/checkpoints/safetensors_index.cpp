#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "methods/models/checkpoints/safetensors.h"

namespace qfs::checkpoints {

namespace {

constexpr size_t kMaxIndexBytes = size_t{64} << 20;

bool plain_shard_name(std::string_view name) {
  constexpr std::string_view kSuffix = ".safetensors";
  if (name.size() <= kSuffix.size() || name.size() > 255 || !name.ends_with(kSuffix)) return false;
  if (name.front() == '.') return false;
  for (const char c : name) {
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return false;
  }
  return true;
}

}  // namespace

Result<std::map<std::string, std::string>> parse_safetensors_index(std::string_view text,
                                                                   const std::string& source) {
  const Result<nlohmann::json> index =
      parse_json(text, source, {.max_bytes = kMaxIndexBytes, .python_numbers = true});
  if (!index.ok()) return index.error();
  const auto map = index->is_object() ? index->find("weight_map") : index->end();
  if (!index->is_object() || map == index->end() || !map->is_object()) {
    return data_error("the index has no object 'weight_map'", source);
  }
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    const auto* name = shard.get_ptr<const std::string*>();
    if (name == nullptr || !plain_shard_name(*name)) {
      return data_error("tensor '" + tensor + "' of the index is in " + shard.dump() +
                            ", which is no plain name of a .safetensors file",
                        source);
    }
    shards.emplace(tensor, *name);
  }
  if (shards.empty()) return data_error("the index names no tensor", source);
  return shards;
}

}  // namespace qfs::checkpoints
