// The committed claims: they decode, every table resolves, and every number of the published files
// is one of them.
#include "harness/claims/collection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/claims/decode.h"
#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "tests/support/shared_data.h"

namespace qfs::claims {
namespace {

using nlohmann::json;

// The ids of the design's list of methods.
const std::set<std::string> kMethods = {
    "lead",          "random",           "textrank",  "bm25",        "oracle",
    "oracle_dyle",   "locator",          "zero_shot", "chunk_merge", "refine",
    "endpoint",      "imported",         "external",  "finetune",    "lora",
    "prompt_tuning", "parallel_adapter", "ideal",     "dyle",        "egad",
    "selfcp",        "autocompressor",   "icae",      "llmlingua",   "retrieve_generate",
    "unlimiformer",  "few_shot"};

const Collection& committed() {
  static const Result<Collection> collection = Collection::load(".");
  if (!collection) throw std::runtime_error(collection.error().to_string());
  return *collection;
}

TEST(CommittedClaims, DecodeAndResolve) {
  const std::filesystem::directory_iterator folder("experiments/claims");
  const auto files = std::ranges::count_if(
      folder, [](const auto& entry) { return entry.path().extension() == ".json"; });
  EXPECT_EQ(committed().papers().size(), static_cast<size_t>(files) - 1) << "all but labels.json";
  for (const PublishedTable& table : committed().tables()) {
    EXPECT_TRUE(committed().table(table.id).ok()) << table.id;
  }
}

TEST(CommittedClaims, StandInAPublishedTable) {
  std::set<std::string> shown;
  for (const PublishedTable& table : committed().tables()) {
    for (const TablePart& part : table.parts) shown.insert(part.table);
  }
  for (const Claim* claim : committed().claims()) {
    EXPECT_TRUE(shown.contains(claim->table)) << claim->id();
  }
}

TEST(CommittedClaims, HaveIdsOfTheirOwn) {
  std::set<std::string> ids;
  for (const Claim* claim : committed().claims()) {
    EXPECT_TRUE(ids.insert(claim->id()).second) << claim->id();
  }
}

TEST(CommittedClaims, ShowEveryErratum) {
  for (const Paper& paper : committed().papers()) {
    std::set<std::string> shown;
    for (const ClaimTable& table : paper.tables) {
      for (const Claim& claim : table.claims)
        shown.insert(claim.errata.begin(), claim.errata.end());
    }
    for (const auto& [id, text] : paper.errata) {
      EXPECT_TRUE(shown.contains(id)) << paper.id << ": " << id;
    }
  }
}

TEST(CommittedLabels, MapToMethodsOfTheDesign) {
  const Result<std::string> text = read_file("experiments/claims/labels.json");
  ASSERT_TRUE(text.ok());
  const Result<Labels> labels = decode_labels(*text, "labels.json");
  ASSERT_TRUE(labels.ok());
  for (const auto& [paper, list] : *labels) {
    for (const auto& [label, query] : list) {
      EXPECT_TRUE(kMethods.contains(query.method)) << paper << ": " << label;
    }
  }
}

TEST(CommittedTables, SuggestTheNearestName) {
  const auto unknown = committed().table("ideal.tabel3");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("ideal.table3"), std::string::npos);
  ASSERT_TRUE(committed().table("ideal.table2").ok());  // lost; made of what others repeat
  EXPECT_EQ(committed().table("ideal.table2")->parts.size(), 2U);
}

/// Compares the published files with the committed claims.
class Published : public testing::Test {
 protected:
  static std::filesystem::path folder() {
    return test::shared_data("").parent_path().parent_path() / "published";
  }

  const Claim* find(const std::string& table, const std::string& label, const std::string& column,
                    size_t occurrence) {
    for (const Claim* claim : committed().claims()) {
      if (claim->table != table || claim->column != column || claim->label != label) continue;
      if (occurrence-- == 0) return claim;
    }
    return nullptr;
  }

