// JiebaFolder: a folder laid out as the Python package jieba, with the small dictionary and tables
// of chinese_texts.json, named in QFS_JIEBA_DIR while the object lives. Tests run in the source
// tree's root, in one thread.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

namespace qfs::test {

class JiebaFolder {
 public:
  JiebaFolder() {
    std::ifstream file("tests/conformance/metrics/chinese_texts.json");
    const nlohmann::json texts = nlohmann::json::parse(file);
    folder_.write("dict.txt", texts.at("dictionary").get<std::string>());
    for (const std::string name : {"prob_start", "prob_trans", "prob_emit"}) {
      folder_.write("finalseg/" + name + ".py", texts.at(name).get<std::string>());
    }
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  EnvironmentVariable variable_{"QFS_JIEBA_DIR", folder_.path()};
};

}  // namespace qfs::test
