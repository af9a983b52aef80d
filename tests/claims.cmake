qfs_test(claims_test LABEL unit
  SOURCES
    support/plan_fakes.cpp
    unit/claims/collection_test.cpp
    unit/claims/counts_test.cpp
    unit/claims/decode_test.cpp
    unit/claims/evaluate_test.cpp
    unit/claims/printed_test.cpp
    unit/claims/spot_check_test.cpp
    unit/claims/verify_table_test.cpp
  LINK qfs_claims nlohmann_json::nlohmann_json)
qfs_fuzz(claims_fuzz SOURCES fuzz/claims/fuzz_claims.cpp LINK qfs_claims)
if(EXISTS /dev/shm)
  set_property(TEST claims_test APPEND PROPERTY ENVIRONMENT "TMPDIR=/dev/shm")
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME claims_schemas
  COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/golden/claims/test_schemas.py
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(claims_schemas PROPERTIES LABELS golden TIMEOUT 60 SKIP_RETURN_CODE 77)
