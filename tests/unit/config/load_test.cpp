// Behaviour of the sweep loader that the corpus of files cannot show: overrides, places,
// independence of key order and folder.
#include "harness/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace qfs::config {
namespace {

const char* const kVariables = R"({
  "name": "s", "variables": { "model": "small", "tokens": 64, "share": 0.5, "on": false },
  "datasets": [ { "name": "mini-meetings" } ],
  "methods": [ { "method": "zero_shot", "backbone": "${model}", "max_new_tokens": "${tokens}",
                 "top_p": "${share}", "greedy": "${on}", "prompt": "${model}, ${tokens}: {document}" } ]
})";

Result<Experiment> with(std::map<std::string, std::string> overrides) {
  return decode_experiment(kVariables, "folder/s.json", {std::move(overrides)});
}

ParamValue parameter(const Experiment& experiment, const std::string& name) {
  for (const NamedValue& value : experiment.methods[0].params) {
    if (value.name == name) return value.value;
  }
  ADD_FAILURE() << "no parameter " << name;
  return false;
}

TEST(LoadExperiment, VariablesKeepTheirTypesAndFillTexts) {
  const auto experiment = with({});
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->methods[0].backbone, "small");
  EXPECT_EQ(parameter(*experiment, "max_new_tokens"), ParamValue(int64_t{64}));
  EXPECT_EQ(parameter(*experiment, "top_p"), ParamValue(0.5));
  EXPECT_EQ(parameter(*experiment, "greedy"), ParamValue(false));
  EXPECT_EQ(parameter(*experiment, "prompt"), ParamValue("small, 64: {document}"));
}

TEST(LoadExperiment, OverridesReadAsTheTypeInTheFile) {
  const auto experiment =
      with({{"model", "12"}, {"tokens", "128"}, {"share", "1"}, {"on", "true"}});
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->methods[0].backbone, "12");
  EXPECT_EQ(parameter(*experiment, "max_new_tokens"), ParamValue(int64_t{128}));
  EXPECT_EQ(parameter(*experiment, "top_p"), ParamValue(1.0));
  EXPECT_EQ(parameter(*experiment, "greedy"), ParamValue(true));
  EXPECT_EQ(experiment->variables.at("tokens"), "128");
}

TEST(LoadExperiment, OverrideEqualsTheEditedFile) {
  std::string edited = kVariables;
  edited.replace(edited.find("64"), 2, "99");
  EXPECT_EQ(with({{"tokens", "99"}})->resolved, decode_experiment(edited, "s.json")->resolved);
}

struct BadOverride {
  std::string name, value, message;
};

class BadOverrides : public testing::TestWithParam<BadOverride> {};

