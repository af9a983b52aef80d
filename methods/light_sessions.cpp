#include "methods/light_sessions.h"

#include "methods/endpoint/session.h"
#include "methods/extractive/sessions.h"

namespace qfs::methods {

std::vector<SessionFactory> light_sessions() {
  std::vector<SessionFactory> sessions = extractive::extractive_sessions();
  sessions.push_back(endpoint::session_factory());
  return sessions;
}

}  // namespace qfs::methods
