#include "methods/tensor_sessions.h"

#include "methods/ideal/sessions.h"
#include "methods/lora/session.h"
#include "methods/zero_shot/session.h"

namespace qfs::methods {

std::vector<SessionFactory> torch_sessions() {
  std::vector<SessionFactory> sessions = {zero_shot::session_factory(),
                                          zero_shot::chunk_merge_factory(),
                                          zero_shot::refine_factory(), lora::session_factory()};
  for (SessionFactory& factory : ideal::session_factories()) {
    sessions.push_back(std::move(factory));
  }
  return sessions;
}

}  // namespace qfs::methods
