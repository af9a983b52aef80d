// Which source code makes the outputs of a method: a digest of its family's folder and of all that
// it includes under methods/ and metrics/ (cmake/SourceClosure.cmake), taken at build time.
//
// Hosts report it when they are probed, stores keep it with every attempt, and a sweep warns when
// it reuses outputs that other code made under the same versions. It is in no id: what forces
// recomputation is MethodSpec::version() and layers(). Immutable; thread-safe; cannot fail.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace qfs::methods {

struct FamilySource {
  std::string_view family;  ///< the name of a folder in methods/
  std::string_view digest;  ///< SHA-256, hex
};

std::span<const FamilySource> family_sources();

/// The digest by name of every built-in method.
std::map<std::string, std::string> method_sources();

}  // namespace qfs::methods
