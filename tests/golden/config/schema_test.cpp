// The schema that editors use and the decoder agree on every file of the corpus that both can
// judge.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "harness/config/load.h"
#include "harness/core/files.h"
#include "tests/golden/config/corpus.h"

namespace qfs::config {
namespace {

// Bad files that a schema cannot tell from good ones, by reason.
const std::map<std::string, std::set<std::string>> kBeyondSchema = {
    {"members given twice are one member to a schema", {"duplicate_key"}},
    {"patterns leave room for variables", {"sweep_name_long"}},
    {"variables and their types",
     {"variable_in_variable", "variable_unclosed", "variable_unknown", "variable_wrong_type"}},
    {"20.0 is an integer to a schema", {"dataset_sample_real_whole"}},
    {"equality of parts of a list, or with defaults",
     {"dataset_twice", "like_itself", "like_nothing", "like_same_row", "method_same_row",
      "zip_axis_in_grid", "zip_lengths", "zip_rows_repeat"}},
    {"equality of items of two lists", {"report_row_and_column"}},
    {"integers beyond 64 bits as parameters", {"parameter_huge"}},
    {"parameters inside a step", {"postprocess_bad_pattern", "postprocess_unknown_parameter"}},
    {"content of files", {"prompt_empty_file", "prompt_missing_file", "prompt_not_utf8"}},
};

constexpr int kNoModule = 77;

struct SchemaRun {
  int status = -1;
  std::map<std::string, bool> valid;  // by path
};

SchemaRun judge(const std::vector<std::string>& paths) {
  const char* python = std::getenv("QFS_PYTHON");
  std::string command = python != nullptr ? python : "python3";
  command += " tests/golden/config/validate_schema.py experiments/schema/sweep.schema.json";
  for (const std::string& path : paths) command += " " + path;
  SchemaRun run;
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return run;
  char line[4096];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    const std::string text(line);
    const size_t space = text.find(' ');
    run.valid[text.substr(space + 1, text.size() - space - 2)] = text.substr(0, space) == "valid";
  }
  const int status = pclose(output);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

TEST(SweepSchema, AgreesWithTheDecoderOnTheCorpus) {
  std::vector<std::string> paths;
  for (const char* folder : {"experiments", "experiments/paper"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.is_regular_file() &&
          read_file(file.path())->find("sweep.schema.json") != std::string::npos) {
        paths.push_back(file.path());
      }
    }
  }
  ASSERT_GE(paths.size(), 4U);
  for (const char* folder : {"good", "bad"}) {
    for (const std::string& stem : test::corpus_files(folder)) paths.push_back(stem + ".json");
  }
  const SchemaRun run = judge(paths);
  if (run.status == kNoModule || run.status == 127) {
    GTEST_SKIP() << "needs Python with the module jsonschema (QFS_PYTHON names another Python)";
  }
  ASSERT_EQ(run.status, 0);
  ASSERT_EQ(run.valid.size(), paths.size());

  std::set<std::string> beyond;
  for (const auto& [reason, names] : kBeyondSchema) beyond.insert(names.begin(), names.end());
  for (const std::string& path : paths) {
    const bool decodes = load_experiment(path).ok();
    const std::string name = std::filesystem::path(path).stem().string();
    if (beyond.erase(name) > 0) {
      EXPECT_TRUE(run.valid.at(path))
          << name << " is listed as beyond the schema, which refuses it";
      EXPECT_FALSE(decodes) << path;
    } else {
      EXPECT_EQ(run.valid.at(path), decodes) << path << " (schema, then decoder)";
    }
  }
  EXPECT_TRUE(beyond.empty()) << "no such file in the corpus: " << *beyond.begin();
}

}  // namespace
}  // namespace qfs::config
