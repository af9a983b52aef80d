// What is changed in a tokenizer.json before it is read: classes of transformers build parts of the
// pipeline themselves and leave the file's.
//
// Called by read_json_tokenizer. Pure; thread-safe. Source: transformers 5.23.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "methods/models/tokenizers/pipeline/pre_tokenizer.h"

namespace qfs::tokenizers {

/// A switch of one kind of part that holds instead of the one in the file.
struct JsonSwitch {
  std::string part;    ///< "normalizer" or "pre_tokenizer"
  std::string type;    ///< of the part; another one keeps what it has
  std::string member;  ///< "lowercase", …
  bool value = false;
};

struct JsonOverrides {
  std::vector<JsonSwitch> switches;
  std::optional<PrependScheme> space_marks;  ///< set_space_marks
  bool clean_up = false;                     ///< make_clean_up_decoder, where the model is no BPE
};

void set_switch(const JsonSwitch& one, nlohmann::json& document);

/// Marks spaces as the class LlamaTokenizer does (tokenization_llama.py), in a file of BPE that
/// does nothing else with a text than marking its spaces; other files stay as they are.
void set_space_marks(PrependScheme scheme, nlohmann::json& document);

}  // namespace qfs::tokenizers
