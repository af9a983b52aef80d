// The order in which retrieve_generate takes passages by DPR's two encoders, of different weights,
// equals the one that make_dpr_expected.py computes; each encoder in the other's role gives
// another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "methods/retrieve_generate/session.h"
#include "methods/retrieve_generate/spec.h"
#include "tests/support/tiny_encoder.h"
#include "tests/support/trained_session.h"

namespace qfs::retrieve_generate {
namespace {

using nlohmann::json;

const MethodSpec& dpr_spec() {
  static const RetrieveGenerateSpec spec;
  return spec;
}

class DprConformance : public qfs::test::TrainedSessionTest {
 protected:
  DprConformance() : TrainedSessionTest(dpr_spec(), session_factory()) {
    std::ifstream file("tests/conformance/retrieve_generate/dpr_expected.json");
    expected_ = json::parse(file);
    use_llama({}, "D: {document}\nA:");
    request_.params.set("retriever", std::string("dpr"));
    request_.params.set("unit", std::string("turn"));
    request_.params.set("max_new_tokens", int64_t{1});
  }

  /// The passages by rank: those that are read grow by one with every three words of the budget.
  std::vector<int64_t> order() {
    NumberedExample one = example(7, expected_.at("query"));
    one.example.document.clear();
    for (const json& passage : expected_.at("passages")) {
      one.example.document.push_back({passage, ""});
    }
    std::vector<int64_t> found;
    for (size_t count = 1; count <= one.example.document.size(); ++count) {
      request_.params.set("budget", static_cast<int64_t>(3 * count));
      const std::vector<Prediction> made = predictions({one});
      if (made.empty() || !made.front().truncation) return {};
      const std::vector<ByteSpan>& kept = made.front().truncation->kept;
      EXPECT_EQ(kept.size(), count);
      for (const ByteSpan& span : kept) {
        if (std::ranges::count(found, span.segment) == 0) found.push_back(span.segment);
      }
      EXPECT_EQ(found.size(), count);
    }
    return found;
  }

  json expected_;
};

class DprFolders : public DprConformance, public testing::WithParamInterface<bool> {};

TEST_P(DprFolders, the_query_and_the_passages_are_read_by_encoders_of_their_own) {
  const qfs::test::TemporaryFolder first;
  const qfs::test::TemporaryFolder second;
  qfs::test::TinyEncoder question{.scale = 0.25};
  qfs::test::TinyEncoder context{.scale = 0.5};
  if (GetParam()) {
    question.dpr = "question_encoder";
    context.dpr = "ctx_encoder";
  }
  const std::map<double, Resource> encoders = {{0.25, question.write(first)},
                                               {0.5, context.write(second)}};
  std::set<std::vector<int64_t>> orders;
  for (const json& roles : expected_.at("cases")) {
    SCOPED_TRACE(roles.dump());
    request_.backbones = {{kQuestionEncoder, encoders.at(roles.at(kQuestionEncoder))},
                          {kContextEncoder, encoders.at(roles.at(kContextEncoder))}};
    const std::vector<int64_t> wanted = roles.at("order");
    EXPECT_EQ(order(), wanted);
    orders.insert(wanted);
  }
  EXPECT_EQ(orders.size(), 4U) << "which model has which role would not be seen";
}

INSTANTIATE_TEST_SUITE_P(Forms, DprFolders, testing::Bool(),
                         [](const auto& form) { return form.param ? "of_dpr" : "of_bert"; });

TEST_F(DprConformance, vectors_that_a_folder_projects_are_refused) {
  const qfs::test::TemporaryFolder folder;
  const Resource encoder = qfs::test::TinyEncoder{.dpr = "ctx_encoder"}.write(folder);
  json config = json::parse(*read_file(folder / "config.json"));
  config["projection_dim"] = 8;
  folder.write("config.json", config.dump());
  request_.backbones = {{kQuestionEncoder, encoder}, {kContextEncoder, encoder}};
  ResourceCache cache;
  const auto session = session_factory().open(request_, cache);
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().to_string(), testing::HasSubstr("projection_dim"));
}

}  // namespace
}  // namespace qfs::retrieve_generate
