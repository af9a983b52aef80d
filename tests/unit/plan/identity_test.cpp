// What enters the ids of cells and of how they are computed, and what does not.
#include "harness/plan/identity.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/core/json_dom.h"
#include "tests/support/plan_fakes.h"
#include "tests/support/temporary_folder.h"

namespace qfs::plan {
namespace {

struct Sweep {
  test::Planning planning;

  Cell only_cell(const std::string& text, const std::string& path = "s.json") {
    Result<Plan> plan = planning(text, path);
    if (!plan.ok()) {
      ADD_FAILURE() << plan.error().to_string();
      return {};
    }
    EXPECT_EQ(plan->cells.size(), 1u);
    return plan->cells.at(0);
  }
};

const std::string kModel =
    R"({"method": "zero_shot", "backbone": "small", "temperature": 0.7, "local_context": 256})";

CellId id_of(const std::string& text) { return Sweep().only_cell(text).id; }

// The ids are `printf 'qfs-bench/1/cell\n%s' "$IDENTITY" | sha256sum`.
TEST(GoldenCellId, OfAnExtractiveMethod) {
  const Cell cell = Sweep().only_cell(
      test::sweep_text(R"({"method": "lead", "local_context": 128})", R"("seeds": [3])"));
  EXPECT_EQ(cell.identity.text,
            std::string(R"({"dataset":")") + std::string(64, 'a') +
                R"(","layers":[],"method":"lead","params":{"local_context":128,"max_words":100},)"
                R"("seed":3,"selection":{},"tokenizer":"words@1","version":1})");
  EXPECT_EQ(cell.id.hex(), "84171465ee4eac8c21b46e898baaeeea06800f4c2c689447b5793a4f2d93b124");
}

TEST(GoldenCellId, OfAModelOnASample) {
  const Cell cell =
      Sweep().only_cell(test::sweep_text(kModel, "", R"({"name": "tiny", "sample": 5})"));
  EXPECT_EQ(cell.identity.text,
            std::string(R"({"backbone":")") + std::string(64, '5') + R"(","dataset":")" +
                std::string(64, 'a') +
                R"(","layers":["generation@1","truncation@1"],"method":"zero_shot","params":{)"
                R"("cut":"tail","greedy":true,"local_context":256,"max_new_tokens":128,)"
                R"("prompt":"{document}\n{query}","temperature":"0.7"},"seed":0,)"
                R"("selection":{"sample":5},"tokenizer":")" +
                std::string(64, '7') + R"(","version":2})");
  EXPECT_EQ(cell.id.hex(), "0a305dd6812ef18ecc59883c69e0edfeb2495115dd72544216468fdb0b91d824");
}

TEST(CellIdentity, KnowsTheControlThatReadsOtherDocuments) {
  const std::string lead = R"({"method": "lead", "documents": "other"})";
  const Cell other = Sweep().only_cell(test::sweep_text(lead));
  EXPECT_NE(other.identity.text.find(R"("documents":"other@1")"), std::string::npos);
  EXPECT_EQ(other.others.size(), 12u);
  const Cell own = Sweep().only_cell(test::sweep_text(R"({"method": "lead", "documents": "own"})"));
  EXPECT_EQ(own.id, Sweep().only_cell(test::sweep_text(R"({"method": "lead"})")).id);
}

TEST(CellIdentity, KnowsWhoseMemoryIsRead) {
  Sweep sweep;
  const std::string lead = test::sweep_text(R"({"method": "lead", "documents": "other_memory"})");
  const Result<Plan> refused = sweep.planning(lead);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "s.json#/methods/0/documents");
  EXPECT_NE(refused.error().message.find("no part of a document as memory"), std::string::npos);
  sweep.planning.methods.spec("lead").needed.memory = true;
  const Cell cell = sweep.only_cell(lead);
  EXPECT_NE(cell.identity.text.find(R"("documents":"other_memory@1")"), std::string::npos);
  EXPECT_EQ(cell.others.size(), 12u);
}

TEST(CellIdentity, KnowsWhoseQueryMakesWeights) {
  Sweep sweep;
  const std::string lead =
      test::sweep_text(R"({"method": "lead", "documents": "other_instruction"})");
  const Result<Plan> refused = sweep.planning(lead);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "s.json#/methods/0/documents");
  EXPECT_NE(refused.error().message.find("makes no weights of an instruction"), std::string::npos);
  sweep.planning.methods.spec("lead").needed.instruction = true;
  const Cell cell = sweep.only_cell(lead);
  EXPECT_NE(cell.identity.text.find(R"("documents":"other_instruction@1")"), std::string::npos);
}

