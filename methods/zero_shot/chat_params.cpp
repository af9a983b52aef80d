#include "methods/zero_shot/chat_params.h"

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/api/param_specs.h"
#include "harness/core/json_dom.h"

namespace qfs::zero_shot {

namespace {

/// "2024-07-26".
bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](size_t begin, size_t size) {
    unsigned value = 0;
    const char* const end = text.data() + begin + size;
    return std::from_chars(text.data() + begin, end, value).ptr == end ? value : 0U;
  };
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number(0, 4))),
                                         std::chrono::month(number(5, 2)),
                                         std::chrono::day(number(8, 2)));
  return number(0, 4) > 0 && date.ok();
}

Status check_variables(const std::string& text) {
  const Result<nlohmann::json> variables = parse_json(text, "'chat_variables'");
  if (!variables.ok() || !variables->is_object()) {
    return invalid_argument(
        "'chat_variables' is a JSON object from names in the chat template to values" +
        (variables.ok() ? "" : ": " + variables.error().message));
  }
  for (const char* name : {"messages", "add_generation_prompt", "bos_token", "eos_token"}) {
    if (!variables->contains(name)) continue;
    return invalid_argument("'chat_variables': '" + std::string(name) + "' is set by the program");
  }
  return {};
}

}  // namespace

std::vector<ParamSpec> chat_params() {
  return {text_param("system", "System message; the chat template's own when left out"),
          flag_param("chat", true, "Wrap the prompt in the backbone's chat template"),
          text_param("chat_date", "What a chat template takes for today, as 2024-07-26"),
          text_param("chat_variables",
                     "Object of more variables for the chat template: enable_thinking, …")};
}

Status check_chat(const Params& params) {
  for (const char* name : {"system", "chat_date", "chat_variables"}) {
    if (params.has(name) && !params.get<bool>("chat")) {
      return invalid_argument("'" + std::string(name) +
                              "' needs \"chat\": true; a plain prompt has no roles");
    }
  }
  const auto date = params.find<std::string>("chat_date");
  if (date && !is_date(*date)) {
    return invalid_argument("'chat_date' is '" + *date + "', no date such as 2024-07-26");
  }
  const auto variables = params.find<std::string>("chat_variables");
  return variables ? check_variables(*variables) : Status();
}

}  // namespace qfs::zero_shot
