#include <limits>
#include <nlohmann/json.hpp>

#include "harness/config/sections.h"

namespace qfs::config {

namespace {

constexpr std::string_view kKeys[] = {"drawn_by", "fields", "name",      "path",
                                      "sample",   "split",  "text_form", "view"};

bool is_field_name(std::string_view name) {
  if (name.empty()) return false;
  for (char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

}  // namespace

DatasetEntry decode_dataset(const Node& node) {
  DatasetEntry entry;
  entry.pointer = node.pointer();
  if (!node.is_object(R"(a data set such as {"name": …} or {"path": …, "fields": {…}})")) {
    return entry;
  }
  node.only_keys(kKeys);
  const auto name = node.find("name");
  const auto path = node.find("path");
  if (name.has_value() == path.has_value()) {
    node.fail("a data set has either 'name' (a registered one) or 'path' (a file)");
  }
  DatasetRequest& request = entry.request;
  if (name) request.name = name->text("the name of a registered data set");
  if (path) request.path = path->text("the path of a file");
  if (const auto fields = node.find("fields")) {
    if (!path) fields->fail("'fields' belongs to a data set with 'path'");
    fields->is_object("an object from our field to the file's");
    for (const auto& [field, theirs] : fields->members()) {
      if (!is_field_name(field)) theirs.fail("'" + field + "' is not a field of an example");
      // An empty name says that the data have no such field.
      const bool none = theirs.value().is_string() && theirs.value() == "";
      request.fields[field] = none ? "" : theirs.text("the name of a field in the file");
    }
    if (fields->members().empty()) fields->fail("'fields' is empty");
  }
  if (const auto split = node.find("split")) request.split = split->text();
  if (const auto view = node.find("view")) request.view = view->text();
  if (const auto form = node.find("text_form")) request.text_form = form->text();
  if (const auto sample = node.find("sample")) {
    entry.sample = sample->integer(1, std::numeric_limits<int64_t>::max());
  }
  if (const auto drawn = node.find("drawn_by")) {
    entry.drawn_by_seed = drawn->text("\"seed\"") == "seed";
    if (!entry.drawn_by_seed) drawn->fail("a sample is drawn by 'seed', or the same for all");
    if (!entry.sample) drawn->fail("'drawn_by' belongs to a data set with 'sample'");
  }
  return entry;
}

std::vector<DatasetEntry> decode_datasets(const Node& node) {
  std::vector<DatasetEntry> entries;
  for (const Node& item : node.items("a list of data sets")) {
    DatasetEntry entry = decode_dataset(item);
    if (const auto drawn = item.find("drawn_by")) {
      drawn->fail("what is scored is the same for all seeds; only a training has samples by seed");
    }
    for (const DatasetEntry& earlier : entries) {
      if (earlier.request == entry.request && earlier.sample == entry.sample) {
        item.fail("the same data set is at " + earlier.pointer);
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace qfs::config
