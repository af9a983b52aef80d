qfs_test(plan_test LABEL unit
  SOURCES unit/plan/bad_input_test.cpp unit/plan/expand_test.cpp unit/plan/filter_test.cpp
          unit/plan/identity_test.cpp unit/plan/plan_test.cpp unit/plan/select_test.cpp
          unit/plan/shards_test.cpp unit/plan/trained_rows_test.cpp unit/plan/training_data_test.cpp
          unit/plan/training_test.cpp
          support/plan_fakes.cpp
  LINK qfs_plan qfs_config)
qfs_test(plan_property_test LABEL property
  SOURCES property/plan/plan_property_test.cpp support/plan_fakes.cpp
  LINK qfs_plan qfs_config rapidcheck)
