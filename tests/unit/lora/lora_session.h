// The fixture of lora's tests: sessions on tiny models in a folder that goes with the test.
//
// Used by the tests of lora_test. What fails is a failure of the test; single-threaded.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "methods/lora/session.h"
#include "methods/lora/spec.h"
#include "methods/models/registry/registry.h"
#include "tests/support/tiny_seq2seq.h"
#include "tests/support/trained_session.h"

namespace qfs::lora {

class LoraSessionTest : public qfs::test::TrainedSessionTest {
 protected:
  LoraSessionTest() : TrainedSessionTest(LoraSpec(), session_factory()) {}

  void use_llama() { TrainedSessionTest::use_llama({}, "D: {document}\nQ: {query}\nA:"); }
  void use_seq2seq(const qfs::test::TinySeq2Seq& tiny) {
    const auto resource = registry::resolve_backbone(tiny.write(folder_));
    ASSERT_TRUE(resource.ok()) << resource.error().to_string();
    request_.backbone = *resource;
  }
  std::string trained_bytes(const std::string& name) {
    return *read_file(folder_ / (name + "/adapter_model.safetensors"));
  }
};

}  // namespace qfs::lora
