# What `cmake --install` puts where. Data keeps its place relative to the source tree, below
# share/qfs-bench, which program_data_directory() (harness/core/files.h) finds beside the executable.
set(component_of_qfs-bench driver)
set(component_of_qfs-host host)
foreach(program qfs-bench qfs-host)
  if(TARGET ${program})
    # LibTorch stays where it was found: its folder becomes the program's run path.
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component_of_${program}})
  endif()
endforeach()

set(share ${CMAKE_INSTALL_DATADIR}/qfs-bench)
install(DIRECTORY datasets/mini DESTINATION ${share}/datasets COMPONENT driver)
install(DIRECTORY experiments DESTINATION ${share} COMPONENT driver)
install(DIRECTORY reports/tables DESTINATION ${share}/reports COMPONENT driver)
# The Python helper of external methods, which the driver puts on their module path.
install(DIRECTORY methods/external DESTINATION ${share}/methods COMPONENT driver FILES_MATCHING PATTERN "*.py"
  PATTERN __pycache__ EXCLUDE)
install(FILES methods/models/registry/registry.json DESTINATION ${share}/methods/models/registry
  COMPONENT driver)
if(EXISTS ${PROJECT_SOURCE_DIR}/datasets/registry.json)
  install(FILES datasets/registry.json DESTINATION ${share}/datasets COMPONENT driver)
endif()
install(FILES LICENSE CHANGELOG.md CITATION.cff README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/qfs-bench
  COMPONENT driver)

# What shells and man(1) find by its place, written there by the program itself: installations of one build folder
# may run side by side.
if(TARGET qfs-bench)
  function(install_text words place)
    install(CODE "
      set(file \"\${CMAKE_INSTALL_PREFIX}/${place}\")
      message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
      cmake_path(GET file PARENT_PATH folder)
      file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:qfs-bench>\" ${words} OUTPUT_FILE \"\$ENV{DESTDIR}\${file}\"
        COMMAND_ERROR_IS_FATAL ANY)
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")" COMPONENT driver)
  endfunction()
  install_text("completion bash" ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/qfs-bench)
  install_text("completion zsh" ${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_qfs-bench)
  install_text("completion fish" ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/qfs-bench.fish)
  install_text(man ${CMAKE_INSTALL_MANDIR}/man1/qfs-bench.1)
endif()
