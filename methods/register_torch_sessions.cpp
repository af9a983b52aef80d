#include "methods/register_torch_sessions.h"

#include "methods/zero_shot/session.h"

namespace qfs::methods {

std::vector<SessionFactory> torch_sessions() { return {zero_shot::session_factory()}; }

}  // namespace qfs::methods
