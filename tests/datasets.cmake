# Data sets: readers, identity, catalog, text forms, checks, fetching.
qfs_test(datasets_test LABEL unit
  SOURCES
    unit/datasets/broken_records_test.cpp
    unit/datasets/catalog_test.cpp
    unit/datasets/check_test.cpp
    unit/datasets/csv_test.cpp
    unit/datasets/fetch_test.cpp
    unit/datasets/file_sets_test.cpp
    unit/datasets/identity_test.cpp
    unit/datasets/meeting_test.cpp
    unit/datasets/prediction_fields_test.cpp
    unit/datasets/python_list_test.cpp
    unit/datasets/record_file_test.cpp
    unit/datasets/record_test.cpp
    unit/datasets/registered_sets_test.cpp
    unit/datasets/registry_test.cpp
    unit/datasets/segments_test.cpp
    unit/datasets/statistics_test.cpp
    unit/datasets/text_form_test.cpp
    golden/datasets/mini_meetings_test.cpp
    golden/datasets/mini_stories_test.cpp
    golden/datasets/mini_zh_test.cpp
    property/datasets/round_trip_test.cpp
    support/http_server.cpp
  LINK qfs_datasets rapidcheck_gtest)

qfs_test(datasets_conformance LABEL conformance
  SOURCES
    conformance/datasets/file_sets_test.cpp
    conformance/datasets/registered_sets_test.cpp
    conformance/datasets/word_tokens_test.cpp
  LINK qfs_datasets)

qfs_fuzz(datasets_fuzz_csv SOURCES fuzz/datasets/fuzz_csv.cpp LINK qfs_datasets)
qfs_fuzz(datasets_fuzz_file_sets SOURCES fuzz/datasets/fuzz_file_sets.cpp LINK qfs_datasets)
qfs_fuzz(datasets_fuzz_meeting SOURCES fuzz/datasets/fuzz_meeting.cpp LINK qfs_datasets)
qfs_fuzz(datasets_fuzz_questions SOURCES fuzz/datasets/fuzz_questions.cpp LINK qfs_datasets)
qfs_fuzz(datasets_fuzz_record SOURCES fuzz/datasets/fuzz_record.cpp LINK qfs_datasets)
qfs_fuzz(datasets_fuzz_predictions SOURCES fuzz/datasets/fuzz_predictions.cpp LINK qfs_datasets)
