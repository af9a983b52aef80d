# Third-party libraries, all from the distribution; LibTorch through FindLibTorch.cmake.
find_package(ICU 72 REQUIRED COMPONENTS uc i18n data)
# A library that every Linux has, which wheels may expect; the archive of it would ask for a newer glibc.
find_package(EXPAT REQUIRED)
if(QFS_STATIC)
  # A program that runs where none of these is installed; they come as archives too. ICU's archives cannot go into
  # a shared object, so its libraries travel along (harness/apps/python).
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(OPENSSL_USE_STATIC_LIBS ON)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(RapidJSON 1.1 REQUIRED)  # headers only
find_package(CLI11 2.1 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

# What is linked under one name in both kinds of build. fmt and spdlog in their header-only forms: they have no
# archives, and what all builds compile alike they can share (ccache).
add_library(qfs_fmt INTERFACE)
target_link_libraries(qfs_fmt INTERFACE fmt::fmt-header-only)
add_library(qfs_spdlog INTERFACE)
target_compile_definitions(qfs_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_link_libraries(qfs_spdlog INTERFACE qfs_fmt Threads::Threads)
add_library(qfs_zstd INTERFACE)
if(QFS_STATIC)
  find_library(QFS_ZSTD_ARCHIVE NAMES zstd REQUIRED)
  target_link_libraries(qfs_zstd INTERFACE ${QFS_ZSTD_ARCHIVE})
else()
  target_link_libraries(qfs_zstd INTERFACE PkgConfig::ZSTD)
endif()
# SentencePiece has no archive and its pkg-config file also names the trainer; the wheel goes without.
add_library(qfs_sentencepiece INTERFACE)
if(NOT QFS_STATIC)
  find_library(QFS_SENTENCEPIECE_LIBRARY NAMES sentencepiece REQUIRED)
  find_path(QFS_SENTENCEPIECE_HEADERS NAMES sentencepiece_processor.h REQUIRED)
  target_link_libraries(qfs_sentencepiece INTERFACE ${QFS_SENTENCEPIECE_LIBRARY})
  target_include_directories(qfs_sentencepiece SYSTEM INTERFACE ${QFS_SENTENCEPIECE_HEADERS})
endif()
# Sweep files in YAML; a build without the library refuses them.
find_library(QFS_YAML_LIBRARY NAMES yaml-cpp)
find_path(QFS_YAML_HEADERS NAMES yaml-cpp/eventhandler.h)
if(QFS_YAML_LIBRARY AND QFS_YAML_HEADERS)
  add_library(qfs_yaml INTERFACE)
  target_link_libraries(qfs_yaml INTERFACE ${QFS_YAML_LIBRARY})
  target_include_directories(qfs_yaml SYSTEM INTERFACE ${QFS_YAML_HEADERS})
endif()
if(QFS_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)  # with jsonschema, or its tests skip
  find_package(rapidcheck REQUIRED)  # targets rapidcheck, rapidcheck_gtest
endif()
if(QFS_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
if(QFS_TORCH)
  find_package(LibTorch REQUIRED)
endif()
