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

# What shells and man(1) find by its place, written by the program itself when it is installed.
if(TARGET qfs-bench)
  set(written ${PROJECT_BINARY_DIR}/command_texts)
  install(CODE "
    file(MAKE_DIRECTORY \"${written}\")
    foreach(text \"completion bash\" \"completion zsh\" \"completion fish\" man)
      separate_arguments(words UNIX_COMMAND \"\${text}\")
      string(REPLACE \" \" \"_\" name \"\${text}\")
      execute_process(COMMAND \"$<TARGET_FILE:qfs-bench>\" \${words} OUTPUT_FILE \"${written}/\${name}\"
        COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT driver)
  install(FILES ${written}/completion_bash RENAME qfs-bench DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT driver)
  install(FILES ${written}/completion_zsh RENAME _qfs-bench DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT driver)
  install(FILES ${written}/completion_fish RENAME qfs-bench.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT driver)
  install(FILES ${written}/man RENAME qfs-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT driver)
endif()
