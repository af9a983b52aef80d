#include "methods/dyle/rows.h"

#include <algorithm>

#include "harness/core/error_exception.h"
#include "methods/models/prompting/chat/user_turn.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::dyle {

namespace {

/// As nn::kNoLabel, which is behind LibTorch.
constexpr int64_t kNoLabel = -100;

std::vector<int32_t> ids_of_text(const tokenizers::VocabularyTokenizer& tokenizer,
                                 std::string_view text) {
  return text.empty() ? std::vector<int32_t>() : tokenizers::ids_of(tokenizer.encode(text));
}

void append(std::vector<int32_t>& ids, std::span<const int32_t> more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

/// What stands in front of a prompt's snippet, and behind it.
struct Around {
  std::string front;
  std::string back;
};

Around around_snippet(std::string_view prompt, std::string_view query) {
  Around around;
  bool behind = false;
  for (const prompting::PromptPart& part : prompting::split_template(prompt)) {
    if (part.placeholder && part.text == "snippet") {
      behind = true;
    } else {
      (behind ? around.back : around.front) += part.placeholder ? query : part.text;
    }
  }
  return around;
}

/// Ids on both sides of a snippet.
struct Sides {
  std::vector<int32_t> front;
  std::vector<int32_t> back;
};

/// A text that stands in neither: invisible, no blank that a template trims, and with another
/// beginning than end, so that what is before it cannot be part of it.
std::string mark_for(const Around& around) {
  std::string inside;
  const auto mark = [&] { return "\u2063" + inside + "\u2064"; };
  while ((around.front + around.back).find(mark()) != std::string::npos) inside += "\u2062";
  return mark();
}

size_t count_of(std::string_view part, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

Result<Sides> sides_in_turn(const tokenizers::VocabularyTokenizer& tokenizer, const Around& around,
                            const Conversation& chat) {
  const std::string mark = mark_for(around);
  const auto pieces = chat.renderer->render(
      prompting::user_messages(chat.system, around.front + mark + around.back));
  if (!pieces.ok()) return pieces.error();
  std::vector<prompting::PromptPiece> front;
  std::vector<prompting::PromptPiece> back;
  size_t marks = 0;
  for (const prompting::PromptPiece& piece : *pieces) {
    const size_t at = piece.text.find(mark);
    if (at == std::string::npos) {
      (marks == 0 ? front : back).push_back(piece);
      continue;
    }
    marks += count_of(mark, piece.text);
    front.push_back({piece.text.substr(0, at)});
    back.push_back({piece.text.substr(at + mark.size())});
  }
  if (marks != 1) {
    return unavailable("the chat template has " + std::to_string(marks) +
                       " places of the user's text; a snippet needs one");
  }
  auto of_front = prompting::encode_pieces(tokenizer, front);
  if (!of_front.ok()) return of_front.error();
  auto of_back = prompting::encode_pieces(tokenizer, back);
  if (!of_back.ok()) return of_back.error();
  return Sides{*std::move(of_front), *std::move(of_back)};
}

Result<Sides> sides_of(const tokenizers::VocabularyTokenizer& tokenizer, const Around& around,
                       const Conversation* chat) {
  if (chat != nullptr) return sides_in_turn(tokenizer, around, *chat);
  Sides sides{tokenizer.frame().before, ids_of_text(tokenizer, around.back)};
  append(sides.front, ids_of_text(tokenizer, around.front));
  return sides;
}

}  // namespace

Status check_snippet_prompt(std::string_view prompt) {
  static constexpr prompting::PlaceholderRule kRules[] = {{"snippet", 1, 1}, {"query", 0, 1}};
  return prompting::check_template("the prompt", prompt, kRules);
}

Result<std::vector<SnippetRow>> snippet_prompts(const tokenizers::VocabularyTokenizer& tokenizer,
                                                std::string_view prompt,
                                                std::span<const std::string> snippets,
                                                std::string_view query, int64_t most,
                                                const Conversation* chat) {
  try {
    const auto sides = sides_of(tokenizer, around_snippet(prompt, query), chat);
    if (!sides.ok()) return sides.error();
    const auto& [front, back] = *sides;
    const int64_t room = most - static_cast<int64_t>(front.size() + back.size());
    if (room < 1) {
      return invalid_argument("the prompt and the query have " +
                              std::to_string(front.size() + back.size()) +
                              " tokens and leave no room for a snippet in " + std::to_string(most) +
                              "; raise 'snippet_tokens'");
    }
    std::vector<SnippetRow> rows;
    for (const std::string& snippet : snippets) {
      std::vector<int32_t> own = ids_of_text(tokenizer, snippet);
      SnippetRow& row = rows.emplace_back(SnippetRow{front});
      row.cut = static_cast<int64_t>(own.size()) > room;
      if (row.cut) own.resize(static_cast<size_t>(room));
      row.kept_tokens = static_cast<int64_t>(own.size());
      append(row.ids, own);
      append(row.ids, back);
    }
    return rows;
  } catch (const ErrorException& error) {
    return error.error();
  }
}

Result<std::vector<SnippetRow>> snippet_sources(const tokenizers::VocabularyTokenizer& tokenizer,
                                                std::span<const std::string> snippets,
                                                std::string_view query, int64_t most) {
  const tokenizers::TextFrame frame = tokenizer.frame();
  const int64_t room = most - static_cast<int64_t>(frame.size());
  if (room < 1) {
    return invalid_argument("the tokenizer's own tokens leave no room for a snippet in " +
                            std::to_string(most) + "; raise 'snippet_tokens'");
  }
  try {
    std::vector<SnippetRow> rows;
    for (const std::string& snippet : snippets) {
      std::string text = snippet;
      text.append(kSeparator).append(query);
      std::vector<tokenizers::Token> own = tokenizer.encode(text);
      const auto of_snippet = std::ranges::count_if(own, [&](const tokenizers::Token& token) {
        return token.begin < static_cast<int64_t>(snippet.size());
      });
      SnippetRow& row = rows.emplace_back(SnippetRow{frame.before});
      row.cut = of_snippet > room;
      row.kept_tokens = std::min<int64_t>(of_snippet, room);
      row.query_cut = !query.empty() && static_cast<int64_t>(own.size()) > room;
      own.resize(std::min(own.size(), static_cast<size_t>(room)));
      append(row.ids, tokenizers::ids_of(own));
      append(row.ids, frame.after);
    }
    return rows;
  } catch (const ErrorException& error) {
    return error.error();
  }
}

std::string kept_text(const tokenizers::VocabularyTokenizer& tokenizer, std::string_view snippet,
                      int64_t tokens) {
  const std::vector<tokenizers::Token> all = tokenizer.encode(snippet);
  if (tokens >= static_cast<int64_t>(all.size())) return std::string(snippet);
  return std::string(
      snippet.substr(0, static_cast<size_t>(all[static_cast<size_t>(tokens)].begin)));
}

Target prompted_target(const tokenizers::VocabularyTokenizer& tokenizer, std::string_view summary,
                       bool in_conversation, int32_t end, int64_t most) {
  std::vector<int32_t> ids =
      tokenizer.ids_behind((in_conversation ? "" : " ") + std::string(summary));
  ids.resize(std::min(ids.size(), static_cast<size_t>(most - 1)));
  Target target;
  target.begun = ids;
  target.labels.assign(ids.begin(), ids.end());
  target.labels.push_back(end);
  return target;
}

Target decoder_target(const tokenizers::VocabularyTokenizer& tokenizer, std::string_view summary,
                      const std::vector<int32_t>& start, bool released, int32_t padding,
                      int64_t most) {
  const tokenizers::TextFrame frame = tokenizer.frame();
  std::vector<int32_t> y = frame.before;
  append(y, ids_of_text(tokenizer, summary));
  append(y, frame.after);
  if (static_cast<int64_t>(y.size()) > most) {
    y.resize(static_cast<size_t>(most));
    if (!frame.after.empty()) y.back() = frame.after.back();
  }
  Target target;
  if (released) {
    target.begun = y;
    target.begun.resize(static_cast<size_t>(most), padding);
    target.labels.assign(y.begin() + 1, y.end());
    target.labels.resize(static_cast<size_t>(most), kNoLabel);
    return target;
  }
  target.begun = start;
  append(target.begun, {y.data(), y.size() - 1});
  target.labels.assign(start.size() - 1, kNoLabel);
  target.labels.insert(target.labels.end(), y.begin(), y.end());
  return target;
}

}  // namespace qfs::dyle
