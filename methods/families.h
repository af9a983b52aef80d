// The explicit list of method specifications and the catalogue made of it: what the driver knows
// about methods, backbones and tokenizers before anything runs.
//
// Called by the command line and by both executables. Stateless; thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "harness/api/method.h"

namespace qfs::methods {

/// Every built-in method, in the order in which `list methods` shows them.
std::vector<std::shared_ptr<const MethodSpec>> builtin_specs();

/// The built-in methods with the backbone registry behind qfs::MethodCatalog.
std::unique_ptr<MethodCatalog> make_method_catalog();

}  // namespace qfs::methods
