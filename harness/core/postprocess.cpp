#include "harness/core/postprocess.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/comma_parts.h"
#include "harness/core/json_dom.h"
#include "harness/core/postprocess_transforms.h"
#include "harness/core/suggest.h"
#include "harness/core/utf8.h"
#include "harness/core/whole_number.h"

namespace qfs {
namespace {

using Values = std::map<std::string, std::string>;
using Apply = std::function<Result<std::string>(std::string)>;

constexpr size_t kMaxSteps = 64;
constexpr int64_t kMaxLines = 1'000'000;
constexpr const char* kPredictions = "predictions";
constexpr const char* kBoth = "both";
constexpr const char* kSpecial =
    "<pad> <s> </s> <bos> <eos> <|endoftext|> <|im_start|> <|im_end|> <|begin_of_text|> "
    "<|end_of_text|> <|eot_id|>";

/// "a=b,c=d".
Result<std::vector<std::pair<std::string, std::string>>> pairs_of(std::string_view text,
                                                                  const std::string& step) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : comma_parts(text)) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid_argument("postprocess '" + step + "': '" + part +
                              "' is not of the form parameter=value (a comma in a value is '\\,')");
    }
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return pairs;
}

Result<int64_t> line_count(const std::string& text) {
  const auto count = whole_number<int64_t>(text);
  if (count && *count >= 1 && *count <= kMaxLines) return *count;
  return invalid_argument("count is '" + text + "', expected a whole number from 1 to 1000000");
}

Result<Apply> make_apply(const std::string& name, const Values& values) {
  using namespace transforms;
  const auto value = [&](const char* key) { return values.at(key); };
  if (name == "strip_special") {
    return Apply(
        [list = value("texts")](std::string t) { return without_texts(std::move(t), list); });
  }
  if (name == "strip_reasoning") {
    return Apply([tag = value("tag")](const std::string& t) { return without_reasoning(t, tag); });
  }
  if (name == "cut_at") {
    return Apply([stop = value("text")](std::string t) { return cut_at(std::move(t), stop); });
  }
  if (name == "delete_prefix") {
    return Apply(
        [prefix = value("text")](std::string t) { return without_prefix(std::move(t), prefix); });
  }
  if (name == "newlines") {
    return Apply([mark = value("mark")](const std::string& t) { return with_newlines(t, mark); });
  }
  if (name == "first_lines") {
    const Result<int64_t> count = line_count(value("count"));
    if (!count) return count.error();
    return Apply([count = *count](const std::string& t) { return first_lines(t, count); });
  }
  if (name == "strip") return Apply([](const std::string& t) { return stripped(t); });
  if (name == "squeeze_spaces") return Apply([](const std::string& t) { return squeezed(t); });
  if (name == "lowercase") return Apply([](const std::string& t) { return lower_case(t); });
  return replacing(value("pattern"), value("with"));
}

/// Given values over defaults; every name is a parameter's, once.
Result<Values> read_values(const PostprocessStep& step, std::string_view given,
                           const std::string& text) {
  Values values = {{"to", kPredictions}};
  std::vector<std::string> names = {"to"};
  for (const PostprocessParameter& parameter : step.parameters) {
    values[parameter.name] = parameter.default_value;
    names.push_back(parameter.name);
  }
  std::set<std::string> seen;
  if (!given.empty()) {
    auto pairs = pairs_of(given, text);
    if (!pairs) return pairs.error();
    for (auto& [name, value] : *pairs) {
      if (!values.contains(name)) {
        return not_found("postprocess '" + text + "': unknown parameter '" + name + "'" +
                         suggestion(name, names));
      }
      if (!seen.insert(name).second) {
        return invalid_argument("postprocess '" + text + "': '" + name + "' is given twice");
      }
      values[name] = std::move(value);
    }
  }
  for (const PostprocessParameter& parameter : step.parameters) {
    if (!parameter.optional && values[parameter.name].empty()) {
      return invalid_argument("postprocess '" + text + "': '" + parameter.name +
                              "' must be given: " + parameter.doc);
    }
  }
  if (values["to"] != kPredictions && values["to"] != kBoth) {
    return invalid_argument("postprocess '" + text + "': to is '" + values["to"] +
                            "', expected predictions or both");
  }
  return values;
}

