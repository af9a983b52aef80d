#include "datasets/readers/reference_rows.h"

#include <string>
#include <utility>

#include "datasets/identity.h"
#include "datasets/text_forms/text_form.h"

namespace qfs::datasets {

ReferenceView reference_view(std::string_view name) {
  return name == "whole" ? ReferenceView::whole : ReferenceView::per_reference;
}

void append_question(Example question, ReferenceView view, std::vector<Example>& examples) {
  question.key = question.group;
  if (view == ReferenceView::whole) {
    examples.push_back(std::move(question));
    return;
  }
  std::vector<std::string> references = std::exchange(question.references, {});
  for (size_t i = 0; i < references.size(); ++i) {
    Example row = question;
    row.key = question.group + "/r" + std::to_string(i + 1);
    row.references = {std::move(references[i])};
    examples.push_back(std::move(row));
  }
}

Result<Dataset> seal_questions(const DatasetRequest& request, DatasetManifest manifest,
                               std::vector<Example> examples) {
  Dataset dataset;
  dataset.manifest = std::move(manifest);
  dataset.manifest.split = request.split;
  dataset.manifest.view = request.view;
  dataset.manifest.text_form = find_text_form(request.text_form)->versioned_name();
  dataset.examples = std::move(examples);
  Status sealed = seal(dataset);
  if (!sealed) return sealed.error();
  return dataset;
}

}  // namespace qfs::datasets