TEST_P(BadOverrides, AreRefused) {
  const auto experiment = with({{GetParam().name, GetParam().value}});
  ASSERT_FALSE(experiment.ok());
  EXPECT_EQ(experiment.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(experiment.error().to_string(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    LoadExperiment, BadOverrides,
    testing::Values(
        BadOverride{"modell", "x",
                    "folder/s.json#/variables: --set modell=x: the file declares no variable "
                    "'modell' (did you mean 'model'?)"},
        BadOverride{"tokens", "many",
                    "folder/s.json#/variables: --set tokens=many: the variable's value in the file "
                    "is an integer, and this does not read as one"},
        BadOverride{"tokens", "1.5",
                    "folder/s.json#/variables: --set tokens=1.5: the variable's value in the file "
                    "is an integer, and this does not read as one"},
        BadOverride{"on", "yes",
                    "folder/s.json#/variables: --set on=yes: the variable's value in the file is a "
                    "boolean, and this does not read as one"},
        BadOverride{"model", "\xff", "--set: the name and the value must be UTF-8"},
        BadOverride{"model", "${on}",
                    "folder/s.json#/variables: variable 'model' holds '${': variables do not refer "
                    "to one another"}));

TEST(LoadExperiment, OverrideThatChangesNothingIsRefused) {
  const auto experiment = decode_experiment(
      R"({"name": "s", "variables": {"dataset": "a"}, "datasets": [{"name": "mini-meetings"}],
          "methods": [{"method": "lead"}]})",
      "s.json", {{{"dataset", "qmsum"}}});
  ASSERT_FALSE(experiment.ok());
  EXPECT_EQ(
      experiment.error().to_string(),
      "s.json#: --set dataset=qmsum changes nothing: '${dataset}' is used nowhere in the file");
}

TEST(LoadExperiment, TrainingDataAndTrainedFilesAreAnchored) {
  const auto experiment = decode_experiment(
      R"({"name": "s", "datasets": [{"name": "mini-meetings"}], "methods": [
          {"method": "a", "training": {"train": {"path": "t.jsonl", "sample": 3},
                                       "development": {"name": "qmsum", "split": "val"},
                                       "init": {"adapter": "z", "extractor": {"row": "b"}}}},
          {"method": "b", "artifact": "x.safetensors"},
          {"method": "c", "artifact": {"generator": "../y", "locator": {"row": "a"}}}]})",
      "folder/s.json", {});
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  const TrainingEntry& training = experiment->methods[0].training.value();
  EXPECT_EQ(training.train.request.path, "folder/t.jsonl");
  EXPECT_EQ(training.train.sample, 3);
  EXPECT_EQ(training.development.value().request.split, "val");
  EXPECT_EQ(training.init.at("adapter"), "folder/z");
  EXPECT_EQ(training.init_rows.at("extractor"), "b");
  EXPECT_NE(experiment->resolved.text.find(R"("init":{"adapter":"z","extractor":{"row":"b"}})"),
            std::string::npos);
  EXPECT_EQ(experiment->methods[1].artifacts.at(""), "folder/x.safetensors");
  EXPECT_EQ(experiment->methods[2].artifacts.at("generator"), "y");
  EXPECT_EQ(experiment->methods[2].artifact_rows.at("locator"), "a");
  EXPECT_NE(experiment->resolved.text.find(R"("locator":{"row":"a"})"), std::string::npos);
  EXPECT_NE(experiment->resolved.text.find(R"("artifact":"x.safetensors")"), std::string::npos)
      << "as written";
}

TEST(LoadExperiment, MistypedTrainingIsRefusedWithItsPlace) {
  const auto error = [](const std::string& entry) {
    const auto experiment =
        decode_experiment(R"({"name": "s", "datasets": [{"name": "mini-meetings"}],
                              "methods": [{"method": "a", )" +
                              entry + "}]}",
                          "s.json", {});
    return experiment.ok() ? "no error" : experiment.error().to_string();
  };
  EXPECT_NE(error(R"("training": {})").find("#/methods/0/training"), std::string::npos);
  EXPECT_NE(error(R"("training": {"train": {"name": "a"}, "test": {}})").find("'test'"),
            std::string::npos);
  EXPECT_NE(error(R"("training": {"train": {"name": "a", "drawn_by": "seed"}})")
                .find("/training/train/drawn_by: 'drawn_by' belongs to a data set with 'sample'"),
            std::string::npos);
  EXPECT_NE(error(R"("training": {"train": {"name": "a", "sample": 3, "drawn_by": "row"}})")
                .find("/training/train/drawn_by: a sample is drawn by 'seed'"),
            std::string::npos);
  EXPECT_NE(error(R"("artifact": {})").find("#/methods/0/artifact"), std::string::npos);
  EXPECT_NE(error(R"("artifact": 3)").find("#/methods/0/artifact"), std::string::npos);
}

TEST(LoadExperiment, OnlyTrainingsHaveADrawOfTheSeed) {
  const auto sweep = [](const std::string& scored, const std::string& learnt) {
    return decode_experiment(
        R"({"name": "s", "datasets": [{"name": "qmsum", "sample": 3)" + scored +
            R"(}], "methods": [{"method": "a", "training": {"train": )" +
            R"({"name": "qmsum", "split": "train", "sample": 3)" + learnt + "}}}]}",
        "s.json", {});
  };
  const std::string drawn = R"(, "drawn_by": "seed")";
  const auto experiment = sweep("", drawn);
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_TRUE(experiment->methods[0].training->train.drawn_by_seed);
  EXPECT_NE(experiment->resolved.text.find(R"("drawn_by":"seed")"), std::string::npos);
  EXPECT_FALSE(sweep("", "")->methods[0].training->train.drawn_by_seed);
  EXPECT_NE(sweep(drawn, "").error().to_string().find(
                "#/datasets/0/drawn_by: what is scored is the same for all seeds"),
            std::string::npos);
}

TEST(LoadExperiment, MissingFileIsNotFoundAndNamed) {
  const auto experiment = load_experiment("tests/golden/config/none.json");
  ASSERT_FALSE(experiment.ok());
  EXPECT_EQ(experiment.error().kind, ErrorKind::not_found);
  EXPECT_NE(experiment.error().to_string().find("tests/golden/config/none.json"),
            std::string::npos);
}

TEST(LoadExperiment, BrokenJsonNamesLineAndColumn) {
  const auto experiment =
      decode_experiment("{\n  \"name\": \"s\",\n  \"datasets\": [,\n", "s.json");
  ASSERT_FALSE(experiment.ok());
  EXPECT_EQ(experiment.error().kind, ErrorKind::data);
  EXPECT_EQ(experiment.error().where, "s.json:3:16");
}

TEST(LoadExperiment, CanonicalFormIgnoresKeyOrderAndFolder) {
  const auto one = decode_experiment(
      R"({"name": "s", "datasets": [{"path": "d/test.jsonl", "split": "test"}],
          "methods": [{"method": "lead", "max_words": 5, "local_context": 3}],
          "grid": {"stride": [1, 2], "cut": ["head"]}})",
      "here/s.json");
  const auto other = decode_experiment(
      R"({"grid": {"cut": ["head"], "stride": [1, 2]},
          "methods": [{"local_context": 3, "max_words": 5, "method": "lead"}],
          "datasets": [{"split": "test", "path": "d/test.jsonl"}], "name": "s"})",
      "/there/s.json");
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->resolved, other->resolved);
  EXPECT_EQ(one->datasets[0].request.path, "here/d/test.jsonl");
  EXPECT_EQ(other->datasets[0].request.path, "/there/d/test.jsonl");
}