/// The step as an identity holds it: parameters in the order of their declaration.
std::string canonical(const PostprocessStep& step, const Values& values) {
  std::string text = step.name;
  char separator = ':';
  const auto add = [&](const std::string& name, std::string_view default_value) {
    const std::string& value = values.at(name);
    if (value == default_value) return;
    text += separator + name + "=";
    for (char c : value) {
      if (c == ',') text += '\\';
      text += c;
    }
    separator = ',';
  };
  for (const PostprocessParameter& parameter : step.parameters) {
    add(parameter.name, parameter.default_value);
  }
  add("to", kPredictions);
  return text;
}

}  // namespace

const std::vector<PostprocessStep>& postprocess_steps() {
  static const std::vector<PostprocessStep> steps = {
      {"strip_special",
       {{"texts", kSpecial, "the texts, separated by blanks, deleted in this order"}},
       "deletes what tokenizers call special tokens"},
      {"strip_reasoning",
       {{"tag", "think", "the name between < and >"}},
       "deletes <think>…</think>; all after an unclosed <think>, all before a lone </think>"},
      {"replace",
       {{"pattern", "", "a regular expression of ICU"},
        {"with", "", "what each match becomes; $1 is a group", true}},
       "replaces every match of a regular expression"},
      {"cut_at", {{"text", "", "a stop text"}}, "keeps what is before the first occurrence"},
      {"delete_prefix", {{"text", "", "the beginning"}}, "deletes a beginning, if it is there"},
      {"newlines", {{"mark", "", "such as <q> or <n>"}}, "makes line breaks of a mark"},
      {"first_lines", {{"count", "1", "how many"}}, "keeps lines after leading line breaks"},
      {"strip", {}, "deletes white space at both ends"},
      {"squeeze_spaces", {}, "one blank or line break for each run of white space"},
      {"lowercase", {}, "lower case (Unicode, independent of language)"},
  };
  return steps;
}

Result<Postprocess> Postprocess::parse(std::span<const std::string> texts) {
  if (texts.size() > kMaxSteps) {
    return invalid_argument("a postprocess chain has at most 64 steps, this one has " +
                            std::to_string(texts.size()));
  }
  std::vector<std::string> names;
  for (const PostprocessStep& step : postprocess_steps()) names.push_back(step.name);
  Postprocess chain;
  for (const std::string& text : texts) {
    if (first_ill_formed_utf8(text)) return invalid_argument("a postprocess step is not UTF-8");
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string name = text.substr(0, colon);
    const auto step = std::ranges::find(postprocess_steps(), name, &PostprocessStep::name);
    if (step == postprocess_steps().end()) {
      return not_found("unknown postprocess step '" + name + "'" + suggestion(name, names));
    }
    if (colon + 1 == text.size()) {
      return invalid_argument("postprocess '" + text + "': no parameter follows ':'");
    }
    const std::string given = colon < text.size() ? text.substr(colon + 1) : std::string();
    const Result<Values> values = read_values(*step, given, text);
    if (!values) return values.error();
    Result<Apply> apply = make_apply(name, *values);
    if (!apply) {
      Error error = apply.error();
      error.message = "postprocess '" + text + "': " + error.message;
      return error;
    }
    chain.steps_.push_back(
        {canonical(*step, *values), values->at("to") == kBoth, *std::move(apply)});
  }
  return chain;
}

Result<Postprocess> Postprocess::of_chain(const Json& chain) {
  const Result<nlohmann::json> list = parse_json(chain.text, "postprocess chain");
  if (!list) return list.error();
  std::vector<std::string> steps;
  if (!list->is_array()) return data_error("'" + chain.text + "' is no list of steps");
  for (const nlohmann::json& step : *list) {
    if (!step.is_string()) return data_error("'" + chain.text + "' is no list of steps");
    steps.push_back(step.get<std::string>());
  }
  return parse(steps);
}

Json Postprocess::chain() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Step& step : steps_) list.push_back(step.text);
  return *canonical_json(list);
}

Result<std::string> Postprocess::run(std::string text, bool prediction) const {
  if (steps_.empty() || first_ill_formed_utf8(text)) return text;
  for (const Step& step : steps_) {
    if (!prediction && !step.references) continue;
    Result<std::string> next = step.apply(std::move(text));
    if (!next) return next.error();
    text = *std::move(next);
  }
  return text;
}

}  // namespace qfs
