#include "methods/models/prompting/source_layout.h"

#include <algorithm>
#include <array>
#include <optional>

#include "methods/models/prompting/prompt_template.h"

namespace qfs::prompting {

namespace {

/// Of layouts with the document in one piece, and by segments.
constexpr std::array<PlaceholderRule, 3> kLayoutRules = {
    {{"document", 1, 1}, {"query", 0, 2}, {"sep", 0, 2}}};
constexpr std::array<PlaceholderRule, 3> kSegmentsRules = {
    {{"documents", 1, 1}, {"query", 0, 2}, {"sep", 0, 2}}};

/// Puts pieces of a layout together; text is held back until a separator or the end, so that it is
/// encoded as one.
class LayoutEncoder {
 public:
  LayoutEncoder(const tokenizers::VocabularyTokenizer& tokenizer, GlobalTokens global)
      : tokenizer_(tokenizer),
        frame_(tokenizer.frame()),
        query_is_global_(global == GlobalTokens::query || global == GlobalTokens::first_and_query),
        separators_are_global_(global == GlobalTokens::first_and_separators) {
    tokens_.ids = frame_.before;
    if (global != GlobalTokens::none && global != GlobalTokens::query) {
      tokens_.global_positions.push_back(0);
    }
  }

  void add_text(std::string_view text) { run_.append(text); }

  void add_query(std::string_view query) {
    const auto begin = static_cast<int64_t>(run_.size());
    run_.append(query);
    if (query_is_global_) queries_.push_back({begin, static_cast<int64_t>(run_.size())});
  }

  void add_separator(std::string_view text, int32_t id) {
    end_run();
    if (separators_are_global_) mark_next();
    tokens_.ids.push_back(id);
    tokens_.text.append(text);
  }

  SourceTokens finish() {
    end_run();
    tokens_.ids.insert(tokens_.ids.end(), frame_.after.begin(), frame_.after.end());
    return std::move(tokens_);
  }

 private:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };

  /// The token that is put next is global, also when it is the first.
  void mark_next() {
    const auto position = static_cast<int64_t>(tokens_.ids.size());
    std::vector<int64_t>& known = tokens_.global_positions;
    if (known.empty() || known.back() != position) known.push_back(position);
  }

  void end_run() {
    for (const tokenizers::Token& token : tokenizer_.encode(run_)) {
      const auto touches = [&](const Range& query) {
        return token.begin < query.end && query.begin < token.end;
      };
      if (std::ranges::any_of(queries_, touches)) mark_next();
      tokens_.ids.push_back(token.id);
    }
    tokens_.text.append(run_);
    run_.clear();
    queries_.clear();
  }

  const tokenizers::VocabularyTokenizer& tokenizer_;
  tokenizers::TextFrame frame_;
  bool query_is_global_;
  bool separators_are_global_;
  std::string run_;
  std::vector<Range> queries_;  ///< of run_
  SourceTokens tokens_;
};

}  // namespace

std::vector<std::string> global_token_names() {
  return {"none", "first", "query", "first_and_query", "first_and_separators"};
}

GlobalTokens global_tokens_from(std::string_view name) {
  const std::vector<std::string> names = global_token_names();
  return static_cast<GlobalTokens>(std::ranges::find(names, name) - names.begin());
}

bool separates_documents(std::string_view layout) {
  return layout.find("{documents}") != std::string_view::npos;
}

Status check_source_layout(std::string_view text) {
  return check_template("the source layout", text,
                        separates_documents(text) ? kSegmentsRules : kLayoutRules);
}

std::string_view default_source_layout(bool has_query) {
  return has_query ? "{query}{sep}{document}" : "{document}";
}

Result<SourceTokens> encode_layout(const tokenizers::VocabularyTokenizer& tokenizer,
                                   std::string_view layout, std::string_view separator,
                                   GlobalTokens global, const std::vector<std::string>& documents,
                                   std::string_view query) {
  const std::optional<int32_t> id = tokenizer.special_id(separator);
  const std::vector<PromptPart> parts = split_template(layout);
  const bool separates = std::ranges::any_of(parts, [](const PromptPart& part) {
    return part.placeholder && (part.text == "sep" || part.text == "documents");
  });
  if (separates && !id) {
    return unavailable("the vocabulary has no special token '" + std::string(separator) +
                       "', which the source layout puts between its parts");
  }
  LayoutEncoder encoder(tokenizer, global);
  for (const PromptPart& part : parts) {
    if (!part.placeholder) {
      encoder.add_text(part.text);
    } else if (part.text == "query") {
      encoder.add_query(query);
    } else if (part.text == "sep") {
      encoder.add_separator(separator, *id);
    } else {
      for (size_t i = 0; i < documents.size(); ++i) {
        if (part.text == "document" && i > 0) encoder.add_text("\n");
        encoder.add_text(documents[i]);
        if (part.text == "documents") encoder.add_separator(separator, *id);
      }
    }
  }
  return encoder.finish();
}

}  // namespace qfs::prompting
