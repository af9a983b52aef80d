// Short ways to write a DatasetRequest in tests of data sets: what is not chosen keeps its default.
//
// Plain functions; thread-safe, cannot fail.
#pragma once

#include <string>

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

}  // namespace qfs::datasets
