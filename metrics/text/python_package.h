// Where data of metrics may come from: packages of the machine's Python.
//
// Called by jieba's and Punkt's files.
#pragma once

#include <string>

namespace qfs::metrics {

/// The folder of the package that python3 would import by this name, without importing it; empty
/// when there is none. PATH decides which python3, so that an activated virtual environment is
/// seen; the working directory is not.
std::string python_package_folder(const std::string& package);

}  // namespace qfs::metrics
