// Writes a LLaMA-type GGUF file of random weights with a byte vocabulary, so that a machine without
// any model can run whole programs:   qfs_write_tiny_model FILE
#include <fstream>
#include <iostream>

#include "tests/support/tiny_llama.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: qfs_write_tiny_model FILE\n";
    return 2;
  }
  qfs::test::TinyLlama model;
  model.layers = 4;
  model.hidden = 256;
  model.intermediate = 688;
  model.heads = 8;
  model.kv_heads = 2;
  model.tied = false;
  std::ofstream file(argv[1], std::ios::binary);
  file << model.bytes();
  return file.flush() ? 0 : 1;
}
