#include "methods/models/decoding/generation_layers.h"

#include <map>
#include <string_view>

namespace qfs::decoding {

std::vector<std::string> generation_layers(const BackboneFacts& facts) {
  static const std::map<std::string_view, int> kBackboneVersions = {
      {"bart", 1}, {"gpt2", 1}, {"llama", 3}};
  std::vector<std::string> layers;
  const auto backbone = kBackboneVersions.find(facts.architecture);
  if (backbone != kBackboneVersions.end()) {
    layers.push_back("backbone-" + facts.architecture + "@" + std::to_string(backbone->second));
  }
  layers.insert(layers.end(), {"generation@4", "tokenizers@5", "truncation@1"});
  return layers;
}

}  // namespace qfs::decoding
