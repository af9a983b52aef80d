// Encodes texts with a tokenizer, one round for each line of standard input, each with an empty
// cache; driven by tokenizers_vs_peers.py.
//
// Usage: qfs_bench_tokenizers TOKENIZER TEXTS (a JSON list of texts). Prints the number of tokens
// of each round; the tokenizer of the next round is opened after that line.
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "methods/models/tokenizers/folders/tokenizer_files.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: qfs_bench_tokenizers TOKENIZER TEXTS\n";
    return 2;
  }
  std::ifstream file(argv[2]);
  const auto texts = nlohmann::json::parse(file).get<std::vector<std::string>>();
  auto tokenizer = qfs::tokenizers::open_tokenizer_files(argv[1]);
  for (std::string line; tokenizer.ok() && std::getline(std::cin, line);) {
    size_t tokens = 0;
    for (const std::string& text : texts) tokens += (*tokenizer)->encode(text).size();
    std::cout << tokens << std::endl;
    tokenizer = qfs::tokenizers::open_tokenizer_files(argv[1]);
  }
  if (tokenizer.ok()) return 0;
  std::cerr << tokenizer.error().to_string() << "\n";
  return 1;
}
