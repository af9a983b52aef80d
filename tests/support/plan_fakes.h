// Small catalogues for tests of planning: methods, data sets and metrics that exist only here.
// Every part is plain and public, so that a test can change it. Used by tests/*/plan; thread-safe
// while nobody changes the parts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric_entry.h"
#include "harness/api/model_rules.h"
#include "harness/plan/plan.h"

namespace qfs::test {

struct FakeSpec : MethodSpec, ModelRules {
  std::string id;
  int revision = 1;
  std::vector<std::string> shared_layers;
  bool of_backbone = false;  ///< a layer is named by the architecture of the backbone
  std::string only;          ///< the one architecture that it runs on; empty: any
  std::string refuses_init;  ///< what it says of any file that a training begins with
  /// What it says of a training.
  std::function<Status(const Params& params, const TrainingFacts& facts)> judges_training;
  std::string refuses_model;  ///< of any further model, where "rank" is above 8
  std::string refuses_file;   ///< of any file that a cell predicts with
  double least_rate = 0;      ///< of a file that a cell predicts with, by its recipe
  std::string differs;        ///< a parameter in which cells may differ from their files
  std::vector<ParamSpec> declared;
  Needs needed;
  std::optional<int64_t> answers_at_rank;  ///< the rank with which it reads the answers
  std::optional<int64_t> memory_at_rank;   ///< that with which it has a memory
  bool draws = true;                       ///< the seed matters
  std::string passed_over;                 ///< a parameter that no training depends on
  double flops_per_word = 1e6;

  std::string_view name() const override { return id; }
  std::string_view doc() const override { return "a method of the tests"; }
  int version() const override { return revision; }
  std::vector<std::string> layers(const Params&, const BackboneFacts& facts) const override {
    std::vector<std::string> layers = shared_layers;
    if (of_backbone) layers.insert(layers.begin(), "backbone-" + facts.architecture + "@1");
    return layers;
  }
  std::vector<ParamSpec> params() const override { return declared; }
  Needs needs(const Params& params) const override {
    Needs needs = needed;
    needs.references |= answers_at_rank && params.find<int64_t>("rank") == answers_at_rank;
    needs.memory |= memory_at_rank && params.find<int64_t>("rank") == memory_at_rank;
    return needs;
  }
  bool seed_matters(const Params&) const override { return draws; }
  bool trains_with(const Params&, std::string_view name) const override {
    return name != passed_over;
  }
  /// Refuses "max_words" above "local_context".
  Status validate(const Params& params) const override;
  Status check_backbone(const Params&, const BackboneFacts& facts) const override {
    if (only.empty() || facts.architecture == only) return {};
    return unavailable("not for " + facts.architecture);
  }
  Status check_init(const Params&, const Params&) const override {
    return refuses_init.empty() ? Status() : invalid_argument(refuses_init);
  }
  Status check_training(const Params& params, const TrainingFacts& facts) const override {
    return judges_training ? judges_training(params, facts) : Status();
  }
  Status check_model(const Params& params, const std::string& role,
                     const Resource& model) const override {
    if (refuses_model.empty() || params.find<int64_t>("rank").value_or(0) <= 8) return {};
    return invalid_argument(role + " " + model.name + " " + refuses_model);
  }
  Status check_file(const Params&, const Params& recipe) const override {
    if (recipe.find<double>("rate").value_or(least_rate) < least_rate) {
      return invalid_argument("learned too slowly");
    }
    return refuses_file.empty() ? Status() : invalid_argument(refuses_file);
  }
  bool may_differ(std::string_view name) const override { return name == differs; }
  /// Grows with the words that are read: local_context where it is given.
  Cost cost(const Params& params, const DatasetStats& stats) const override;
};

/// Methods `finder` (trains a model in the role of its name), `lead`, `learner` (trains), `needy`
/// (a required parameter), `random` (no tokens), `reader` (reads with what `finder` trained) and
/// `zero_shot`; backbones `small` (llama) and `large` (bart), and `absent`, whose checkpoint is
/// missing; tokenizers of the backbones and `words`.
struct FakeMethods : MethodCatalog {
  FakeMethods();
  FakeSpec& spec(std::string_view name);

  std::vector<const MethodSpec*> specs() const override;
  Result<const MethodSpec*> find(std::string_view name) const override;
  Result<Resource> backbone(std::string_view name) const override;
  Result<BackboneFacts> backbone_facts(const Resource& backbone) const override;
  Result<std::string> model_type(const Resource& model) const override;
  Result<Resource> tokenizer(std::string_view name) const override;
  std::vector<std::string> backbone_names() const override { return {"absent", "large", "small"}; }
  Result<ArtifactFacts> artifact(std::string_view path) const override;

  std::string root = "/models";  ///< where the fake files are
  std::vector<FakeSpec> all;
  std::string large_type = "bert";                 ///< the model_type of `large`; of others bert
  std::map<std::string, ArtifactFacts> artifacts;  ///< by path; others are not found
};

/// `tiny` (12 examples), `other` (3), `bare` (2, without references and queries), `empty`, `split`
/// (test, train and validation with 3 examples each that no two share); a path gives `tiny` again.
/// Other names are not found.
struct FakeDatasets : DatasetCatalog {
  std::vector<DatasetInfo> list() const override;
  Result<std::shared_ptr<const Dataset>> load(const DatasetRequest& request) const override;

  mutable std::vector<std::string> loaded;  ///< names asked for, in order
};

/// `rouge` with the columns rouge1.f and rougeL.f; options are accepted.
struct FakeMetrics : MetricCatalog {
  std::vector<MetricInfo> list() const override { return {}; }
  Result<std::shared_ptr<const Metric>> make(std::string_view name) const override;
};

/// Describes every program but "missing" as `mine`, version 3, with the parameter `beams`.
struct FakeDescriber : plan::ExternalDescriber {
  Result<std::shared_ptr<const MethodSpec>> describe(const ExternalCommand& command) override;
  int calls = 0;
};

/// What a test needs to plan the text of a sweep.
struct Planning {
  FakeMethods methods;
  FakeDatasets datasets;
  FakeMetrics metrics;
  FakeDescriber describer;
  plan::Filter filter;
  std::optional<int64_t> limit;
  bool allow_external = false;
  std::string init;

  Result<plan::Plan> operator()(const std::string& sweep, const std::string& path = "s.json");
};

/// A sweep over `datasets` and `methods` (JSON texts), with more members of the object in `rest`.
std::string sweep_text(const std::string& methods, const std::string& rest = "",
                       const std::string& datasets = R"({"name": "tiny"})");

}  // namespace qfs::test
