// Texts, a small model and digests that the conformance tests of Punkt and of DYLE's lines share;
// the scripts make_punkt_expected.py and make_dyle_lines_expected.py have the same.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/sha256.h"
#include "metrics/punkt/punkt_model.h"
#include "tests/conformance/metrics/expected_values.h"
#include "tests/support/random_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {

/// The model of punkt_texts.json.
std::shared_ptr<const metrics::PunktModel> small_punkt_model();

/// 20,000 texts of the pieces of punkt_texts.json.
std::vector<std::string> generated_punkt_texts();

/// All strings of a file of JSON or JSON lines, keys left out; of another file its lines, then the
/// whole.
std::vector<std::string> all_strings(const std::string& path);

/// What make_punkt_expected.py calls Digest.
class SentenceDigest {
 public:
  void add(const std::vector<std::string_view>& sentences) {
    ++texts_;
    sentences_ += sentences.size();
    for (size_t i = 0; i < sentences.size(); ++i) {
      if (i > 0) hash_.update("\x1f");
      hash_.update(sentences[i]);
    }
    hash_.update("\x1e");
  }
  nlohmann::json value() { return {texts_, sentences_, hash_.hex().substr(0, 16)}; }

 private:
  Sha256 hash_;
  size_t texts_ = 0;
  size_t sentences_ = 0;
};

}  // namespace qfs::test
