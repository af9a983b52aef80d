qfs_test(score_test LABEL unit
  SOURCES
    unit/score/explain_diff_test.cpp
    unit/score/match_targets_test.cpp
    unit/score/test_score.cpp
    unit/score/text_matches_test.cpp
    unit/score/text_scorer_test.cpp
  LINK qfs_score qfs_metrics)
qfs_fuzz(score_fuzz_signatures SOURCES fuzz/score/fuzz_signatures.cpp LINK qfs_score)
if(EXISTS /dev/shm)
  set_property(TEST score_test APPEND PROPERTY ENVIRONMENT "TMPDIR=/dev/shm")
endif()
