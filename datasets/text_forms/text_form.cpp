#include "datasets/text_forms/text_form.h"

#include <array>
#include <span>
#include <utility>

#include "datasets/text_forms/word_tokens.h"
#include "harness/core/text/unicode_forms.h"

namespace qfs::datasets {
namespace {

// What the released code of two papers makes of QMSum's text. Turns and queries: lower case, word
// tokens joined by one blank, noise marks deleted and spelled acronyms rewritten. References: lower
// case and word tokens only. Speakers: lower case. DYLE's of GovReport and arXiv: a document's
// tokens are cut into sentences, and these into pieces of at most 64.
// Sources: arXiv 2407.10486 (IDEAL) and arXiv 2110.08168 (DYLE) with their released preprocessing.

// Each mark is deleted with the blank that follows it, in this order.
constexpr std::array<std::string_view, 6> kIdealMarks = {"{ vocalsound } ",    "{ disfmarker } ",
                                                         "{ comment } ",       "{ pause } ",
                                                         "{ nonvocalsound } ", "{ gap } "};
constexpr std::array<std::string_view, 5> kDyleMarks = {
    "{ vocalsound } ", "{ disfmarker } ", "{ pause } ", "{ nonvocalsound } ", "{ gap } "};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kAcronyms = {
    {{"a_m_i_", "ami"}, {"l_c_d_", "lcd"}, {"p_m_s", "pms"}, {"t_v_", "tv"}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string replaced;
  size_t copied = 0;
  for (; at != std::string::npos; at = text.find(from, copied)) {
    replaced.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  text = replaced.append(text, copied);
}

constexpr size_t kDylePiece = 64;  // word tokens

template <TreebankRules rules>
std::string lower_cased_tokens(std::string_view text) {
  return join_word_tokens(lower_case(text), rules);
}

/// NLTK 3.6.2, which DYLE's release names; IDEAL's names none.
constexpr TreebankRules kDyleRules = TreebankRules::nltk_3_6_2;
constexpr auto ideal_tokens = lower_cased_tokens<TreebankRules::nltk_3_8_1>;
constexpr auto dyle_tokens = lower_cased_tokens<kDyleRules>;

std::string cleaned(std::string tokens, std::span<const std::string_view> marks) {
  // A mark at the end of a turn is followed by a blank in the joined transcript the papers' code
  // cleans; the added blank stands for it.
  std::string text = std::move(tokens) + ' ';
  for (std::string_view mark : marks) replace_all(text, mark, "");
  for (const auto& [from, to] : kAcronyms) replace_all(text, from, to);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string lower_cased_speaker(std::string_view speaker) { return lower_case(speaker); }

std::string ideal_text(std::string_view turn_or_query) {
  return cleaned(ideal_tokens(turn_or_query), kIdealMarks);
}

std::string dyle_text(std::string_view turn_or_query) {
  return cleaned(dyle_tokens(turn_or_query), kDyleMarks);
}

std::vector<std::string> dyle_pieces(std::string_view document) {
  return sentence_pieces(dyle_tokens(document), kDyleRules, kDylePiece);
}

std::string unchanged(std::string_view text) { return std::string(text); }

constexpr std::array kForms = {
    TextForm{"raw", 1, unchanged, unchanged, unchanged, unchanged},
    TextForm{"ideal", 1, lower_cased_speaker, ideal_text, ideal_text, ideal_tokens},
    TextForm{"dyle", 2, lower_cased_speaker, dyle_text, dyle_text, dyle_tokens, dyle_pieces},
};

}  // namespace

std::string TextForm::versioned_name() const {
  return std::string(name) + "@" + std::to_string(version);
}

void apply_text_form(const TextForm& form, Example& example) {
  if (form.pieces == nullptr) return;
  for (std::string& reference : example.references) reference = form.reference(reference);
  std::string document;
  for (const Segment& segment : std::exchange(example.document, {})) {
    document += (document.empty() ? "" : "\n") + segment.text;
  }
  for (std::string& piece : form.pieces(document)) example.document.push_back({std::move(piece)});
}

const TextForm* find_text_form(std::string_view name) {
  for (const TextForm& form : kForms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

}  // namespace qfs::datasets