  void expect_number(const json& value, const Claim* claim, const std::string& place) {
    ++numbers_;
    if (claim == nullptr) {
      ADD_FAILURE() << "no claim of " << place;
      return;
    }
    if (value.is_string() || value.is_boolean()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      EXPECT_EQ(claim->printed.text, text) << place;
    } else {
      EXPECT_NEAR(claim->printed.value, value.get<double>(), 1e-12 * std::abs(value.get<double>()))
          << place;
    }
  }

  /// Every number of a list of tables; rows with the same label are told apart by their order.
  void expect_tables(const json& tables) {
    for (const json& table : tables) {
      const std::string id = table.at("id");
      std::map<std::pair<std::string, std::string>, size_t> seen;
      for (const json& row : table.at("rows")) {
        const std::string label = label_of(id, row);
        for (const auto& [column, value] : row.at("values").items()) {
          if (value.is_null()) continue;
          expect_number(value, find(id, label, column, seen[{label, column}]++),
                        id + " / " + label + " / " + column);
        }
      }
    }
  }

  static std::string label_of(const std::string& table, const json& row) {
    if (table == "ideal.table5.from-text") {
      static const std::map<std::string, std::string> kSets = {{"covidet", "CovidET"},
                                                               {"qmsum-golden", "QMSum(Golden)"},
                                                               {"qmsum", "QMSum"},
                                                               {"squality", "SQuALITY"}};
      return kSets.at(row.at("dataset"));
    }
    if (row.contains("what")) return row.at("what");
    if (row.contains("label")) return row.at("label");
    return row.at("method");
  }

  /// Numbers of `facts`, whose labels are their paths.
  void expect_facts(const json& value, const std::string& path, const std::string& table) {
    if (value.is_object() || value.is_array()) {
      for (const auto& [key, member] : value.items()) {
        expect_facts(member, path.empty() ? key : path + "." + key, table);
      }
      return;
    }
    const bool number =
        value.is_number() || (value.is_string() && parse_printed(value.get<std::string>()).ok() &&
                              parse_printed(value.get<std::string>())->number);
    if (!number) return;
    const Claim* claim = nullptr;
    for (const Claim* own : committed().claims()) {
      if (own->table.starts_with(table) && own->label == path) claim = own;
    }
    expect_number(value, claim, table + " / " + path);
  }

  size_t numbers_ = 0;
};

TEST_F(Published, EveryNumberIsAClaim) {
  QFS_SKIP_WITHOUT_DATA(folder());
  for (const char* paper : {"ideal", "dyle", "egad", "selfcp"}) {
    const std::string path = (folder() / (std::string(paper) + ".json")).string();
    const Result<std::string> text = read_file(path);
    ASSERT_TRUE(text.ok()) << text.error().to_string();
    const Result<json> published = parse_json(*text, path);
    ASSERT_TRUE(published.ok()) << published.error().to_string();
    const json none = json::array();
    expect_tables(published->at("tables"));
    expect_tables(published->value("derived", none));
    for (const json& group : published->value("groups", none)) expect_tables(group.at("tables"));
    expect_facts(published->value("facts", json::object()), "", std::string(paper) + ".facts");
    for (const json& fact : published->value("text_numbers", none)) {
      const std::string what = fact.at("what");
      expect_facts(fact.at("value"), what, std::string(paper) + ".text");
    }
    for (const json& table : published->at("tables")) {
      for (const json& row : table.at("rows")) {
        if (!row.contains("derived")) continue;
        for (const auto& [name, gains] : row.at("derived").items()) {
          if (!gains.is_object()) continue;
          for (const auto& [column, value] : gains.items()) {
            expect_number(value, find("dyle.table2.gains", name, column, 0), name + " " + column);
          }
        }
      }
    }
  }
  EXPECT_GE(numbers_, 1000U);
}

}  // namespace
}  // namespace qfs::claims
