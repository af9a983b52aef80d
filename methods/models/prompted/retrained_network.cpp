#include "methods/models/prompted/retrained_network.h"

#include <utility>

#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/device/decoder_network.h"

namespace qfs::prompted {

namespace {

class RetrainedNetwork final : public nn::DecoderNetwork {
 public:
  RetrainedNetwork(std::shared_ptr<const nn::Network> of,
                   std::shared_ptr<const nn::Decoder> decoder, const std::string& digest)
      : DecoderNetwork(std::move(decoder),
                       ":" + digest + ":" + std::to_string(of->shape().context)),
        of_(std::move(of)) {}

  nn::ModelWork work(const nn::ElementBytes& bytes) const override {
    nn::ElementBytes unpacked = bytes;
    unpacked.weights = bytes.of_floats();
    return of_->work(unpacked);
  }

 private:
  std::shared_ptr<const nn::Network> of_;
};

}  // namespace

Result<std::shared_ptr<const nn::Network>> retrained(std::shared_ptr<const nn::Network> network,
                                                     const ChangeWeights& change,
                                                     const Resource& file) {
  ResourceCache passing;  // the backbone's own weights, unpacked, are gone behind this
  const auto own = network->decoder({}, "own", passing);
  if (!own.ok()) return own.error();
  auto changed = change(**own);
  if (!changed.ok()) return changed.error();
  return std::shared_ptr<const nn::Network>(
      std::make_shared<RetrainedNetwork>(std::move(network), *std::move(changed), file.digest));
}

Result<std::shared_ptr<const nn::Network>> retrained(std::shared_ptr<const nn::Network> network,
                                                     const Resource& file) {
  auto opened = checkpoints::open_safetensors(file.path);
  if (!opened.ok()) return opened.error();
  return retrained(std::move(network), *std::move(opened), file);
}

Result<std::shared_ptr<const nn::Network>> retrained(
    std::shared_ptr<const nn::Network> network,
    std::shared_ptr<const checkpoints::Checkpoint> tensors, const Resource& file) {
  using Changed = Result<std::shared_ptr<const nn::Decoder>>;
  return retrained(
      std::move(network),
      [&](const nn::Decoder& own) -> Changed {
        const std::string_view prefix = own.name_prefix();
        const auto named = prefix.empty()
                               ? Result<std::shared_ptr<const checkpoints::Checkpoint>>(tensors)
                               : checkpoints::replace_prefix(tensors, prefix, "");
        if (!named.ok()) return named.error();
        std::shared_ptr<const nn::Decoder> decoder;
        const Status read = architectures::read_weights(
            **named, file.path, {},
            [&](nn::WeightVisitor& visitor) { decoder = own.visit(visitor); });
        if (!read.ok()) return read.error();
        return decoder;
      },
      file);
}

}  // namespace qfs::prompted
