// sentences=dyle: the lines of DYLE's release (NLTK 3.6.2). Expected values:
// make_dyle_lines_expected.py.
#include <memory>

#include "metrics/punkt/punkt_files.h"
#include "metrics/rouge155/dyle_lines.h"
#include "tests/conformance/metrics/punkt_texts.h"

namespace qfs::test {
namespace {

using metrics::PunktRules;
using metrics::PunktSplitter;
using metrics::rouge155::dyle_lines;

nlohmann::json digest_of(std::span<const std::string> texts, const PunktSplitter& punkt) {
  SentenceDigest digest;
  for (const std::string& text : texts) {
    const std::string lines = dyle_lines(text, punkt);
    std::vector<std::string_view> sentences;
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      sentences.push_back(std::string_view(lines).substr(begin, end - begin));
      begin = end + 1;
    }
    digest.add(sentences);
  }
  return digest.value();
}

TEST(DyleLinesConformance, OfGeneratedTextsWithASmallModel) {
  const nlohmann::json expected = expected_values("dyle_lines_expected.json");
  const PunktSplitter punkt(small_punkt_model(), PunktRules::nltk_3_6);
  for (const nlohmann::json& pair : expected.at("first")) {
    EXPECT_EQ(dyle_lines(pair[0].get<std::string>(), punkt), pair[1].get<std::string>());
  }
  const std::vector<std::string> texts = generated_punkt_texts();
  const auto block = expected.at("block").get<size_t>();
  const nlohmann::json& blocks = expected.at("small");
  ASSERT_GE(texts.size(), blocks.size() * block);
  for (size_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(digest_of(std::span(texts).subspan(b * block, block), punkt), blocks[b])
        << "texts from " << b * block;
  }
}

TEST(DyleLinesConformance, OfRealMeetingsWithTheEnglishModel) {
  const auto model = metrics::load_punkt("");
  if (!model.ok()) GTEST_SKIP() << model.error().to_string();
  const PunktSplitter punkt(*model, PunktRules::nltk_3_6);
  const nlohmann::json expected = expected_values("dyle_lines_expected.json");
  const nlohmann::json& files = expected.at("english");
  QFS_SKIP_WITHOUT_DATA(shared_data(files.begin().key()));
  for (const auto& [path, digest] : files.items()) {
    EXPECT_EQ(digest_of(all_strings(shared_data(path).string()), punkt), digest) << path;
  }
}

}  // namespace
}  // namespace qfs::test
