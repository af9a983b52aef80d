#include "datasets/text_forms/text_form.h"

#include <array>

#include "datasets/text_forms/meeting_forms.h"

namespace qfs::datasets {
namespace {

std::string unchanged(std::string_view text) { return std::string(text); }

constexpr std::array kForms = {
    TextForm{"raw", 1, unchanged, unchanged, unchanged, unchanged},
    TextForm{"ideal", 1, lower_cased_speaker, ideal_text, ideal_text, lower_cased_tokens},
    TextForm{"dyle", 1, lower_cased_speaker, dyle_text, dyle_text, lower_cased_tokens},
};

}  // namespace

std::string TextForm::versioned_name() const {
  return std::string(name) + "@" + std::to_string(version);
}

const TextForm* find_text_form(std::string_view name) {
  for (const TextForm& form : kForms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

}  // namespace qfs::datasets
