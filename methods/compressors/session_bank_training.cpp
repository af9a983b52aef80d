#include "methods/compressors/session_bank_training.h"

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

class SelfcpTraining final : public TrainingSession {
 public:
  SelfcpTraining(SessionRequest request, ResourceCache& cache,
                 std::unique_ptr<TrainingSession> learning)
      : request_(std::move(request)), cache_(cache), learning_(std::move(learning)) {}

  Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                              TrainingProgress& progress) override {
    auto outcome = learning_->fit(request, data, progress);
    if (!outcome.ok() || outcome->files.empty() || !has_bank(request_.params)) return outcome;
    const int64_t begin_ns = monotonic_ns();
    auto bank = make_bank(request, outcome->files.front(), data);
    if (!bank.ok()) return bank.error();
    outcome->files.push_back(*std::move(bank));
    outcome->cost.seconds += static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
    return outcome;
  }

 private:
  Result<TrainedFile> make_bank(const FitRequest& request, const TrainedFile& adapter,
                                const TrainingData& data) {
    // As sessions that predict read, whatever the training computed in.
    auto prompts = prompted::open_prompts(request_, cache_);
    if (!prompts.ok()) return prompts.error();
    const architectures::Backbone& backbone = *prompts->backbone;
    auto decoder = backbone.network->decoder(request_.runtime, backbone.digest, cache_);
    if (!decoder.ok()) return decoder.error();
    auto file = read_selfcp(request.folder + "/" + adapter.name, (*decoder)->hidden());
    if (!file.ok()) return file.error();
    auto opening = opening_of(*prompts);
    if (!opening.ok()) return opening.error();
    const BankMaker maker(bank_rules(request_.params), *std::move(opening), backbone.tokenizer,
                          std::make_shared<Selfcp>(file->form, std::move(file->tensors),
                                                   *std::move(decoder), SelfcpReading()));
    std::vector<Demonstration> demonstrations;
    const int64_t most = *request_.params.find<int64_t>("bank");
    for (const size_t i : drawn_examples(data.train.size(), most, request_.seed)) {
      auto demonstration = maker.made(data.train[i].example);
      if (!demonstration.ok()) return demonstration.error();
      demonstrations.push_back(*std::move(demonstration));
    }
    const bool rounded = request_.params.get<std::string>("save_dtype") == "bfloat16";
    std::map<std::string, std::string> metadata = std::move(file->metadata);
    metadata["artifact_sha256"] = adapter.sha256;
    const std::string bytes =
        bank_bytes(demonstrations, std::move(metadata), rounded ? at::kBFloat16 : at::kFloat);
    if (Status written = write_file(request.folder + "/" + kBankFile, bytes); !written.ok()) {
      return written.error();
    }
    return TrainedFile{kBank, kBankFile, sha256_hex(bytes), static_cast<int64_t>(bytes.size())};
  }

  SessionRequest request_;
  ResourceCache& cache_;
  std::unique_ptr<TrainingSession> learning_;
};

}  // namespace

BankRules bank_rules(const Params& params) {
  return {.text = demonstration_template(params),
          .window = params.find<int64_t>("train_window").value_or(kWindow),
          .ratio = bank_ratio(params)};
}

Result<std::unique_ptr<TrainingSession>> open_selfcp_training(const SessionRequest& request,
                                                              ResourceCache& cache,
                                                              prompted::OpenSession open) {
  static const SelfcpSpec kSpec;
  SessionRequest learning = request;
  if (request.params.get<std::string>("objective") == "bank") {
    if (!request.artifacts.contains(prompted::kAdapter)) {
      return invalid_argument(
          "\"objective\": \"bank\" learns nothing; name the connector that the bank is of: "
          "\"training\": {\"init\": {\"adapter\": FILE}}");
    }
    learning.params.set("steps", int64_t{0});
  }
  auto session =
      prompted::open_adapter_training(learning, cache, kSpec, &make_selfcp, std::move(open));
  if (!session.ok()) return session.error();
  return std::unique_ptr<TrainingSession>(
      std::make_unique<SelfcpTraining>(request, cache, *std::move(session)));
}

}  // namespace qfs::compressors
