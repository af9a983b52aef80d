#include "tests/support/fake_graphs.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace qfs::test {

namespace {

FakeGraphs& counts() {
  static FakeGraphs graphs;
  return graphs;
}

void* record(int, const std::function<void()>& work) {
  if (!counts().failure.empty()) throw std::runtime_error(counts().failure);
  work();
  ++counts().recorded;
  void* made = new std::function<void()>(work);
  counts().alive.insert(made);
  return made;
}

void replay(void* record) {
  ASSERT_TRUE(counts().alive.contains(record)) << "a forgotten record is replayed";
  ++counts().replayed;
  (*static_cast<std::function<void()>*>(record))();
}

void forget(void* record) {
  ASSERT_EQ(counts().alive.erase(record), 1u) << "forgotten twice";
  delete static_cast<std::function<void()>*>(record);
}

}  // namespace

FakeGraphs& FakeGraphs::fresh() {
  EXPECT_TRUE(counts().alive.empty()) << "records of an earlier model are left";
  return counts() = {};
}

const kernels::DeviceGraphs& FakeGraphs::table() {
  static constexpr kernels::DeviceGraphs kTable{&record, &replay, &forget};
  return kTable;
}

}  // namespace qfs::test
