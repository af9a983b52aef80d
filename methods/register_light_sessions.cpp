#include "methods/register_light_sessions.h"

#include "methods/extractive/sessions.h"

namespace qfs::methods {

std::vector<SessionFactory> light_sessions() { return extractive::extractive_sessions(); }

}  // namespace qfs::methods
