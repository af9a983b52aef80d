// document_cutter: the session that cuts documents for the user's own programs.
//
// In the light host; asked by the driver, and no method of any sweep. Protocol: harness/api/
// document_cutter.h. Errors of `open` are those of the tokenizer's file.
#pragma once

#include "harness/api/method.h"

namespace qfs::external {

SessionFactory document_cutter();

}  // namespace qfs::external
