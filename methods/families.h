// The one table of the families of methods: what the driver knows about methods, backbones and
// tokenizers before anything runs, and which source code makes a method's outputs.
//
// Called by the command line and by both executables; sessions are listed beside it
// (light_sessions.h, tensor_sessions.h), and a test compares the three. Stateless; thread-safe.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "harness/core/foreign_names.h"

namespace qfs::methods {

/// Every built-in method, in the order in which `list methods` shows them.
std::vector<std::shared_ptr<const MethodSpec>> builtin_specs();

/// The built-in methods with the backbone registry behind qfs::MethodCatalog.
std::unique_ptr<MethodCatalog> make_method_catalog();

/// What other programs call parameters of these methods.
ForeignNames foreign_names();

/// The values of parameters that nobody gives.
Params default_params(const MethodSpec& spec);

/// Every layer that cells of a method may rest on: MethodSpec::layers for each architecture.
std::vector<std::string> all_layers(const MethodSpec& spec);

struct FamilySource {
  std::string_view family;  ///< the name of a folder in methods/
  std::string_view digest;  ///< SHA-256, hex
};

/// Digests of the families' folders and of all that they include under methods/ and metrics/
/// (cmake/SourceClosure.cmake), taken at build time.
std::span<const FamilySource> family_sources();

/// The digest of its family by name of every built-in method. Hosts report it when they are probed,
/// stores keep it with every attempt, and a sweep warns when it reuses outputs that other code made
/// under the same versions. It is in no id: what forces recomputation is MethodSpec::version() and
/// layers().
std::map<std::string, std::string> method_sources();

}  // namespace qfs::methods
