#include "methods/egad/keyword_inputs.h"

#include <algorithm>
#include <utility>

namespace qfs::egad {

namespace {

/// The tokens of a source that are the document's: its text, and where each begins in it.
struct DocumentTokens {
  std::string text;
  std::vector<int64_t> begins;  ///< of each, and the end of the last
  int64_t first = 0;            ///< its position in the source
};

DocumentTokens document_tokens(const tokenizers::VocabularyTokenizer& tokenizer,
                               const std::string& query, std::span<const int32_t> ids) {
  const tokenizers::TextFrame frame = tokenizer.frame();
  DocumentTokens tokens;
  tokens.first = static_cast<int64_t>(frame.before.size());
  // A query stands in front, with a separator behind it.
  if (!query.empty()) tokens.first += tokenizer.count(query) + 1;
  const auto end = static_cast<int64_t>(ids.size() - frame.after.size());
  for (int64_t i = tokens.first; i < end; ++i) {
    tokens.begins.push_back(static_cast<int64_t>(tokens.text.size()));
    tokens.text += tokenizer.decode(ids.subspan(static_cast<size_t>(i), 1));
  }
  tokens.begins.push_back(static_cast<int64_t>(tokens.text.size()));
  return tokens;
}

}  // namespace

KeywordInputs::KeywordInputs(const Params& params, InputPlace place)
    : kind_(params.get<std::string>("keywords")),
      rule_{params.get<int64_t>("k"), score_from(params.get<std::string>("keyword_score")),
            params.get<int64_t>("keyword_min"),
            params.get<std::string>("keyword_form") == "surface"},
      set_(static_cast<uint64_t>(params.get<int64_t>("keyword_set"))),
      speakers_(params.find<std::string>("keyword_speakers") != "left_out"),
      highlight_most_(params.find<int64_t>("highlight_most")),
      place_(std::move(place)) {}

Status KeywordInputs::check_document(const Example& example) {
  if (has_text(example)) return {};
  return data_error("the document of example '" + example.key + "' has no text to read");
}

Result<prompting::ChangedDocument> KeywordInputs::prefixed(const Example& example,
                                                           const Dictionary& dictionary) const {
  if (Status readable = check_document(example); !readable.ok()) return readable.error();
  if (kind_ == "summary" && example.references.empty()) {
    return data_error("example '" + example.key + "' has no reference summary for keywords");
  }
  std::string joined;
  for (const std::string& word : keywords(example, dictionary)) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  // Stand where the source layout has the query, all of whose tokens are global.
  std::string query = joined;
  if (!query.empty() && !example.query.empty()) query += " ";
  query += example.query;
  const bool with_query = place_.encoder_decoder && !example.query.empty();
  const int64_t tokens =
      place_.encoder_decoder ? place_.tokenizer->count(query) : place_.counter->count(joined);
  if (tokens >= place_.room) {
    return invalid_argument("the keywords " + std::string(with_query ? "and the query " : "") +
                            "of example '" + example.key + "' have " + std::to_string(tokens) +
                            " tokens and leave no room for a document in " +
                            std::to_string(place_.room) + "; lower 'k'");
  }
  prompting::ChangedDocument prefixed{example, {}};
  for (size_t i = 0; i < example.document.size(); ++i) {
    const auto bytes = static_cast<int64_t>(rendered(example.document[i]).size());
    prefixed.origins.emplace_back(ByteSpan{static_cast<int64_t>(i), 0, bytes});
  }
  if (place_.encoder_decoder) {
    prefixed.example.query = std::move(query);
  } else if (!joined.empty()) {
    std::vector<Segment>& document = prefixed.example.document;
    document.insert(document.begin(), {joined, ""});
    prefixed.origins.insert(prefixed.origins.begin(), std::nullopt);
  }
  return prefixed;
}

std::vector<int64_t> KeywordInputs::marked(const Example& example, const Dictionary& dictionary,
                                           std::span<const int32_t> ids) const {
  const DocumentTokens tokens = document_tokens(*place_.tokenizer, example.query, ids);
  std::vector<int64_t> positions = {0};
  const auto count = static_cast<int64_t>(tokens.begins.size()) - 1;
  int64_t next = 0;
  for (const Occurrence& word : occurrences_of(tokens.text, keywords(example, dictionary))) {
    std::vector<int64_t> own;
    while (next < count && tokens.begins[static_cast<size_t>(next) + 1] <= word.begin) ++next;
    for (int64_t i = next; i < count && tokens.begins[static_cast<size_t>(i)] < word.end; ++i) {
      // A token of two words is marked once.
      if (tokens.first + i > positions.back()) own.push_back(tokens.first + i);
    }
    const auto all = static_cast<int64_t>(positions.size() - 1 + own.size());
    if (highlight_most_ && all > *highlight_most_) break;
    positions.insert(positions.end(), own.begin(), own.end());
  }
  return positions;
}

std::string KeywordInputs::counted_text(const Example& example) const {
  if (speakers_) return rendered_document(example);
  std::string text;
  for (const Segment& segment : example.document) text += segment.text + "\n";
  return text;
}

std::vector<std::string> KeywordInputs::keywords(const Example& example,
                                                 const Dictionary& dictionary) const {
  if (kind_ == "gibberish") return gibberish(rule_.k, set_, example.document_id);
  if (kind_ == "summary") return keywords_of(example.references.front(), dictionary, rule_);
  const std::string text = counted_text(example);
  if (kind_ == "random") return drawn_words(text, rule_.k, set_, example.document_id);
  return keywords_of(text, dictionary, rule_);
}

}  // namespace qfs::egad