TEST(CellIdentity, LayersNameTheArchitectureOfTheBackbone) {
  for (const auto& [backbone, layer] :
       {std::pair("small", R"("backbone-llama@1")"), std::pair("large", R"("backbone-bart@1")")}) {
    Sweep sweep;
    sweep.planning.methods.spec("zero_shot").of_backbone = true;
    const Cell cell = sweep.only_cell(test::sweep_text(
        std::string(R"({"method": "zero_shot", "backbone": ")") + backbone + "\"}"));
    EXPECT_NE(cell.identity.text.find(std::string(R"("layers":[)") + layer), std::string::npos)
        << cell.identity.text;
  }
}

TEST(CellIdentity, ChangesWithWhatIsAsked) {
  const auto sweep = [](const std::string& extra, const std::string& rest = "",
                        const std::string& data = R"({"name": "tiny"})") {
    return test::sweep_text(R"({"method": "zero_shot", "backbone": "small")" + extra + "}", rest,
                            data);
  };
  std::set<CellId> ids = {
      id_of(sweep("")),
      id_of(sweep(R"(, "local_context": 256)")),
      id_of(sweep(R"(, "temperature": 0.1)")),
      id_of(sweep(R"(, "prompt": "{document}")")),
      id_of(sweep(R"(, "tokenizer": "large")")),
      id_of(sweep("", R"("seeds": [1])")),
      id_of(sweep("", "", R"({"name": "other"})")),
      id_of(sweep("", "", R"({"name": "tiny", "sample": 3})")),
      id_of(test::sweep_text(
          R"({"method": "zero_shot", "backbone": "large", "tokenizer": "small"})")),
  };
  Sweep limited;
  limited.planning.limit = 3;
  ids.insert(limited.only_cell(sweep("")).id);
  Sweep newer;
  newer.planning.methods.spec("zero_shot").revision = 3;
  ids.insert(newer.only_cell(sweep("")).id);
  Sweep other_layers;
  other_layers.planning.methods.spec("zero_shot").shared_layers = {"generation@2"};
  ids.insert(other_layers.only_cell(sweep("")).id);
  EXPECT_EQ(ids.size(), 12u);
}

TEST(CellIdentity, StaysWithPathsLabelsDefaultsAndHowItIsComputed) {
  const CellId id = id_of(test::sweep_text(kModel));
  Sweep elsewhere;
  elsewhere.planning.methods.root = "/elsewhere";
  EXPECT_EQ(elsewhere.only_cell(test::sweep_text(kModel), "/other/folder/sweep.json").id, id);
  EXPECT_EQ(id_of(test::sweep_text(
                R"({"local_context": 256, "label": "x", "tokenizer": "small", "batch_size": 8,
                    "max_new_tokens": 128, "backbone": "small", "temperature": 0.70,
                    "method": "zero_shot"})",
                R"("threads": 7, "host_reuse": "none", "measure": {}, "metrics": ["rouge"])")),
            id);
}

TEST(CellIdentity, GivenByTheGridOrByTheEntryIsTheSame) {
  EXPECT_EQ(id_of(test::sweep_text(R"({"method": "lead"})",
                                   R"("grid": {"local_context": [64], "max_words": [9]})")),
            id_of(test::sweep_text(R"({"method": "lead", "max_words": 9, "local_context": 64})")));
}

class ExternalIdentity : public testing::Test {
 protected:
  Result<Plan> plan(const std::string& command = R"(["python3", "my.py"])",
                    const std::string& fingerprint = R"(["*.py", "my.*"])") {
    test::Planning planning;
    planning.allow_external = true;
    return planning(test::sweep_text(R"({"method": "external", "command": )" + command +
                                     R"(, "fingerprint": )" + fingerprint + "}"),
                    folder_ / "s.json");
  }

  test::TemporaryFolder folder_;
};

TEST_F(ExternalIdentity, NamesVersionAndFilesButNotTheCommand) {
  folder_.write("my.py", "print(1)\n");
  folder_.write("note.txt", "not in the fingerprint");
  const Result<Plan> first = plan();
  ASSERT_TRUE(first.ok()) << first.error().to_string();
  const Cell& cell = first->cells[0];
  EXPECT_EQ(cell.host, HostKind::external);
  EXPECT_EQ(cell.label, "mine");
  // printf 'print(1)\n' | sha256sum
  EXPECT_EQ(cell.identity.text,
            std::string(R"({"dataset":")") + std::string(64, 'a') +
                R"(","external":{"files":[{"name":"my.py","sha256":")"
                "cc42155088fca5730758db72b2a5bca33112a941dfaa2d43098ec422ce4ea213"
                R"("}]},"layers":[],"method":"mine","params":{"beams":1},"seed":0,"selection":{},)"
                R"("version":3})");
  EXPECT_EQ(plan(R"(["/usr/bin/python3", "-B", "my.py"])")->cells[0].id, cell.id);
  folder_.write("my.py", "print(2)\n");
  EXPECT_NE(plan()->cells[0].id, cell.id);
}

