// What the tensors of a LLaMA-type checkpoint are called: in GGUF files and in Hugging Face
// folders.
//
// Called by load_llama_weights. Names are without ".weight" and ".bias". Pure; thread-safe.
// Sources: the GGUF tensor names of llama.cpp; transformers 5.23, modeling_llama.py.
#pragma once

#include <cstdint>
#include <string>

namespace qfs::architectures {

struct LlamaLayerNames {
  std::string attention_norm;
  std::string query;
  std::string key;
  std::string value;
  std::string attention_output;
  std::string mlp_norm;
  std::string gate;
  std::string up;
  std::string down;
  std::string saved_frequencies;  ///< a buffer that old files carry; whole name
  bool interleaved = false;       ///< rows of queries and keys are in the order (i, half)
};

struct LlamaNames {
  std::string embedding;
  std::string embedding_norm;  ///< empty: such files have none
  std::string output_norm;
  std::string head;
  std::string saved_frequencies;  ///< whole name of the buffer that all layers share; may be empty
  LlamaLayerNames (*layer)(int64_t index);
};

const LlamaNames& gguf_llama_names();
const LlamaNames& hugging_face_llama_names();

}  // namespace qfs::architectures
