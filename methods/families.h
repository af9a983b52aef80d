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

/// Every layer that cells of a method may rest on: MethodSpec::layers for each architecture
/// and each choice of a parameter.
std::vector<std::string> all_layers(const MethodSpec& spec);

/// The code of a layer (methods/layers.txt).
struct LayerSource {
  std::string_view layer;   ///< without its version
  std::string_view digest;  ///< SHA-256 over tokens, hex: comments and white space are not in it
};

/// A part of the code of a family: what belongs to these layers and to no other.
struct FamilySource {
  std::string_view family;  ///< the name of a folder in methods/
  std::string_view layers;  ///< with spaces between them; empty: no layer's
  std::string_view digest;
};

/// Taken at build time from the sources (cmake/source_digests.cpp).
std::span<const LayerSource> layer_sources();
std::span<const FamilySource> family_sources();

/// Digests of code by name of a layer, and of what of the code of a built-in method is in none of
/// its layers, by name of the method. Hosts report both when they are probed, stores keep them with
/// every attempt, and a sweep warns when it reuses outputs that other code made under the same
/// versions. They are in no id: what forces recomputation is MethodSpec::version() and layers().
std::map<std::string, std::string> layer_digests();
std::map<std::string, std::string> method_sources();

}  // namespace qfs::methods
