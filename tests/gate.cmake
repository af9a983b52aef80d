qfs_test(gate_test LABEL unit
  SOURCES
    unit/gate/bands_test.cpp
    unit/gate/baseline_test.cpp
    unit/gate/policy_test.cpp
    unit/gate/simulation_test.cpp
  LINK qfs_gate)
qfs_fuzz(gate_fuzz_files SOURCES fuzz/gate/fuzz_gate_files.cpp LINK qfs_gate)
