#include "methods/models/prompting/prompt_template.h"

#include <algorithm>
#include <array>
#include <optional>

#include "harness/core/suggest.h"

namespace qfs::prompting {

namespace {

constexpr std::string_view kDefaultPrompt =
    "Read the document and answer the request with a short summary in plain sentences. Use only "
    "what "
    "the document says.\n\nDocument:\n{document}\n\nRequest: {query}\n\nSummary:";
constexpr std::string_view kNoQuery = "Summarize the document.";
constexpr std::string_view kQuery = "{query}";
constexpr std::string_view kDocument = "{document}";
constexpr std::array<PlaceholderRule, 2> kPromptRules = {{{"document", 1, 1}, {"query", 0, 1}}};

struct Placeholder {
  size_t begin = 0;
  size_t end = 0;  ///< past the closing brace
  std::string_view name;
};

/// The next "{name}" from `from`.
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

std::string held(const PlaceholderRule& rule, int count) {
  return "{" + std::string(rule.name) + "} " + std::to_string(count) + " times";
}

std::string expected(const PlaceholderRule& rule) {
  const char* const often = rule.most == 1 ? "once" : "twice";
  return "{" + std::string(rule.name) + "} " + (rule.fewest == rule.most ? "" : "at most ") + often;
}

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace

Status check_template(std::string_view what, std::string_view text,
                      std::span<const PlaceholderRule> rules) {
  std::vector<int> counts(rules.size(), 0);
  for (auto at = next_placeholder(text, 0); at; at = next_placeholder(text, at->end)) {
    const auto rule = std::ranges::find(rules, at->name, &PlaceholderRule::name);
    if (rule == rules.end()) {
      std::vector<std::string> names;
      for (const PlaceholderRule& known : rules) names.emplace_back(known.name);
      return invalid_argument(std::string(what) + " has the unknown placeholder {" +
                              std::string(at->name) + "}" + suggestion(at->name, names));
    }
    ++counts[static_cast<size_t>(rule - rules.begin())];
  }
  bool right = true;
  std::vector<std::string> found;
  std::vector<std::string> wanted;
  for (size_t i = 0; i < rules.size(); ++i) {
    right = right && counts[i] >= rules[i].fewest && counts[i] <= rules[i].most;
    found.push_back(held(rules[i], counts[i]));
    wanted.push_back(expected(rules[i]));
  }
  if (right) return {};
  return invalid_argument(std::string(what) + " holds " + listed(found) + "; expected " +
                          listed(wanted));
}

std::vector<PromptPart> split_template(std::string_view text) {
  std::vector<PromptPart> parts;
  size_t done = 0;
  for (auto at = next_placeholder(text, 0); at; at = next_placeholder(text, at->end)) {
    if (at->begin > done) parts.push_back({text.substr(done, at->begin - done), false});
    parts.push_back({at->name, true});
    done = at->end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), false});
  return parts;
}

std::string fill_template(std::string_view text, std::span<const PlaceholderValue> values) {
  std::string filled;
  for (const PromptPart& part : split_template(text)) {
    const auto value = std::ranges::find(values, part.text, &PlaceholderValue::name);
    if (!part.placeholder) filled.append(part.text);
    if (part.placeholder && value != values.end()) filled.append(value->value);
  }
  return filled;
}

std::string_view query_or_request(std::string_view query) {
  return query.empty() ? kNoQuery : query;
}

std::string_view default_prompt() { return kDefaultPrompt; }

std::string_view query_first_prompt() {
  return "Read the document and answer the request with a short summary in plain sentences. Use "
         "only what the document says.\n\nRequest: {query}\n\nDocument:\n{document}\n\nSummary:";
}

Status check_prompt(std::string_view text) {
  return check_template("the prompt", text, kPromptRules);
}

ShownQuery shown_query(std::string_view text) {
  const size_t query = text.find(kQuery);
  if (query == std::string_view::npos) return {};
  for (const std::string_view between : {"\n\n", "\n"}) {
    const size_t before = text.rfind(between, query);
    const size_t begin = before == std::string_view::npos ? 0 : before + between.size();
    const std::string_view part = text.substr(begin, text.find(between, query) - begin);
    if (part.find(kDocument) == std::string_view::npos) return {part, begin, between};
  }
  return {kQuery, query, " "};
}

std::string with_query_repeated(std::string_view text, bool separated) {
  std::string repeated(text);
  const ShownQuery shown = shown_query(text);
  std::string again(separated ? shown.behind : std::string_view());
  return repeated.insert(text.find(kDocument) + kDocument.size(), again.append(shown.text));
}

FilledPrompt fill_marked_prompt(std::string_view text, std::string_view document,
                                std::string_view query) {
  FilledPrompt filled;
  for (const PromptPart& part : split_template(text)) {
    const size_t begin = filled.text.size();
    if (begin > 0) filled.joints.push_back(begin);
    if (!part.placeholder) {
      filled.text.append(part.text);
    } else if (part.text == "document") {
      filled.text.append(document);
      filled.document = {begin, filled.text.size()};
    } else {
      filled.text.append(query_or_request(query));
      if (filled.query.begin == filled.query.end) filled.query = {begin, filled.text.size()};
    }
  }
  return filled;
}

std::string fill_prompt(std::string_view text, std::string_view document, std::string_view query) {
  return fill_marked_prompt(text, document, query).text;
}

}  // namespace qfs::prompting
