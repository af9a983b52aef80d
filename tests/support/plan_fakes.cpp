#include "tests/support/plan_fakes.h"

#include "harness/config/load.h"
#include "harness/core/suggest.h"

namespace qfs::test {

namespace {

ParamSpec integer(std::string name, std::optional<int64_t> value, double minimum,
                  std::optional<double> maximum = std::nullopt) {
  ParamSpec spec;
  spec.name = std::move(name);
  spec.unit = "tokens";
  if (value) spec.default_value = *value;
  spec.minimum = minimum;
  spec.maximum = maximum;
  return spec;
}

ParamSpec other(std::string name, ParamType type, ParamValue value) {
  ParamSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.default_value = std::move(value);
  return spec;
}

FakeSpec lead() {
  FakeSpec spec;
  spec.id = "lead";
  spec.declared = {integer("local_context", std::nullopt, 1), integer("max_words", 100, 1)};
  spec.declared[1].unit = "words";
  spec.needed.tokenizer = true;
  return spec;
}

FakeSpec random_words() {
  FakeSpec spec;
  spec.id = "random";
  spec.declared = {integer("max_words", 100, 1)};
  return spec;
}

FakeSpec needy() {
  FakeSpec spec;
  spec.id = "needy";
  spec.declared = {integer("k", std::nullopt, 1)};
  spec.declared[0].required = true;
  spec.declared[0].doc = "how many";
  return spec;
}

FakeSpec learner() {
  FakeSpec spec;
  spec.id = "learner";
  spec.declared = {integer("rank", 8, 1), integer("max_words", 100, 1),
                   other("prompt", ParamType::text, "{document}"), integer("micro_batch", 1, 1),
                   other("rate", ParamType::real, 0.5)};
  spec.declared[0].stage = spec.declared[4].stage = Stage::train;
  spec.declared[2].stage = Stage::both;
  spec.declared[3].stage = Stage::train;
  spec.declared[3].numerics = true;
  spec.needed.backbone = true;
  spec.needed.artifacts = {"adapter"};
  spec.needed.begins_with = {"elder"};
  spec.needed.reads_files_of = {"relative"};
  spec.draws = false;
  return spec;
}

FakeSpec reader() {
  FakeSpec spec;
  spec.id = "reader";
  spec.declared = {integer("rank", 8, 1)};
  spec.declared[0].stage = Stage::train;
  spec.needed.backbones = {"finder"};
  spec.needed.model_types = {{"finder", {"bert"}}};
  spec.needed.artifacts = {"finder"};
  spec.needed.made_by = {{"finder", "finder"}};
  spec.draws = false;
  return spec;
}

FakeSpec finder() {
  FakeSpec spec = reader();
  spec.id = "finder";
  spec.needed.made_by.clear();
  return spec;
}

FakeSpec zero_shot() {
  FakeSpec spec;
  spec.id = "zero_shot";
  spec.revision = 2;
  spec.shared_layers = {"generation@1", "truncation@1"};
  spec.declared = {integer("local_context", std::nullopt, 1),
                   integer("max_new_tokens", 128, 1, 4096),
                   integer("batch_size", 1, 1),
                   other("temperature", ParamType::real, 0.0),
                   other("greedy", ParamType::boolean, true),
                   other("cut", ParamType::text, "tail"),
                   other("prompt", ParamType::text, "{document}\n{query}")};
  spec.declared[2].numerics = true;
  spec.declared[3].minimum = 0.0;
  spec.declared[3].maximum = 2.0;
  spec.declared[5].choices = {"head", "middle", "tail"};
  spec.needed.tensors = spec.needed.backbone = spec.needed.tokenizer = true;
  spec.flops_per_word = 1e9;
  return spec;
}

Example example(const std::string& key, size_t words, bool bare) {
  Example made;
  made.key = key;
  made.document_id = "d" + key;
  made.language = "en";
  std::string text;
  for (size_t i = 0; i < words; ++i) text += "word ";
  made.document = {{text, "Ann"}};
  if (!bare) {
    made.query = "What is " + key + "?";
    made.references = {"It is words."};
  }
  return made;
}

Dataset dataset(const std::string& name, char digit, size_t examples) {
  Dataset made;
  made.id = DatasetId(std::string(64, digit));
  made.manifest.name = name;
  for (size_t i = 0; i < examples; ++i) {
    made.examples.push_back(example("e" + std::to_string(i), 10 + i, name == "bare"));
    made.example_hashes.push_back(std::string(1, digit) + std::to_string(i));
  }
  return made;
}

struct FakeMetric : Metric {
  std::string_view name() const override { return "rouge"; }
  std::string_view doc() const override { return "a metric of the tests"; }
  std::vector<std::string> columns() const override { return {"rouge1.f", "rougeL.f"}; }
  std::string signature() const override { return "fake"; }
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem>) const override {
    return internal_error("this metric cannot measure");
  }
};

}  // namespace

Status FakeSpec::validate(const Params& params) const {
  const auto context = params.find<int64_t>("local_context");
  const auto words = params.find<int64_t>("max_words");
  if (context && words && *words > *context) {
    return invalid_argument("max_words is above local_context");
  }
  return {};
}

Cost FakeSpec::cost(const Params& params, const DatasetStats& stats) const {
  double words = stats.mean_document_words;
  if (const auto context = params.find<int64_t>("local_context")) {
    words = static_cast<double>(*context);
  }
  return {words * flops_per_word * static_cast<double>(stats.examples), 0, 0};
}

