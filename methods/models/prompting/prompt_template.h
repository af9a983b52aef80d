// Prompt templates: text with placeholders such as {document} and {query}, as users write them.
//
// Used by specs (validation) and sessions (rendering) of methods that prompt a model. A placeholder
// is a brace with lower-case letters, digits and underscores; other braces are text. Pure;
// thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::prompting {

/// How often a template holds a placeholder.
struct PlaceholderRule {
  std::string_view name;
  int fewest = 1;
  int most = 1;
};

/// `invalid_argument` for an unknown placeholder (with the nearest) or a wrong number of a known
/// one; `what` names the template: "the prompt".
Status check_template(std::string_view what, std::string_view text,
                      std::span<const PlaceholderRule> rules);

/// A stretch of text, or the name of a placeholder.
struct PromptPart {
  std::string_view text;
  bool placeholder = false;
};

/// The parts of a template in order; views into `text`.
std::vector<PromptPart> split_template(std::string_view text);

struct PlaceholderValue {
  std::string_view name;
  std::string_view value;
};

/// Fills a checked template. Text that comes out of a value is not looked at again.
std::string fill_template(std::string_view text, std::span<const PlaceholderValue> values);

/// What stands for the query of an example that has none.
std::string_view query_or_request(std::string_view query);

/// The default template of a prompt with a document and a query.
std::string_view default_prompt();

/// The same with the query in front: what a causal model makes of it is the same for all documents.
std::string_view query_first_prompt();

/// Checks such a template: {document} once, {query} at most once, no other placeholder.
Status check_prompt(std::string_view text);

/// Bytes of a text.
struct TextRange {
  size_t begin = 0;
  size_t end = 0;  ///< exclusive; as `begin`: none
};

struct FilledPrompt {
  std::string text;
  TextRange document;
  TextRange query;  ///< the first, where it is repeated; without one, of what stands for it
  std::vector<size_t> joints = {};  ///< where documents and queries begin and end, increasing
};

/// What shows the query of a checked template: {query} with its paragraph, its line, or by itself,
/// whichever first does not hold the document, too; nothing where there is none.
struct ShownQuery {
  std::string_view text;
  size_t begin = 0;
  std::string_view behind;  ///< what parts it from what is in front of it
};
ShownQuery shown_query(std::string_view text);

/// A checked template with what shows its query once more behind the document, parted from it
/// likewise or, not `separated`, by nothing.
std::string with_query_repeated(std::string_view text, bool separated = true);

/// Fills either. An example without a query is asked for a summary of the document.
FilledPrompt fill_marked_prompt(std::string_view text, std::string_view document,
                                std::string_view query);
std::string fill_prompt(std::string_view text, std::string_view document, std::string_view query);

}  // namespace qfs::prompting
