# FindLibTorch: the C++ library inside a PyTorch or LibTorch 2.11 folder, without find_package(Torch)
# (which demands a CUDA toolkit, changes CUDA flags, and cannot be silenced).
#
# Searched: QFS_TORCH_DIR (cache variable or environment), and without it the folder of an installed Python module `torch`, and the folder that
# bootstrap.sh unpacks into the user's cache. A folder is good when it has include/ATen and
# lib/libtorch_cpu.so.
#
# Sets LibTorch_FOUND, LibTorch_DIRECTORY, LibTorch_VERSION and the imported targets LibTorch::cpu
# (c10, torch_cpu and the OpenMP runtime that they use), with rpath for the folders it needs, and, in a
# folder that has them, LibTorch::cuda (c10_cuda and torch_cuda besides).

set(QFS_TORCH_DIR "$ENV{QFS_TORCH_DIR}" CACHE PATH "Folder of PyTorch or LibTorch 2.11 (with include/ and lib/)")
set(QFS_TORCH_VERSION "2.11")

function(_qfs_torch_candidates out)
  set(candidates ${QFS_TORCH_DIR})
  if(NOT candidates)
    find_program(QFS_PYTHON NAMES python3)
    mark_as_advanced(QFS_PYTHON)
    if(QFS_PYTHON)
      execute_process(
        COMMAND ${QFS_PYTHON} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s and s.submodule_search_locations else '')"
        OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      list(APPEND candidates ${folder})
    endif()
    foreach(cache "$ENV{QFS_CACHE_DIR}" "$ENV{XDG_CACHE_HOME}/qfs-bench" "$ENV{HOME}/.cache/qfs-bench")
      list(APPEND candidates ${cache}/libtorch-2.11.0/torch ${cache}/libtorch-2.11.0)
    endforeach()
  endif()
  set(${out} ${candidates} PARENT_SCOPE)
endfunction()

# The version macros of a torch folder, "" when it is none.
function(_qfs_torch_version folder out)
  set(version "")
  foreach(header include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
    if(NOT version AND EXISTS ${folder}/${header})
      file(STRINGS ${folder}/${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
      list(JOIN numbers "." version)
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# Folders that may hold a library which libtorch_cpu needs but the folder itself lacks.
function(_qfs_torch_companions folder out)
  set(folders ${folder}/lib)
  foreach(library libcudart.so.13 libcupti.so.13)
    foreach(place ${folder}/lib ${folder}/../nvidia/cu13/lib ${folder}/../nvidia/cuda_runtime/lib
                  ${folder}/../nvidia/cuda_cupti/lib /usr/local/cuda/lib64
                  /usr/local/cuda/extras/CUPTI/lib64)
      if(EXISTS ${place}/${library})
        get_filename_component(place ${place} REALPATH)
        list(APPEND folders ${place})
        break()
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

set(LibTorch_DIRECTORY "")
set(_rejected "")
_qfs_torch_candidates(_candidates)
foreach(_folder ${_candidates})
  if(EXISTS ${_folder}/include/ATen/ATen.h AND EXISTS ${_folder}/lib/libtorch_cpu.so)
    _qfs_torch_version(${_folder} LibTorch_VERSION)
    if(LibTorch_VERSION MATCHES "^2\\.11(\\.|$)")
      get_filename_component(LibTorch_DIRECTORY ${_folder} REALPATH)
      break()
    endif()
    string(APPEND _rejected "\n  ${_folder}: version ${LibTorch_VERSION}, need ${QFS_TORCH_VERSION}")
  else()
    string(APPEND _rejected "\n  ${_folder}: no include/ATen and lib/libtorch_cpu.so")
  endif()
endforeach()

if(NOT LibTorch_DIRECTORY)
  set(LibTorch_FOUND FALSE)
  set(_message "LibTorch ${QFS_TORCH_VERSION} was not found. Give its folder with -DQFS_TORCH_DIR=…, run ./bootstrap.sh, or build only the driver with -DQFS_TORCH=OFF. Looked at:${_rejected}")
  if(LibTorch_FIND_REQUIRED)
    message(FATAL_ERROR "${_message}")
  endif()
  if(NOT LibTorch_FIND_QUIETLY)
    message(STATUS "${_message}")
  endif()
  return()
endif()

_qfs_torch_companions(${LibTorch_DIRECTORY} _folders)
# The library's own OpenMP runtime: a second one in the process would double the threads.
file(GLOB _gomp ${LibTorch_DIRECTORY}/lib/libgomp*.so*)
if(NOT _gomp)
  set(_gomp gomp)
endif()

if(NOT TARGET LibTorch::cpu)
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${LibTorch_DIRECTORY}/include"
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_DIRECTORY}/include"
    INTERFACE_LINK_LIBRARIES
      "${LibTorch_DIRECTORY}/lib/libtorch_cpu.so;${LibTorch_DIRECTORY}/lib/libc10.so;${_gomp}")
  foreach(_folder ${_folders})
    set_property(TARGET LibTorch::cpu APPEND PROPERTY
      INTERFACE_LINK_OPTIONS "LINKER:-rpath,${_folder}" "LINKER:-rpath-link,${_folder}")
  endforeach()
endif()

if(NOT TARGET LibTorch::cuda AND EXISTS ${LibTorch_DIRECTORY}/lib/libtorch_cuda.so
   AND EXISTS ${LibTorch_DIRECTORY}/lib/libc10_cuda.so)
  add_library(LibTorch::cuda INTERFACE IMPORTED)
  # Without --no-as-needed the linker drops torch_cuda, which registers itself when loaded. The vendor's
  # libraries that it needs in turn are found at run time, by its own run path.
  set_target_properties(LibTorch::cuda PROPERTIES
    INTERFACE_LINK_LIBRARIES "LibTorch::cpu;${LibTorch_DIRECTORY}/lib/libc10_cuda.so"
    INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed,${LibTorch_DIRECTORY}/lib/libtorch_cuda.so,--as-needed;LINKER:--allow-shlib-undefined")
endif()

# One small program turns another ABI, a missing library or a compiler that is too old into one message.
if(NOT "${_qfs_torch_checked}" STREQUAL "${LibTorch_DIRECTORY}")
  set(_probe ${CMAKE_BINARY_DIR}/CMakeFiles/qfs_torch_probe.cpp)
  file(WRITE ${_probe} "#include <c10/util/Exception.h>\n#include <string>\nint main() { return c10::Error(c10::SourceLocation{}, std::string(\"probe\")).msg().empty() ? 1 : 0; }\n")
  try_compile(_qfs_torch_links ${CMAKE_BINARY_DIR}/CMakeFiles/qfs_torch_probe ${_probe}
    LINK_LIBRARIES LibTorch::cpu CXX_STANDARD 20 OUTPUT_VARIABLE _output)
  if(NOT _qfs_torch_links)
    file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/qfs_torch_probe.log "${_output}")
    message(FATAL_ERROR "A two-line program does not link with LibTorch ${LibTorch_VERSION} in ${LibTorch_DIRECTORY}: another C++ ABI, a missing CUDA library (libcudart.so.13, libcupti.so.13) or a compiler older than g++ 12. The compiler's words are in ${CMAKE_BINARY_DIR}/CMakeFiles/qfs_torch_probe.log")
  endif()
  set(_qfs_torch_checked "${LibTorch_DIRECTORY}" CACHE INTERNAL "LibTorch folder that passed the probe")
endif()

set(LibTorch_FOUND TRUE)
if(NOT LibTorch_FIND_QUIETLY)
  message(STATUS "LibTorch ${LibTorch_VERSION}: ${LibTorch_DIRECTORY}")
endif()