FakeMethods::FakeMethods()
    : all{finder(), lead(), learner(), needy(), random_words(), reader(), zero_shot()} {}

FakeSpec& FakeMethods::spec(std::string_view name) {
  for (FakeSpec& spec : all) {
    if (spec.id == name) return spec;
  }
  return all.front();
}

std::vector<const MethodSpec*> FakeMethods::specs() const {
  std::vector<const MethodSpec*> list;
  for (const FakeSpec& spec : all) list.push_back(&spec);
  return list;
}

Result<const MethodSpec*> FakeMethods::find(std::string_view name) const {
  std::vector<std::string> names;
  for (const FakeSpec& spec : all) {
    if (spec.id == name) return static_cast<const MethodSpec*>(&spec);
    names.push_back(spec.id);
  }
  return not_found("unknown method '" + std::string(name) + "'" + suggestion(name, names));
}

Result<Resource> FakeMethods::backbone(std::string_view name) const {
  if (name == "absent") return unavailable("the checkpoint of 'absent' is not on this machine");
  if (name != "small" && name != "large") {
    return not_found("unknown backbone '" + std::string(name) + "'" +
                     suggestion(name, backbone_names()));
  }
  return Resource{std::string(name), root + "/" + std::string(name) + ".gguf",
                  std::string(64, name == "small" ? '5' : '6')};
}

Result<BackboneFacts> FakeMethods::backbone_facts(const Resource& backbone) const {
  if (backbone.name == "large") return BackboneFacts{"bart"};
  return BackboneFacts{"llama"};
}

Result<std::string> FakeMethods::model_type(const Resource& model) const {
  return model.name == "large" ? large_type : "bert";
}

Result<Resource> FakeMethods::tokenizer(std::string_view name) const {
  if (name == "words") return Resource{"words", "", "words@1"};
  Result<Resource> resource = backbone(name);
  if (!resource.ok()) return resource;
  resource->digest = std::string(64, name == "small" ? '7' : '8');
  return resource;
}

Result<ArtifactFacts> FakeMethods::artifact(std::string_view path) const {
  const auto known = artifacts.find(std::string(path));
  if (known != artifacts.end()) return known->second;
  return not_found("there is no trained file '" + std::string(path) + "'");
}

std::vector<DatasetInfo> FakeDatasets::list() const {
  DatasetInfo split;
  split.name = "split";
  split.splits = {"test", "train", "validation"};
  return {split};
}

Result<std::shared_ptr<const Dataset>> FakeDatasets::load(const DatasetRequest& request) const {
  loaded.push_back(request.name.empty() ? request.path : request.name);
  const auto shared = [](Dataset data) { return std::make_shared<const Dataset>(std::move(data)); };
  if (request.name == "tiny" || request.name.empty()) return shared(dataset("tiny", 'a', 12));
  if (request.name == "other") return shared(dataset("other", 'b', 3));
  if (request.name == "bare") return shared(dataset("bare", 'c', 2));
  if (request.name == "split") {
    const char digit = !request.text_form.empty()      ? '4'  // which changes every text
                       : request.split == "train"      ? '1'
                       : request.split == "validation" ? '2'
                                                       : '3';
    Dataset data = dataset("split", digit, 3);
    data.manifest.split = request.split.empty() ? "test" : request.split;
    for (Example& example : data.examples) example.document.front().speaker = request.split;
    return shared(std::move(data));
  }
  if (request.name == "leaking") {  // the same examples in every split
    Dataset data = dataset("leaking", 'e', 3);
    data.manifest.split = request.split.empty() ? "test" : request.split;
    return shared(std::move(data));
  }
  if (request.name == "empty") return shared(dataset("empty", 'd', 0));
  if (request.name == "broken") return data_error("the record has no query", "data.jsonl:7");
  const std::vector<std::string> names = {"bare", "empty", "other", "tiny"};
  return not_found("unknown data set '" + request.name + "'" + suggestion(request.name, names));
}

Result<std::shared_ptr<const Metric>> FakeMetrics::make(std::string_view name) const {
  const std::string base(name.substr(0, name.find(':')));
  const std::vector<std::string> names = {"rouge"};
  if (base != "rouge") {
    return not_found("unknown metric '" + base + "'" + suggestion(base, names));
  }
  return std::shared_ptr<const Metric>(std::make_shared<FakeMetric>());
}

Result<std::shared_ptr<const MethodSpec>> FakeDescriber::describe(const ExternalCommand& command) {
  ++calls;
  if (command.command.front() == "missing") return unavailable("'missing' cannot be started");
  auto spec = std::make_shared<FakeSpec>();
  spec->id = "mine";
  spec->revision = 3;
  spec->needed.external = true;
  spec->declared = {integer("beams", 1, 1)};
  return std::shared_ptr<const MethodSpec>(std::move(spec));
}

Result<plan::Plan> Planning::operator()(const std::string& sweep, const std::string& path) {
  const Result<Experiment> experiment = config::decode_experiment(sweep, path);
  if (!experiment.ok()) return experiment.error();
  return plan::make_plan(*experiment, {methods, datasets, metrics, &describer, filter, limit,
                                       allow_external, nullptr, init});
}

std::string sweep_text(const std::string& methods, const std::string& rest,
                       const std::string& datasets) {
  return R"({"name": "s", "tokenizer": "words", "datasets": [)" + datasets + R"(], "methods": [)" +
         methods + "]" + (rest.empty() ? "" : ", ") + rest + "}";
}

}  // namespace qfs::test
