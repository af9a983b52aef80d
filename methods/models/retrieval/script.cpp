#include "methods/models/retrieval/script.h"

namespace qfs::retrieval {

std::vector<std::string> script_names() { return {"latin", "chinese"}; }

std::optional<Script> script_from(std::string_view name) {
  if (name == "latin") return Script::latin;
  if (name == "chinese") return Script::chinese;
  return std::nullopt;
}

Script script_of_language(std::string_view language) {
  return language == "zh" || language.starts_with("zh-") ? Script::chinese : Script::latin;
}

}  // namespace qfs::retrieval
