qfs_test(extractive_test LABEL unit
  SOURCES
    support/extractive_fixture.cpp
    unit/extractive/chinese_test.cpp
    unit/extractive/dyle_test.cpp
    unit/extractive/methods_test.cpp
    unit/extractive/sentences_test.cpp
    unit/extractive/session_test.cpp
  LINK qfs_extractive)
qfs_test(extractive_property_test LABEL property
  SOURCES
    property/extractive/extractive_property_test.cpp
    support/extractive_fixture.cpp
    support/random_texts.cpp
  LINK qfs_extractive)
qfs_test(extractive_conformance_test LABEL conformance
  SOURCES
    conformance/extractive/bundled_sets_test.cpp
    conformance/extractive/dyle_oracle_test.cpp
    conformance/extractive/reading_more_helps_test.cpp
    support/extractive_fixture.cpp
  LINK qfs_extractive qfs_datasets)
