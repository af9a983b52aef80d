#include "methods/tensor_sessions.h"

#include "methods/compressors/sessions.h"
#include "methods/dyle/session.h"
#include "methods/egad/session.h"
#include "methods/finetune/session.h"
#include "methods/ideal/sessions.h"
#include "methods/locator/session.h"
#include "methods/lora/session.h"
#include "methods/retrieve_generate/session.h"
#include "methods/unlimiformer/session.h"
#include "methods/zero_shot/session.h"

namespace qfs::methods {

std::vector<SessionFactory> torch_sessions() {
  std::vector<SessionFactory> sessions = {
      zero_shot::session_factory(), zero_shot::chunk_merge_factory(), zero_shot::refine_factory(),
      lora::session_factory(), finetune::session_factory()};
  for (auto factories : {&ideal::session_factories, &compressors::session_factories}) {
    for (SessionFactory& factory : factories()) sessions.push_back(std::move(factory));
  }
  sessions.push_back(dyle::session_factory());
  sessions.push_back(locator::session_factory());
  sessions.push_back(egad::session_factory());
  sessions.push_back(retrieve_generate::session_factory());
  sessions.push_back(unlimiformer::session_factory());
  return sessions;
}

}  // namespace qfs::methods
