#include "methods/models/ranking/locator.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::ranking {

namespace {

constexpr const char* kScale = "qfs.locator.scale";

Status check_model(const std::map<std::string, std::string>& metadata, const Resource& model,
                   const std::string& path) {
  const auto made_for = metadata.find("qfs.backbone");
  if (made_for == metadata.end() || made_for->second == model.digest) return {};
  return data_error("it was trained over the encoder " + made_for->second + "; '" + model.name +
                        "' is " + model.digest,
                    path);
}

/// Of the recipe that every trained file has.
Result<ChunkRule> rule_of(const std::map<std::string, std::string>& metadata,
                          const std::string& path) {
  const auto recipe = metadata.find("qfs.recipe");
  if (recipe == metadata.end()) return data_error("it does not say how it was trained", path);
  const auto parsed = parse_json(recipe->second, path);
  if (!parsed.ok()) return parsed.error();
  ChunkRule rule;
  for (auto& [name, value] : {std::pair<const char*, int64_t*>{"chunk_tokens", &rule.chunk_tokens},
                              std::pair<const char*, int64_t*>{"max_chunks", &rule.max_chunks}}) {
    const auto given = parsed->find(name);
    if (given == parsed->end() || !given->is_number_integer() || given->get<int64_t>() < 1) {
      return data_error(std::string("its recipe has no '") + name + "'", path);
    }
    *value = given->get<int64_t>();
  }
  return rule;
}

}  // namespace

std::string locator_bytes(const ScorerTensors& tensors, std::map<std::string, std::string> metadata,
                          at::ScalarType type) {
  metadata[kScale] = nlohmann::json(tensors.adapter.config.scale()).dump();
  return peft::tensor_file_bytes(tensors.all(), std::move(metadata), type);
}

Result<LocatorFile> read_locator(const std::string& path, const Resource& model) {
  const auto file = checkpoints::open_safetensors(path);
  if (!file.ok()) return file.error();
  const std::map<std::string, std::string> metadata = (*file)->metadata();
  const auto scale = metadata.find(kScale);
  if (scale == metadata.end()) return data_error("no trained file of 'locator'", path);
  const auto parsed = parse_json(scale->second, path);
  if (!parsed.ok()) return parsed.error();
  if (!parsed->is_number()) return data_error("no scale of its matrices", path);
  if (Status same = check_model(metadata, model, path); !same.ok()) return same.error();
  auto rule = rule_of(metadata, path);
  if (!rule.ok()) return rule.error();
  LocatorFile locator{{}, *rule};
  for (const checkpoints::TensorEntry& entry : (*file)->tensors()) {
    const auto values = peft::read_tensor(**file, entry);
    if (!values.ok()) return values.error();
    if (!locator.tensors.place(entry.name, *values)) {
      return data_error("the tensor '" + entry.name + "' is none of a locator's", path);
    }
  }
  locator.rule.query_apart = locator.tensors.head.contains(kSimilarity);
  const Status whole = locator.tensors.complete(parsed->get<double>(), path);
  if (!whole.ok()) return whole.error();
  return locator;
}

Result<std::unique_ptr<Locator>> Locator::open(const SessionRequest& request,
                                               ResourceCache& cache) {
  const auto model = request.backbones.find(kLocator);
  if (model == request.backbones.end()) return invalid_argument("no locator's encoder was given");
  const auto file = request.artifacts.find(kLocator);
  if (file == request.artifacts.end()) return invalid_argument("no trained locator was given");
  auto scorer = SnippetScorer::open(model->second, cache);
  if (!scorer.ok()) return scorer.error();
  auto trained = read_locator(file->second.path, model->second);
  if (!trained.ok()) return trained.error();
  if (request.params.has("score") &&
      scores_by_similarity(request.params) != trained->rule.query_apart) {
    return data_error("it was trained with another 'score'", file->second.path);
  }
  auto adapters = (*scorer)->bind(trained->tensors.adapter.layers);
  if (!adapters.ok()) return adapters.error();
  return std::make_unique<Locator>(*std::move(scorer), std::move(trained->tensors), trained->rule,
                                   *std::move(adapters));
}

Status Locator::prepare(std::span<const retrieval::Passage> passages, retrieval::Script) {
  snippets_.clear();
  passages_.clear();
  for (size_t i = 0; i < passages.size(); ++i) {
    const retrieval::Passage& passage = passages[i];
    if (is_blank(passage.text)) continue;
    snippets_.push_back({{{passage.text, passage.speaker}}});
    passages_.push_back(i);
  }
  return {};
}

Result<std::vector<size_t>> Locator::select(const Example& example) {
  seen_ = {};
  if (snippets_.empty()) return std::vector<size_t>();
  const auto packed = scorer_->pack(example.query, snippets_, rule_);
  if (!packed.ok()) return of_example(packed.error(), example);
  seen_ = {packed->visible(), packed->cut, packed->unseen};
  const auto scores = scorer_->scores(*packed, tensors_.head, adapters_);
  if (!scores.ok()) return scores.error();
  const at::Tensor values = scores->contiguous();
  std::vector<size_t> order;
  for (const int64_t i :
       ranked({values.const_data_ptr<float>(), static_cast<size_t>(values.numel())})) {
    order.push_back(passages_[static_cast<size_t>(i)]);
  }
  return order;
}

}  // namespace qfs::ranking
