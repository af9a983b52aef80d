#include "methods/models/prompting/chat/chat_inputs.h"

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/core/json_dom.h"

namespace qfs::prompting {

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

Status check_chat_inputs(const std::optional<std::string>& date, const std::string& variables) {
  if (date && !is_date(*date)) {
    return invalid_argument("'chat_date' is '" + *date + "', no date such as 2024-07-26");
  }
  return check_variables(variables);
}

}  // namespace qfs::prompting
