#include "datasets/readers/file_set.h"

#include <algorithm>
#include <iterator>

#include "datasets/readers/reference_rows.h"
#include "datasets/registry.h"
#include "datasets/source_files.h"
#include "datasets/text_forms/text_form.h"

namespace qfs::datasets {
namespace {

/// A set as it lies on this machine.
struct OpenSet {
  std::unique_ptr<SetFiles> files;
  DatasetManifest manifest;
};

Result<OpenSet> open_registered(const std::string& name, const std::string& registry_path,
                                const std::vector<std::string>& roots) {
  Result<RegistryEntry> entry = registry_entry(registry_path, name);
  if (!entry) return entry.error();
  Result<std::unique_ptr<SetFiles>> files = pinned_files(*entry, roots);
  if (!files) return files.error();
  return OpenSet{*std::move(files), manifest_of(*entry)};
}

Result<OpenSet> open_found(const FileSet& set, const std::vector<std::string>& roots) {
  Result<std::string> folder = locate_folder(set.info.name, set.folder, roots,
                                             "it cannot be fetched; put " + set.layout + " there");
  if (!folder) return folder.error();
  OpenSet open{files_below(*folder, set.info.name, set.layout), {}};
  open.manifest.name = set.info.name;
  open.manifest.licence = set.info.licence;
  open.manifest.source = set.source;
  open.manifest.no_redistribution = set.no_redistribution;
  return open;
}

}  // namespace

std::vector<FileSet> file_sets() {
  std::vector<FileSet> sets;
  for (const auto& of_format : {hmnet_sets, cicero_sets, cola_sets, duc_sets, govreport_sets,
                                record_sets, scientific_papers_sets, vcsum_sets, xsum_sets}) {
    std::ranges::move(of_format(), std::back_inserter(sets));
  }
  std::ranges::sort(sets, {}, [](const FileSet& set) { return set.info.name; });
  return sets;
}

bool is_brought(const std::string& name) {
  return std::ranges::any_of(file_sets(), [&](const FileSet& set) {
    return set.info.name == name && !set.layout.empty();
  });
}

Result<Dataset> FileSetReader::read(const DatasetRequest& request) const {
  Result<OpenSet> open = set_.layout.empty()
                             ? open_registered(set_.info.name, registry_path_, roots_)
                             : open_found(set_, roots_);
  if (!open) return open.error();
  Result<std::vector<Example>> read = set_.examples(*open->files, request);
  if (!read) return read.error();
  std::vector<Example> examples;
  const TextForm* form = find_text_form(request.text_form);
  if (form == nullptr) return internal_error("unresolved text form '" + request.text_form + "'");
  for (Example& example : *read) {
    const Example published = form->pieces == nullptr ? Example() : example;
    apply_text_form(*form, example);
    if (form->pieces && set_.left_out && set_.left_out(published, example)) continue;
    example.group = example.key;
    if (example.document_id.empty()) example.document_id = example.key;
    append_question(std::move(example), reference_view(request.view), examples);
  }
  open->manifest.reader = set_.reader;
  open->manifest.files = open->files->loaded();
  return seal_questions(request, std::move(open->manifest), std::move(examples));
}

}  // namespace qfs::datasets
