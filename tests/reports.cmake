qfs_test(reports_test LABEL unit
  SOURCES
    unit/reports/escape_test.cpp
    unit/reports/layout_test.cpp
    unit/reports/report_test.cpp
    unit/reports/sample_sweep.cpp
    unit/reports/served_test.cpp
    golden/reports/report_golden_test.cpp
  LINK qfs_reports qfs_store nlohmann_json::nlohmann_json)
