// Arbitrary bytes as Punkt's data, in both forms, and as a text: no crash, errors with a place, and
// sentences that are disjoint views into the text in order; DYLE's lines of the same text.
#include <cstdlib>
#include <memory>

#include "metrics/punkt/punkt_splitter.h"
#include "metrics/rouge155/dyle_lines.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      "Dr. Smith met J. Walter at 5 p.m. The end.\" (Yes.) . . . \xE2\x80\x9CNo?!\xE2\x80\x9D "
      "--\n3.",
      "dr\nmr\r\nu.s\n. . \n", "the\t126\nsmith\t12\n", "j\twalter\n##number##\tstreet\n",
      "\nABBREV_TYPES = frozenset((\n    'dr','\\xe9d',\n))\nSENT_STARTERS = frozenset(())\n"
      "COLLOCATIONS = frozenset((\n    ('j','walter'),\n))\nORTHO_CONTEXT = {\n    "
      "'the':126,\n}\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::metrics;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  PunktTables tables;
  tables.abbreviations = {"dr", "u.s", ". . "};
  tables.collocations = {{"j", "walter"}};
  tables.sentence_starters = {"the"};
  tables.orthography = {{"the", 126}, {"smith", 12}};
  const auto tab = read_punkt_tab({text, text, text, text}, "d");
  if (tab) {
    tables = *tab;
  } else if (!tab.error().where.starts_with("d/")) {
    std::abort();
  }
  const auto module = read_punkt_module(text, "m");
  if (module) {
    tables = *module;
  } else if (!module.error().where.starts_with("m")) {
    std::abort();
  }
  const auto model = std::make_shared<PunktModel>(tables);
  for (PunktRules rules : {PunktRules::nltk_3_6, PunktRules::nltk_3_9, PunktRules::nltk_3_10}) {
    const char* end = text.data();
    for (std::string_view sentence : PunktSplitter(model, rules).split(text)) {
      if (sentence.empty() || sentence.data() < end) std::abort();
      end = sentence.data() + sentence.size();
    }
    if (end > text.data() + text.size()) std::abort();
  }
  const PunktSplitter dyle(model, PunktRules::nltk_3_6);
  const std::string lines = rouge155::dyle_lines(text, dyle);
  if (lines.starts_with('\n') || lines.ends_with('\n')) std::abort();
  return 0;
}
