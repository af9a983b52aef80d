// The sessions of `unlimiformer`: one that trains, one that writes.
//
// Opened by the tensor host. Not thread-safe. Errors: those of `zero_shot`, `lora` and `finetune`;
// `unavailable` for an encoder with windowed attention, another device than the CPU and another
// type than float32 (a training on the beginnings of sources runs where `lora` does); `data` for a
// file that was trained in another mode.
#pragma once

#include "harness/api/method.h"

namespace qfs::unlimiformer {

SessionFactory session_factory();

}  // namespace qfs::unlimiformer
