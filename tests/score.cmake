qfs_test(score_test LABEL unit SOURCES unit/score/test_score.cpp unit/score/text_scorer_test.cpp LINK qfs_score)
if(EXISTS /dev/shm)
  set_property(TEST score_test APPEND PROPERTY ENVIRONMENT "TMPDIR=/dev/shm")
endif()
