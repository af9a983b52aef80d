qfs_test(test_host LABEL unit
  SOURCES unit/host/test_messages.cpp unit/host/test_client.cpp unit/host/test_limits.cpp unit/host/test_protocol_document.cpp
          unit/host/test_described_spec.cpp unit/host/test_metric_session.cpp unit/host/test_training_session.cpp
  LINK qfs_host qfs_prompting)
qfs_fuzz(host_fuzz_messages SOURCES fuzz/host/fuzz_messages.cpp LINK qfs_host)
