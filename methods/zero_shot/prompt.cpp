#include "methods/zero_shot/prompt.h"

#include <array>
#include <optional>
#include <vector>

#include "harness/core/suggest.h"

namespace qfs::zero_shot {

namespace {

constexpr std::string_view kDefaultPrompt =
    "Read the document and answer the request with a short summary in plain sentences. Use only "
    "what "
    "the document says.\n\nDocument:\n{document}\n\nRequest: {query}\n\nSummary:";
constexpr std::string_view kNoQuery = "Summarize the document.";

struct Placeholder {
  size_t begin = 0;
  size_t end = 0;  ///< past the closing brace
  std::string_view name;
};

/// The next "{name}" of lower-case letters, digits and underscores from `from`; other braces are
/// text.
std::optional<Placeholder> next_placeholder(std::string_view text, size_t from) {
  constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (size_t begin = text.find('{', from); begin != std::string_view::npos;
       begin = text.find('{', begin + 1)) {
    const size_t close = text.find_first_not_of(kNameCharacters, begin + 1);
    if (close != std::string_view::npos && close > begin + 1 && text[close] == '}') {
      return Placeholder{begin, close + 1, text.substr(begin + 1, close - begin - 1)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view default_prompt() { return kDefaultPrompt; }

Status check_prompt(std::string_view text) {
  int documents = 0;
  int queries = 0;
  for (auto at = next_placeholder(text, 0); at; at = next_placeholder(text, at->end)) {
    if (at->name == "document") {
      ++documents;
    } else if (at->name == "query") {
      ++queries;
    } else {
      static const std::vector<std::string> kNames = {"document", "query"};
      return invalid_argument("the prompt has the unknown placeholder {" + std::string(at->name) +
                              "}" + suggestion(at->name, kNames));
    }
  }
  if (documents == 1 && queries <= 1) return {};
  return invalid_argument("the prompt holds {document} " + std::to_string(documents) +
                          " times and {query} " + std::to_string(queries) +
                          " times; expected {document} once and {query} at most once");
}

std::string fill_prompt(std::string_view text, std::string_view document, std::string_view query) {
  std::string prompt;
  size_t done = 0;
  for (auto at = next_placeholder(text, 0); at; at = next_placeholder(text, at->end)) {
    prompt.append(text.substr(done, at->begin - done));
    if (at->name == "document") prompt.append(document);
    if (at->name == "query") prompt.append(query.empty() ? kNoQuery : query);
    done = at->end;
  }
  return prompt.append(text.substr(done));
}

}  // namespace qfs::zero_shot
