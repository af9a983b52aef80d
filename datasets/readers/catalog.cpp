#include "datasets/readers/catalog.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "datasets/readers/covidet.h"
#include "datasets/readers/file_set.h"
#include "datasets/readers/mini_meetings.h"
#include "datasets/readers/mini_stories.h"
#include "datasets/readers/qmsum.h"
#include "datasets/readers/record_file.h"
#include "datasets/readers/squality.h"
#include "datasets/source_files.h"
#include "datasets/text_forms/text_form.h"
#include "harness/core/files.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

using RequestKey = std::tuple<std::string, std::string, std::map<std::string, std::string>,
                              std::string, std::string, std::string>;

RequestKey key_of(const DatasetRequest& request) {
  return {request.name,  request.path, request.fields,
          request.split, request.view, request.text_form};
}

/// Fills one choice with its default, or checks it.
Status resolve_choice(std::string_view what, const std::string& dataset,
                      const std::vector<std::string>& choices, std::string& chosen) {
  if (chosen.empty()) {
    chosen = choices.front();
    return {};
  }
  if (std::ranges::find(choices, chosen) != choices.end()) return {};
  return invalid_argument("data set '" + dataset + "' has no " + std::string(what) + " '" + chosen +
                          "'" + suggestion(chosen, choices));
}

class Catalog : public DatasetCatalog {
 public:
  explicit Catalog(std::vector<std::unique_ptr<DatasetReader>> readers)
      : readers_(std::move(readers)) {}

  std::vector<DatasetInfo> list() const override {
    std::vector<DatasetInfo> infos;
    for (const auto& reader : readers_) infos.push_back(reader->info());
    return infos;
  }

  Result<std::shared_ptr<const Dataset>> load(const DatasetRequest& request) const override {
    Result<const DatasetReader*> reader = reader_for(request);
    if (!reader) return reader.error();
    DatasetInfo info = *reader == nullptr ? record_file_info() : (*reader)->info();
    if (*reader == nullptr) info.name = request.path;
    Result<DatasetRequest> resolved = resolve_request(info, request);
    if (!resolved) return resolved.error();

    std::lock_guard lock(mutex_);
    RequestKey key = key_of(*resolved);
    if (auto loaded = loaded_.find(key); loaded != loaded_.end()) return loaded->second;
    Result<Dataset> dataset =
        *reader == nullptr ? read_record_files(*resolved) : (*reader)->read(*resolved);
    if (!dataset) return dataset.error();
    return loaded_.emplace(std::move(key), std::make_shared<const Dataset>(*std::move(dataset)))
        .first->second;
  }

 private:
  /// The reader of a registered name; nullptr for a user's file.
  Result<const DatasetReader*> reader_for(const DatasetRequest& request) const {
    if (!request.path.empty()) {
      if (request.name.empty()) return static_cast<const DatasetReader*>(nullptr);
      return invalid_argument("a data set is a name or a path, not both ('" + request.name +
                              "' and '" + request.path + "')");
    }
    if (!request.fields.empty()) {
      return invalid_argument("a field map belongs to a data set with a path; '" + request.name +
                              "' is a registered name");
    }
    std::vector<std::string> names;
    for (const auto& reader : readers_) {
      names.push_back(reader->info().name);
      if (names.back() == request.name) return reader.get();
    }
    return not_found("unknown data set '" + request.name + "'" + suggestion(request.name, names));
  }

  std::vector<std::unique_ptr<DatasetReader>> readers_;
  mutable std::mutex mutex_;
  mutable std::map<RequestKey, std::shared_ptr<const Dataset>> loaded_;
};

}  // namespace

CatalogOptions default_catalog_options() {
  return {program_data_directory() + "/datasets", default_dataset_roots()};
}

std::string registry_file(const CatalogOptions& options) {
  return options.program_folder + "/registry.json";
}

std::unique_ptr<DatasetCatalog> make_catalog(const CatalogOptions& options) {
  std::vector<std::unique_ptr<DatasetReader>> readers;
  const std::string mini = options.program_folder + "/mini";
  readers.push_back(std::make_unique<MiniMeetingsReader>(mini_meetings(), mini + "/meetings"));
  readers.push_back(std::make_unique<MiniMeetingsReader>(mini_zh(), mini + "/zh"));
  readers.push_back(std::make_unique<MiniStoriesReader>(mini + "/stories"));
  std::string registry = registry_file(options);
  for (const MeetingDomain domain : {MeetingDomain::all, MeetingDomain::product,
                                     MeetingDomain::academic, MeetingDomain::committee}) {
    readers.push_back(std::make_unique<QmsumReader>(domain, registry, options.roots));
  }
  readers.push_back(std::make_unique<SqualityReader>(registry, options.roots));
  readers.push_back(std::make_unique<CovidetReader>(registry, options.roots));
  for (FileSet& set : file_sets()) {
    readers.push_back(std::make_unique<FileSetReader>(std::move(set), registry, options.roots));
  }
  return std::make_unique<Catalog>(std::move(readers));
}

Result<DatasetRequest> resolve_request(const DatasetInfo& info, const DatasetRequest& request) {
  DatasetRequest resolved = request;
  Status status = resolve_choice("split", info.name, info.splits, resolved.split);
  if (!status) return status.error();
  status = resolve_choice("view", info.name, info.views, resolved.view);
  if (!status) return status.error();
  size_t at = resolved.text_form.find('@');
  if (at != std::string::npos) {
    const TextForm* form = find_text_form(resolved.text_form.substr(0, at));
    if (form != nullptr && form->versioned_name() != resolved.text_form) {
      return invalid_argument("text form '" + resolved.text_form +
                              "' is not made any more; this is " + form->versioned_name());
    }
    resolved.text_form.resize(at);
  }
  status = resolve_choice("text form", info.name, info.text_forms, resolved.text_form);
  if (!status) return status.error();
  return resolved;
}

}  // namespace qfs::datasets
