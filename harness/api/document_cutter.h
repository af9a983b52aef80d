// The cut of documents for programs of the user, which the driver cannot make since it never counts
// tokens: a session of the light host makes it on the way.
//
// Spoken of by the session (methods/external), by the driver that asks it (harness/run) and by the
// spec of such a program (harness/host). The session has the parameters below, gives predictions
// without a text, and says in `extra` where the tokens of each kept piece end:
// {"token_ends": [[3, 9], …]}, in bytes from the piece's beginning.
#pragma once

#include <string_view>

namespace qfs {

inline constexpr std::string_view kDocumentCutter = "document_cutter";
/// Parameters of every external method.
inline constexpr const char* kLocalContext = "local_context";
inline constexpr const char* kTruncate = "truncate";
inline constexpr const char* kTokenEnds = "token_ends";
/// Version of the cut; part of the ids of cells that it is made for.
inline constexpr const char* kTruncationLayer = "truncation@1";

}  // namespace qfs
