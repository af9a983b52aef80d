qfs_test(reports_test LABEL unit
  SOURCES
    unit/reports/differences_test.cpp
    unit/reports/escape_test.cpp
    unit/reports/figure_test.cpp
    unit/reports/front_test.cpp
    unit/reports/gate_map_test.cpp
    unit/reports/layout_test.cpp
    unit/reports/page_test.cpp
    unit/reports/report_test.cpp
    unit/reports/sample_sweep.cpp
    unit/reports/seeds_test.cpp
    unit/reports/output_facts_test.cpp
    golden/reports/claim_text_test.cpp
    unit/reports/marks_test.cpp
    unit/reports/methods_text_test.cpp
    golden/reports/latex_test.cpp
    golden/reports/paper_golden_test.cpp
    golden/reports/report_golden_test.cpp
  LINK qfs_reports qfs_store nlohmann_json::nlohmann_json)
