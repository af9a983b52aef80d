// A source layout, document and query of a stranger: positions stay inside the ids, and text never
// becomes a special token.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "methods/models/prompting/source_layout.h"
#include "tests/support/fuzz.h"
#include "tests/support/marked_tokenizer.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {std::string("{query}{sep}{document}\0why?\0one </s> two", 41),
          std::string(" {query} {sep} {document} {sep} {query}\0q\0{document}", 51),
          std::string("{document\0\0{sep}", 16), std::string("{query} {documents}\0q\0one", 25),
          "{query}{query}{query}{document}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::prompting;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t first = std::min(all.find('\0'), all.size());
  const std::string_view rest = all.substr(std::min(first + 1, all.size()));
  const size_t second = std::min(rest.find('\0'), rest.size());
  const std::string_view layout = all.substr(0, first);
  if (!check_source_layout(layout).ok()) return 0;
  const std::string document(rest.substr(std::min(second + 1, rest.size())));
  const auto source = encode_layout(
      qfs::test::MarkedTokenizer(), layout, "</s>",
      size % 2 == 0 ? GlobalTokens::first_and_query : GlobalTokens::first_and_separators,
      {document, document}, rest.substr(0, second));
  require(source.ok());
  size_t separators = separates_documents(layout) ? 2 : 0;  // one behind each
  for (size_t at = layout.find("{sep}"); at != layout.npos; at = layout.find("{sep}", at + 1)) {
    ++separators;
  }
  require(static_cast<size_t>(std::ranges::count(
              source->ids, qfs::test::MarkedTokenizer::kSeparator)) == separators);
  int64_t last = -1;
  for (const int64_t position : source->global_positions) {
    require(position > last);
    last = position;
  }
  require(source->ids.empty() || last < static_cast<int64_t>(source->ids.size()));
  return 0;
}
