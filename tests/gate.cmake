qfs_test(gate_test LABEL unit
  SOURCES
    unit/gate/bands_test.cpp
    unit/gate/baseline_test.cpp
    unit/gate/policy_test.cpp
    unit/gate/simulation_test.cpp
  LINK qfs_gate)