TEST(LoadExperiment, CanonicalFormWritesDefaultsOut) {
  const std::string sweep =
      R"({"name": "s", "datasets": [{"name": "mini-meetings"}], "methods": [{"method": "lead"}])";
  const auto implicit = decode_experiment(sweep + R"(, "measure": {}, "report": {}})", "s.json");
  const auto written =
      decode_experiment(sweep + R"(, "measure": {"examples": 4, "warmup": 1, "repetitions": 3,
                               "protocol": "as_generated"},
                  "report": {"rows": ["method"], "coverage": false}, "seeds": [0], "threads": 0,
                  "host_reuse": "weights", "store_documents": true,
                  "limits": {"open_seconds": 300, "unit_seconds": 1800, "cell_seconds": 0,
                             "memory_mib": 0}})",
                        "s.json");
  ASSERT_TRUE(implicit.ok() && written.ok());
  EXPECT_EQ(implicit->resolved, written->resolved);
}

TEST(LoadExperiment, EveryPartKeepsItsPointer) {
  const auto experiment = load_experiment("tests/golden/config/good/everything.json");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->datasets[1].pointer, "/datasets/1");
  EXPECT_EQ(experiment->methods[0].params[0].pointer, "/methods/0/max_words");
  EXPECT_EQ(experiment->grid[1].axes[0].pointer, "/grid/local_context");
  EXPECT_EQ(experiment->grid[2].axes[1].pointer, "/zip/0/stride");
  EXPECT_EQ(experiment->exclude[0].values[0].pointer, "/exclude/0/cut");
  EXPECT_EQ(experiment->metrics[1].pointer, "/metrics/1");
  EXPECT_EQ(experiment->metrics[1].name, "rouge");
  EXPECT_EQ(experiment->metrics[1].value, ParamValue("rouge:stem=off"));
}

TEST(LoadExperiment, AMetricMayBeAnObjectOfItsOptions) {
  const auto metrics = [](const std::string& list) {
    return decode_experiment(
        R"({"name": "s", "datasets": [{"name": "d"}], "methods": [{"method": "lead"}], "metrics": )" +
            list + "}",
        "s.json");
  };
  const auto experiment = metrics(
      R"([{"metric": "bertscore", "layer": 5, "idf": true, "model": "a,b"}, {"metric": "rouge"}])");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->metrics[0].name, "bertscore");
  EXPECT_EQ(experiment->metrics[0].value, ParamValue("bertscore:idf=on,layer=5,model=a\\,b"));
  EXPECT_EQ(experiment->metrics[1].value, ParamValue("rouge"));
  EXPECT_EQ(metrics(R"([{"layer": 5}])").error().where, "s.json#/metrics/0");
  EXPECT_EQ(metrics(R"([{"metric": "rouge", "stem": []}])").error().where,
            "s.json#/metrics/0/stem");
  EXPECT_THAT(metrics(R"([{"metric": "rouge", "stem": false}, "rouge:stem=off"])").error().message,
              testing::HasSubstr("listed twice"));
}

