// Short ways to write a DatasetRequest in tests of data sets, and to read what it names: what is
// not chosen keeps its default.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "datasets/readers/catalog.h"
#include "harness/api/dataset.h"

namespace qfs::datasets {

struct Choice {
  std::string split = "";
  std::string view = "";
  std::string text_form = "";
};

/// A registered set; what is not chosen is left to its defaults.
inline DatasetRequest named(const std::string& name, const Choice& choice = {}) {
  DatasetRequest request;
  request.name = name;
  request.split = choice.split;
  request.view = choice.view;
  request.text_form = choice.text_form;
  return request;
}

/// A user's file or folder.
inline DatasetRequest file(const std::string& path,
                           const std::map<std::string, std::string>& fields = {}) {
  DatasetRequest request;
  request.path = path;
  request.fields = fields;
  return request;
}

/// One of the repository's own sets; an empty one and a failure when it cannot be read.
inline std::shared_ptr<const Dataset> load_bundled(const DatasetRequest& request) {
  auto loaded = make_catalog({"datasets", {}})->load(request);
  EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
  return loaded ? *loaded : std::make_shared<const Dataset>();
}

}  // namespace qfs::datasets
