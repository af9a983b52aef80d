#include "methods/compressors/session_bank_training.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "harness/core/clock.h"
#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/params.h"
#include "methods/compressors/session_files.h"
#include "methods/compressors/session_train.h"
#include "methods/compressors/specs.h"
#include "methods/models/prompted/adapter_training.h"

namespace qfs::compressors {

namespace {

constexpr const char* kBankFile = "bank.safetensors";

constexpr int64_t kMostPoints = 100;

/// So many of a bank's demonstrations are made.
using Made = std::function<Status(int64_t made, int64_t of)>;

/// The bytes of a bank, when what else is learned lies in `files`.
using MakeBank =
    std::function<Result<std::string>(const FitRequest& fit, const std::vector<TrainedFile>& files,
                                      const TrainingData& data, const Made& made)>;

/// `make` is empty where no bank is asked for.
class BankTraining final : public TrainingSession {
 public:
  BankTraining(std::unique_ptr<TrainingSession> learning, MakeBank make)
      : learning_(std::move(learning)), make_(std::move(make)) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    TrainingOutcome outcome;
    if (learning_) {
      auto learned = learning_->fit(request, data, progress);
      if (!learned.ok() || learned->files.empty()) return learned;
      outcome = *std::move(learned);
    }
    if (!make_) return outcome;
    const int64_t begin_ns = monotonic_ns();
    const int64_t learned = outcome.cost.steps;
    const auto bytes = make_(request, outcome.files, data, [&](int64_t made, int64_t of) -> Status {
      if (made != of && made % ((of + kMostPoints - 1) / kMostPoints) != 0) return {};
      return progress.point({learned + made, learned + of, {{"bank", made}}});
    });
    if (!bytes.ok()) return bytes.error();
    if (Status written = write_file(request.folder + "/" + kBankFile, *bytes); !written.ok()) {
      return written.error();
    }
    outcome.files.push_back(
        {kBank, kBankFile, sha256_hex(*bytes), static_cast<int64_t>(bytes->size())});
    outcome.cost.seconds += static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
    return outcome;
  }

 private:
  std::unique_ptr<TrainingSession> learning_;
  MakeBank make_;
};

/// Those of the training split that a bank holds, each made by `make`.
Result<std::vector<Demonstration>> demonstrations_of(
    const SessionRequest& request, const TrainingData& data, const Made& made,
    const std::function<Result<Demonstration>(const Example&)>& make) {
  std::vector<Demonstration> demonstrations;
  const int64_t most = *request.params.find<int64_t>("bank");
  const std::vector<size_t> drawn = drawn_examples(data.train.size(), most, request.seed);
  for (const size_t i : drawn) {
    auto demonstration = make(data.train[i].example);
    if (!demonstration.ok()) return demonstration.error();
    demonstrations.push_back(*std::move(demonstration));
    Status told =
        made(static_cast<int64_t>(demonstrations.size()), static_cast<int64_t>(drawn.size()));
    if (!told.ok()) return told.error();
  }
  return demonstrations;
}

Result<std::string> memory_bank(const SessionRequest& request, ResourceCache& cache,
                                const FitRequest& fit, const TrainedFile& adapter,
                                const TrainingData& data, const Made& made) {
  // As sessions that predict read, whatever the training computed in.
  auto prompts = prompted::open_prompts(request, cache);
  if (!prompts.ok()) return prompts.error();
  const architectures::Backbone& backbone = *prompts->backbone;
  auto decoder = backbone.network->decoder(request.runtime, backbone.digest, cache);
  if (!decoder.ok()) return decoder.error();
  auto file = read_selfcp(fit.folder + "/" + adapter.name, (*decoder)->hidden());
  if (!file.ok()) return file.error();
  auto opening = opening_of(*prompts);
  if (!opening.ok()) return opening.error();
  const BankMaker maker(demonstration_texts(request.params, backbone), bank_ratio(request.params),
                        *std::move(opening),
                        std::make_shared<Selfcp>(file->form, std::move(file->tensors),
                                                 *std::move(decoder), SelfcpReading()));
  const auto demonstrations = demonstrations_of(
      request, data, made, [&](const Example& example) { return maker.made(example); });
  if (!demonstrations.ok()) return demonstrations.error();
  std::map<std::string, std::string> metadata = std::move(file->metadata);
  metadata["artifact_sha256"] = adapter.sha256;
  const bool rounded = request.params.get<std::string>("save_dtype") == "bfloat16";
  return bank_bytes(*demonstrations, std::move(metadata), rounded ? at::kBFloat16 : at::kFloat);
}

Result<std::string> token_bank(const SessionRequest& request, ResourceCache& cache,
                               const MethodSpec& spec, const FitRequest& fit,
                               const TrainingData& data, const Made& made) {
  const auto backbone = architectures::open_backbone(*request.backbone, cache);
  if (!backbone.ok()) return backbone.error();
  const DemonstrationTexts texts = demonstration_texts(request.params, **backbone);
  const auto demonstrations = demonstrations_of(
      request, data, made, [&](const Example& example) { return texts.made(example); });
  if (!demonstrations.ok()) return demonstrations.error();
  auto metadata = prompted::file_metadata(request, spec, fit);
  if (!metadata.ok()) return metadata.error();
  return bank_bytes(*demonstrations, *std::move(metadata), at::kFloat);
}

}  // namespace

DemonstrationTexts demonstration_texts(const Params& params,
                                       const architectures::Backbone& backbone) {
  return {demonstration_template(params), demonstration_tokens(params), backbone.tokenizer};
}

SessionRequest learning_of(const SessionRequest& request) {
  SessionRequest learning = request;
  if (bank_alone(request.params)) learning.params.set("steps", int64_t{0});
  return learning;
}

Result<std::unique_ptr<TrainingSession>> open_selfcp_training(const SessionRequest& request,
                                                              ResourceCache& cache,
                                                              prompted::OpenSession open) {
  static const SelfcpSpec kSpec;
  auto session = prompted::open_adapter_training(learning_of(request), cache, kSpec, &make_selfcp,
                                                 std::move(open));
  if (!session.ok()) return session.error();
  MakeBank make;
  if (has_bank(request.params)) {
    make = [request, &cache](const FitRequest& fit, const std::vector<TrainedFile>& files,
                             const TrainingData& data, const Made& made) {
      return memory_bank(request, cache, fit, files.front(), data, made);
    };
  }
  return std::unique_ptr<TrainingSession>(
      std::make_unique<BankTraining>(*std::move(session), std::move(make)));
}

std::unique_ptr<TrainingSession> with_token_bank(const SessionRequest& request,
                                                 ResourceCache& cache, const MethodSpec& spec,
                                                 std::unique_ptr<TrainingSession> learning) {
  MakeBank make;
  if (has_bank(request.params)) {
    make = [request, &cache, &spec](const FitRequest& fit, const std::vector<TrainedFile>&,
                                    const TrainingData& data, const Made& made) {
      return token_bank(request, cache, spec, fit, data, made);
    };
  }
  return std::make_unique<BankTraining>(std::move(learning), std::move(make));
}

}  // namespace qfs::compressors
