// Arbitrary bytes as stories of SQuALITY and as posts of CovidET, in both views: no crash, errors
// with a place, and as many rows as questions have references.
#include <cstdlib>

#include "datasets/readers/covidet.h"
#include "datasets/readers/squality.h"
#include "tests/support/fuzz.h"

namespace {

using Examples = qfs::Result<std::vector<qfs::Example>>;

void compare(const Examples& whole, const Examples& rows, std::string_view file) {
  if (whole.ok() != rows.ok()) std::abort();
  if (!whole) {
    if (!whole.error().where.starts_with(file)) std::abort();
    return;
  }
  size_t references = 0;
  for (const qfs::Example& example : *whole) references += example.references.size();
  if (references != rows->size()) std::abort();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {R"({"0": {"Reddit Post": "p", "Annotations": {"Annotation 0 | x": [)"
          R"({"Emotion": "fear", "Abstractive": "s"}, {"Emotion": "NA"}], "Annotation 1 | y": [)"
          R"({"Emotion": "fear", "Abstractive": "t"}]}}})",
          R"({"metadata": {"passage_id": "61"}, "document": "One.\n\nTwo.", "questions": [)"
          R"({"question_text": "Plot?", "question_number": 1, "responses": [)"
          R"({"response_text": "r1"}, {"response_text": "r2"}]}]})"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::datasets;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr auto kWhole = ReferenceView::whole;
  constexpr auto kRows = ReferenceView::per_reference;
  compare(parse_posts(text, "s", kWhole, "f"), parse_posts(text, "s", kRows, "f"), "f");
  compare(parse_stories(text, kWhole, "g"), parse_stories(text, kRows, "g"), "g:");
  return 0;
}
