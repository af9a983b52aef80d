qfs_fuzz(endpoint_fuzz_answers SOURCES fuzz/endpoint/fuzz_answers.cpp LINK qfs_endpoint)
