#include "methods/models/prompted/chat_params.h"

#include <string>

#include "harness/api/param_specs.h"
#include "methods/models/prompting/chat/chat_inputs.h"

namespace qfs::prompted {

std::vector<ParamSpec> chat_params() {
  return {text_param("system", "System message; the chat template's own when left out"),
          flag_param("chat", true, "Wrap the prompt in the backbone's chat template"),
          text_param("chat_date", "What a chat template takes for today, as 2024-07-26"),
          text_param("chat_variables",
                     "Object of more variables for the chat template: enable_thinking, …")};
}

Status check_chat(const Params& params) {
  for (const char* name : {"system", "chat_date", "chat_variables"}) {
    if (params.has(name) && !params.find<bool>("chat").value_or(false)) {
      return invalid_argument("'" + std::string(name) +
                              "' needs \"chat\": true; a plain prompt has no roles");
    }
  }
  return prompting::check_chat_inputs(params.find<std::string>("chat_date"),
                                      params.find<std::string>("chat_variables").value_or("{}"));
}

void add_chat_params(const Params& params, prompting::ChatSettings& settings) {
  settings.date = params.find<std::string>("chat_date");
  settings.variables = params.find<std::string>("chat_variables").value_or("{}");
}

}  // namespace qfs::prompted
