// An adapter of a stranger, as a file of Hugging Face PEFT and of IDEAL's release: reading it ends
// in tensors of the shapes that its names promise, or in an error.
#include <cstdlib>

#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/peft/lora.h"
#include "tests/support/fuzz.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary_folder.h"

namespace {

constexpr qfs::nn::LayerWidths kWidths = {
    .layers = 2, .hidden = 8, .heads = 2, .kv_heads = 1, .head_dim = 4, .intermediate = 12};

std::string lora_of_peft() {
  qfs::test::SafetensorsWriter writer;
  const std::string layer = "base_model.model.model.layers.0.self_attn.q_proj.lora_";
  writer.tensor(layer + "A.weight", {2, 8}, std::vector<float>(16, 0.5F));
  writer.tensor(layer + "B.weight", {8, 2}, std::vector<float>(16, 0.25F));
  writer.tensor("llama.layers.0.attention.gate", {1, 2, 1, 1}, {0, 0});
  return writer.bytes();
}

std::string generated(qfs::peft::AdapterKind kind) {
  qfs::peft::LayerAdapterConfig config;
  config.kind = kind;
  config.size = 2;
  config.hyper.layers = 1;
  config.hyper.bottleneck = 3;
  return qfs::peft::layer_adapter_bytes(qfs::peft::new_layer_adapter(config, kWidths, 1),
                                        {{"qfs.method", "ideal"}}, at::kFloat);
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {lora_of_peft(), generated(qfs::peft::AdapterKind::lora),
          generated(qfs::peft::AdapterKind::prompt)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const qfs::test::TemporaryFolder folder;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string path = folder.write("adapter_model.safetensors", bytes);
  folder.write("adapter_config.json",
               R"({"peft_type": "LORA", "r": 2, "lora_alpha": 2, "target_modules": ["q_proj"]})");
  const auto lora = qfs::peft::read_lora(path);
  if (lora.ok()) {
    for (const auto& [name, added] : lora->layers) {
      if (added.down.size(0) != added.up.size(1)) std::abort();
    }
  }
  const auto layers = qfs::peft::read_layer_adapter(path, kWidths, {});
  if (!layers.ok()) return 0;
  const auto shapes = qfs::peft::tensor_shapes(layers->config, kWidths);
  for (const auto& [name, tensor] : layers->tensors) {
    if (tensor.sizes() != at::IntArrayRef(shapes.at(name))) std::abort();
  }
  return 0;
}
