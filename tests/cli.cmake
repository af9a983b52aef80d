qfs_test(cli_test LABEL unit
  SOURCES
    support/plan_fakes.cpp
    unit/cli/doctor_test.cpp
    unit/cli/exit_codes_test.cpp
    unit/cli/explain_text_test.cpp
    unit/cli/gate_output_test.cpp
    unit/cli/match_test.cpp
    unit/cli/output_test.cpp
    unit/cli/progress_test.cpp
    unit/cli/registration_test.cpp
  LINK qfs_cli qfs_light_sessions)

# The built program, driven as its users drive it.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET qfs-bench)
  foreach(name test_archive test_arguments test_bad_input test_claims test_commands test_compare test_compare_files test_completion test_document_metrics test_empty_outputs test_gate test_gate_ci test_gate_script test_read_store test_records test_report_page test_results test_rouge155
               test_runs_and_filters test_score_files test_score_import test_score_importers test_seeds test_site
               test_special_files test_tables test_tokenizer_files test_watch test_written_files)
    add_test(NAME ${name}
      COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/cli/${name}.py
              $<TARGET_FILE:qfs-bench>)
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
  endforeach()
endif()
# Scores of the default sweep against those that are committed, as CI has it.
if(TARGET qfs-bench AND NOT QFS_SANITIZE)
  add_test(NAME gate_of_the_default_sweep COMMAND ${PROJECT_SOURCE_DIR}/.ci/gate $<TARGET_FILE:qfs-bench>)
  set_tests_properties(gate_of_the_default_sweep PROPERTIES LABELS golden TIMEOUT 600)
endif()
# Models are read in qfs-host.
if(TARGET qfs-bench AND TARGET qfs-host)
  foreach(name test_bert_score_compat test_bertscore test_dyle test_few_shot test_finetune test_keywords test_locator test_model test_paper_plans test_reproduce_training test_roofline)
    add_test(NAME ${name}
      COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/cli/${name}.py $<TARGET_FILE:qfs-bench>)
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
  endforeach()
endif()
