#include "methods/models/architectures/bert/encoder_folder.h"

#include <algorithm>
#include <utility>

#include "methods/models/registry/registry.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"

namespace qfs::architectures {

Result<EncoderFolder> open_encoder_folder(const Resource& model,
                                          const std::vector<std::string>& types,
                                          ResourceCache& cache) {
  const auto directory = checkpoints::ModelDirectory::open(model.path);
  if (!directory.ok()) return directory.error();
  const auto config = read_encoder_config(*directory);
  if (!config.ok()) return config.error();
  if (std::ranges::count(types, config->model_type) == 0) {
    std::string wanted;
    for (const std::string& type : types) wanted += (wanted.empty() ? "" : " or ") + type;
    return unavailable("'" + model.path + "' is of type " + config->model_type + ", not " + wanted);
  }
  auto tokenizer = tokenizers::open_tokenizer_files(model.path);
  if (!tokenizer.ok()) return tokenizer.error();
  if (Status same = registry::verify_backbone(model); !same.ok()) return same.error();
  auto weights = cache.get<EncoderWeights>("encoder:" + model.digest,
                                           [&] { return load_encoder_weights(*directory); });
  if (!weights.ok()) return weights.error();
  return EncoderFolder{*std::move(weights), *std::move(tokenizer)};
}

}  // namespace qfs::architectures
