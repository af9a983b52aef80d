# Third-party libraries, all from the distribution; LibTorch through FindLibTorch.cmake.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(ICU 72 REQUIRED COMPONENTS uc i18n data)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
if(QFS_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)  # with jsonschema, or its tests skip
  find_package(rapidcheck REQUIRED)  # targets rapidcheck, rapidcheck_gtest
endif()
if(QFS_TORCH)
  find_package(LibTorch REQUIRED)
endif()
