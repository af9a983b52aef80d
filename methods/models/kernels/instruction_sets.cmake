# Files that hold one instruction set's kernels, chosen at run time, and the flags that make their loops vectors.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set_source_files_properties(kernels/cpu_kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
  # GCC 12 warns of its own header's undefined vectors.
  set_source_files_properties(kernels/cpu_kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mfma;-mf16c;-mavx512f;-mavx512dq;-Wno-uninitialized;-Wno-maybe-uninitialized")
  # Neither flags of exceptions nor errno are read; values stay as they are, and loops become vectors.
  set(vectors -fno-trapping-math -fno-math-errno)
  set_source_files_properties(kernels/dense_kernels.cpp kernels/segment_memory.cpp PROPERTIES
    COMPILE_OPTIONS "${vectors}")
  set_source_files_properties(kernels/dense_kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "${vectors};-march=x86-64-v3")
  set_source_files_properties(kernels/dense_kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "${vectors};-march=x86-64-v4;-mprefer-vector-width=512")
endif()
