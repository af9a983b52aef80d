# What makes the outputs of a family of methods: its folder and all that its files include under methods/,
# metrics/ and harness/core/text/, directly or not. A header brings the .cpp files of its folder that include it:
# among them are those that implement it, whatever their names.

# Those of the files that a file includes: <result>.
function(qfs_included_files source_dir path result)
  file(STRINGS ${source_dir}/${path} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"(methods/|metrics/|harness/core/text/)")
  list(TRANSFORM lines REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

# qfs_source_closure(<source_dir> <folder> <result>): sorted paths relative to source_dir.
function(qfs_source_closure source_dir folder result)
  file(GLOB_RECURSE sources RELATIVE ${source_dir}
    ${source_dir}/methods/*.cpp ${source_dir}/metrics/*.cpp ${source_dir}/harness/core/text/*.cpp)
  foreach(source IN LISTS sources)
    qfs_included_files(${source_dir} ${source} included)
    cmake_path(GET source PARENT_PATH beside)
    list(FILTER included INCLUDE REGEX "^${beside}/[^/]*$")
    foreach(header IN LISTS included)
      list(APPEND users_of_${header} ${source})
    endforeach()
  endforeach()
  file(GLOB waiting RELATIVE ${source_dir} ${source_dir}/${folder}/*.h ${source_dir}/${folder}/*.cpp)
  set(seen)
  while(waiting)
    list(POP_FRONT waiting path)
    if(path IN_LIST seen OR NOT EXISTS ${source_dir}/${path})
      continue()
    endif()
    list(APPEND seen ${path})
    qfs_included_files(${source_dir} ${path} included)
    list(APPEND waiting ${included} ${users_of_${path}})
  endwhile()
  list(SORT seen)
  set(${result} ${seen} PARENT_SCOPE)
endfunction()

# qfs_files_digest(<source_dir> <result> <path>…): SHA-256 over "path digest" lines in the order given.
function(qfs_files_digest source_dir result)
  set(lines)
  foreach(path IN LISTS ARGN)
    file(SHA256 ${source_dir}/${path} digest)
    string(APPEND lines "${path} ${digest}\n")
  endforeach()
  string(SHA256 digest "${lines}")
  set(${result} ${digest} PARENT_SCOPE)
endfunction()