TEST_F(ExternalIdentity, PatternWithoutAFileIsNotFound) {
  folder_.write("my.py", "print(1)\n");
  const Result<Plan> refused = plan(R"(["python3"])", R"(["*.py", "*.safetensors"])");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
  EXPECT_EQ(refused.error().where, (folder_ / "s.json") + "#/methods/0/fingerprint");
  EXPECT_NE(refused.error().message.find("'*.safetensors' matches no file"), std::string::npos);
}

TEST_F(ExternalIdentity, ProgramThatCannotBeStartedIsUnavailable) {
  folder_.write("my.py", "print(1)\n");
  const Result<Plan> refused = plan(R"(["missing"])");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(refused.error().where, (folder_ / "s.json") + "#/methods/0/command");
}

NumericsIdentity numerics(const Cell& cell, const RuntimeOptions& runtime = {},
                          const std::string& probe = R"({"isa":"avx2"})") {
  return *numerics_identity(cell, Json{probe}, runtime);
}

TEST(NumericsIdentity, HoldsProbeBatchAndRuntimeOfATensorHost) {
  Sweep sweep;
  const Cell cell = sweep.only_cell(
      test::sweep_text(R"({"method": "zero_shot", "backbone": "small", "batch_size": 4})"));
  const NumericsIdentity made = numerics(cell, {.threads = 2});
  EXPECT_EQ(made.identity.text,
            R"({"host":"tensor","params":{"batch_size":4},"probe":{"isa":"avx2"},"runtime":)"
            R"({"device":"cpu","dtype":"float32","ignore_eos":false,"threads":2}})");
  // printf 'qfs-bench/1/numerics\n%s' "$IDENTITY" | sha256sum
  EXPECT_EQ(made.id.hex(), "00905dbc7da1b18466f826dd66feef29bdca5ffe81fe42105175b9f00c9b29aa");

  std::set<NumericsId> ids = {made.id,
                              numerics(cell, {.threads = 1}).id,
                              numerics(cell, {.device = "cuda", .threads = 2}).id,
                              numerics(cell, {.dtype = "bfloat16", .threads = 2}).id,
                              numerics(cell, {.threads = 2, .ignore_eos = true}).id,
                              numerics(cell, {.threads = 2}, R"({"isa":"avx512"})").id};
  EXPECT_EQ(ids.size(), 6u);
}

TEST(NumericsIdentity, OfALightHostIgnoresDeviceDtypeAndThreads) {
  Sweep sweep;
  const Cell cell = sweep.only_cell(test::sweep_text(R"({"method": "lead"})"));
  const NumericsIdentity made = numerics(cell);
  EXPECT_EQ(
      made.identity.text,
      R"({"host":"light","params":{},"probe":{"isa":"avx2"},"runtime":{"ignore_eos":false}})");
  EXPECT_EQ(numerics(cell, {.device = "cuda", .dtype = "float16", .threads = 9}).id, made.id);
}

// Further models by role: named by the sweep, digests in the id.
TEST(CellId, HoldsTheModelsThatAMethodReadsByRole) {
  Sweep sweep;
  sweep.planning.methods.spec("zero_shot").needed.backbones = {"extractor"};
  const auto with = [](const std::string& models) {
    return test::sweep_text(R"({"method": "zero_shot", "backbone": "small")" + models + "}");
  };
  const Cell large = sweep.only_cell(with(R"(, "backbones": {"extractor": "large"})"));
  EXPECT_EQ(large.backbones.at("extractor").name, "large");
  EXPECT_NE(large.identity.text.find(R"("backbones":{"extractor":")"), std::string::npos);
  const Cell small = sweep.only_cell(with(R"(, "backbones": {"extractor": "small"})"));
  EXPECT_NE(small.id, large.id);
  EXPECT_NE(small.weights_key, large.weights_key);

  const auto refusal = [&](const std::string& models) {
    const auto plan = sweep.planning(with(models));
    return plan.ok() ? std::string("planned") : plan.error().to_string();
  };
  EXPECT_NE(refusal("").find("needs a model as 'extractor'"), std::string::npos);
  EXPECT_NE(refusal(R"(, "backbones": {"extracter": "large"})")
                .find("s.json#/methods/0/backbones/extracter: method 'zero_shot' reads no model as "
                      "'extracter' (did you mean 'extractor'?)"),
            std::string::npos);
  EXPECT_NE(refusal(R"(, "backbones": {"extractor": "smal"})").find("did you mean 'small'?"),
            std::string::npos);
}

}  // namespace
}  // namespace qfs::plan
