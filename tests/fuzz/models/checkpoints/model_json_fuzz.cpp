// config.json, generation_config.json and a shard index of a stranger: reading them never crashes,
// and an index only ever names plain files.
#include <cstdlib>
#include <string>
#include <vector>

#include "methods/models/checkpoints/model_config.h"
#include "methods/models/checkpoints/safetensors.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"metadata":{"total_size":8},"weight_map":{"a":"m-00001-of-00002.safetensors","b":"m-2.safetensors"}})",
      R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"torch_dtype":"float16",
          "rope_scaling":{"type":"linear","factor":2.0},"eos_token_id":[1,2],"tie_word_embeddings":true})",
      R"({"model_type":"led","dtype":"float32","rope_parameters":{"rope_type":"longrope","rope_theta":1e4,
          "long_factor":[1.0,2],"short_factor":[],"original_max_position_embeddings":4096}})"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::checkpoints;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto index = parse_safetensors_index(text, "index"); index.ok()) {
    for (const auto& [tensor, shard] : *index) {
      if (shard.find('/') != shard.npos || !shard.ends_with(".safetensors")) abort();
    }
  }
  const auto config = ConfigObject::parse(text, "config");
  if (!config.ok()) return 0;
  static_cast<void>(read_model_identity(*config));
  static_cast<void>(read_rope_config(*config));
  for (const std::string& key : config->keys()) {
    static_cast<void>(config->integer(key, 1, 1000));
    static_cast<void>(config->real(key));
    static_cast<void>(config->text(key));
    static_cast<void>(config->integers(key));
    static_cast<void>(config->texts(key));
    static_cast<void>(config->object(key));
  }
  return 0;
}
