# The set-up script on tiny wheels of its own, and the shell scripts under shellcheck where it is there.
add_test(NAME bootstrap
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/setup/bootstrap_test.py)
set_tests_properties(bootstrap PROPERTIES LABELS unit TIMEOUT 300)

find_program(QFS_SHELLCHECK shellcheck)
if(QFS_SHELLCHECK)
  add_test(NAME shellcheck COMMAND ${QFS_SHELLCHECK} -x bootstrap.sh .ci/run tests/gpu/pack_kit.sh tests/gpu/run.sh
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(shellcheck PROPERTIES LABELS architecture TIMEOUT 60)
endif()

if(TARGET qfs-bench)
  add_test(NAME install
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/setup/install_test.py ${PROJECT_BINARY_DIR})
  set_tests_properties(install PROPERTIES LABELS golden TIMEOUT 300)
  # The Debian package; skipped by name where dpkg-deb or dpkg-shlibdeps is missing.
  add_test(NAME debian_package
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/setup/debian_package_test.py ${PROJECT_BINARY_DIR})
  set_tests_properties(debian_package PROPERTIES LABELS golden TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
# The images of the Dockerfile; skipped by name unless QFS_TEST_CONTAINERS says what builds them.
add_test(NAME container_images
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/setup/container_test.py)
set_tests_properties(container_images PROPERTIES LABELS golden TIMEOUT 3600 SKIP_RETURN_CODE 77)
