#include "methods/endpoint/server_counter.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"

namespace qfs::endpoint {
namespace {

using nlohmann::json;

std::optional<int64_t> count_in(std::string_view body) {
  const Result<json> answer = parse_json(repair_utf8(body).text, "tokenize");
  if (!answer.ok() || !answer->is_object()) return std::nullopt;
  const auto count = answer->find("count");
  if (count != answer->end() && count->is_number_unsigned()) return count->get<int64_t>();
  const auto tokens = answer->find("tokens");
  if (tokens == answer->end() || !tokens->is_array()) return std::nullopt;
  return static_cast<int64_t>(tokens->size());
}

/// The whole code point at or before `at`.
size_t whole_before(std::string_view text, size_t at) { return whole_code_points(text, at); }

/// Puts bytes [begin, end) of the joined document into the ledger, segment by segment.
void keep(const std::vector<std::string>& segments, size_t begin, size_t end,
          prompting::TruncatedDocument& document) {
  size_t start = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const size_t stop = start + segments[i].size();
    const size_t from = std::max(begin, start);
    const size_t to = std::min(end, stop);
    if (from < to || (segments[i].empty() && begin <= start && start < end)) {
      document.ledger.kept.push_back({static_cast<int64_t>(i), static_cast<int64_t>(from - start),
                                      static_cast<int64_t>(to - start)});
      document.texts.push_back(segments[i].substr(from - start, to - from));
    }
    start = stop + 1;  // the line break
  }
}

}  // namespace

/// A cut of a text: what is kept before (head) or from (tail) this offset, and its tokens.
struct ServerCounter::Cut {
  size_t offset = 0;
  int64_t tokens = 0;
};

std::variant<int64_t, AskFailure> ServerCounter::count(std::string_view text) {
  if (text.empty()) return int64_t{0};
  // llama.cpp reads "content" and "add_special", the others the rest.
  const std::string body = json{
      {"model", model_},
      {"prompt", text},
      {"add_special_tokens", false},
      {"content", text},
      {"add_special", false}}.dump(-1, ' ', false, json::error_handler_t::replace);
  auto outcome = client_.ask(url_, &body, [](const HttpAnswer& answer) -> Status {
    if (count_in(answer.body)) return {};
    return data_error("the server's /tokenize says no number of tokens");
  });
  if (auto* failure = std::get_if<AskFailure>(&outcome)) return std::move(*failure);
  const HttpAnswer& answer = std::get<Asked>(outcome).answer;
  if (const auto tokens = count_in(answer.body); tokens && answer.status < 300) return *tokens;
  AskFailure failure{unavailable("the server cannot count tokens at " + url_ + " (HTTP " +
                                 std::to_string(answer.status) +
                                 "); name a tokenizer instead of \"count_by\": \"server\""),
                     true};
  return failure;
}

std::variant<ServerCounter::Cut, AskFailure> ServerCounter::longest_end(std::string_view text,
                                                                        int64_t budget, bool head) {
  // Bisection over the kept length; the answer is a length that was counted and fits.
  Cut best{head ? 0 : text.size(), 0};
  size_t fits = 0;
  size_t exceeds = text.size() + 1;
  while (exceeds - fits > 1) {
    const size_t length = fits + (exceeds - fits) / 2;
    size_t offset = head ? whole_before(text, length) : text.size() - length;
    while (!head && offset < text.size() &&
           (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80) {
      ++offset;
    }
    const std::string_view part = head ? text.substr(0, offset) : text.substr(offset);
    if (part.size() <= (head ? best.offset : text.size() - best.offset)) {
      fits = length;  // no whole character more than what fits already
      continue;
    }
    auto counted = count(part);
    if (auto* failure = std::get_if<AskFailure>(&counted)) return std::move(*failure);
    const int64_t tokens = std::get<int64_t>(counted);
    if (tokens <= budget) {
      best = {offset, tokens};
      fits = length;
    } else {
      exceeds = length;
    }
  }
  return best;
}

std::variant<prompting::TruncatedDocument, AskFailure> ServerCounter::truncate(
    const Example& example, std::optional<int64_t> budget, prompting::TruncationPolicy policy) {
  using prompting::TruncationPolicy;
  std::vector<std::string> segments;
  for (const Segment& segment : example.document) segments.push_back(rendered(segment));
  const std::string whole = rendered_document(example);
  prompting::TruncatedDocument document;
  auto counted = count(whole);
  if (auto* failure = std::get_if<AskFailure>(&counted)) return std::move(*failure);
  document.ledger.document_tokens = std::get<int64_t>(counted);
  auto query = count(example.query);
  if (auto* failure = std::get_if<AskFailure>(&query)) return std::move(*failure);
  document.ledger.query_tokens = std::get<int64_t>(query);
  if (!budget || document.ledger.document_tokens <= *budget) {
    keep(segments, 0, whole.size() + 1, document);
    document.ledger.kept_tokens = document.ledger.document_tokens;
    return document;
  }
  int64_t head_budget = policy == TruncationPolicy::tail ? 0 : *budget;
  if (policy == TruncationPolicy::middle) head_budget -= *budget / 2;
  Cut head{0, 0};
  Cut tail{whole.size(), 0};
  if (head_budget > 0) {
    auto cut = longest_end(whole, head_budget, true);
    if (auto* failure = std::get_if<AskFailure>(&cut)) return std::move(*failure);
    head = std::get<Cut>(cut);
  }
  if (*budget > head_budget) {
    auto cut = longest_end(whole, *budget - head_budget, false);
    if (auto* failure = std::get_if<AskFailure>(&cut)) return std::move(*failure);
    tail = std::get<Cut>(cut);
  }
  keep(segments, 0, head.offset, document);
  keep(segments, std::max(head.offset, tail.offset), whole.size() + 1, document);
  document.ledger.kept_tokens = head.tokens + tail.tokens;
  return document;
}

}  // namespace qfs::endpoint