TEST(LoadExperiment, PromptFileIsReadBesideTheSweep) {
  const auto experiment = load_experiment("tests/golden/config/good/prompt_files.json");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  const ParamValue text = "Summarize in one sentence.\n\n{document}\n\n{query}\n";
  EXPECT_EQ(experiment->methods[1].params[0].value, text);
  EXPECT_EQ(experiment->methods[1].params[0].file, "tests/golden/config/good/prompts/brief.txt");
  EXPECT_EQ(experiment->grid[0].axes[0].values[1], text);
}

TEST(LoadExperiment, ListsOfWordsMayBeInFiles) {
  const test::TemporaryFolder folder;
  folder.write("words.txt", std::string(5 << 20, 'a'));
  for (const char* name : {"dictionary", "spelling"}) {
    const auto experiment = decode_experiment(
        R"({"name": "s", "datasets": [{"name": "mini-meetings"}], "methods": [
            {"method": "egad", ")" +
            std::string(name) + R"(": {"file": "words.txt"}}]})",
        folder / "s.json");
    ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
    EXPECT_EQ(std::get<std::string>(parameter(*experiment, name)).size(), size_t{5} << 20);
  }
  folder.write("words.txt", "the\n\xFF\n");
  const auto experiment = decode_experiment(
      R"({"name": "s", "datasets": [{"name": "mini-meetings"}], "methods": [
          {"method": "egad", "dictionary": {"file": "words.txt"}}]})",
      folder / "s.json");
  EXPECT_THAT(experiment.error().message,
              testing::HasSubstr("words.txt':2: ill-formed UTF-8 at byte 4 of the file"));
}

TEST(LoadExperiment, ObjectsThatAMethodHandsOnAreTextsWithSortedKeys) {
  const auto experiment = decode_experiment(
      R"({"name": "s", "datasets": [{"name": "mini-meetings"}], "methods": [
          {"method": "zero_shot", "chat_variables": {"b": [1], "a": false}}]})",
      "s.json");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(parameter(*experiment, "chat_variables"), ParamValue(R"({"a":false,"b":[1]})"));
}

TEST(LoadExperiment, ExternalProgramRunsInTheSweepsFolderUnlessToldOtherwise) {
  const auto experiment = load_experiment("tests/golden/config/good/external_program.json");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->methods[0].external->folder, "tests/golden/config/good/");
  EXPECT_EQ(experiment->methods[1].external->folder, "tests/golden/config/good/other");
}

TEST(LoadExperiment, ListsAreBounded) {
  std::string seeds = "0";
  for (int seed = 1; seed <= 4096; ++seed) seeds.append(",").append(std::to_string(seed));
  const auto experiment = decode_experiment(
      R"({"name": "s", "datasets": [{"name": "a"}], "methods": [{"method": "lead"}], "seeds": [)" +
          seeds + "]}",
      "s.json");
  ASSERT_FALSE(experiment.ok());
  EXPECT_EQ(experiment.error().to_string(),
            "s.json#/seeds: the list has 4097 items; at most 4096 are allowed");
}

TEST(DefaultSweep, AsksForSevenMethodsAtThreeLengths) {
  const auto experiment = load_experiment("experiments/lc_sweep.json");
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->methods.size(), 7u);
  EXPECT_EQ(experiment->methods[4].artifacts.at(""), "experiments/artifacts/lora_qmsum_rank4");
  ASSERT_EQ(experiment->grid.size(), 1u);
  EXPECT_EQ(experiment->grid[0].axes[0].values.size(), 3u);
  EXPECT_EQ(experiment->datasets[0].request.name, "mini-meetings");
  EXPECT_EQ(experiment->datasets[0].sample, 24);
}

TEST(DefaultSweep, TakesTheModelAndTheDataFromTheCommandLine) {
  const auto experiment = load_experiment("experiments/lc_sweep.json",
                                          {{{"backbone", "llama-3"}, {"dataset", "qmsum"}}});
  ASSERT_TRUE(experiment.ok()) << experiment.error().to_string();
  EXPECT_EQ(experiment->methods[3].backbone, "llama-3");
  EXPECT_EQ(experiment->tokenizer, "llama-3");
  EXPECT_EQ(experiment->datasets[0].request.name, "qmsum");
}

}  // namespace
}  // namespace qfs::config
