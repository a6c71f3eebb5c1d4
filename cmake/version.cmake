# notify_version(TARGET): gives TARGET the header "notify_version.hpp". The commit is looked up at every build, but the
# header is only written when something in it changed; include it in one translation unit.
function(notify_version target)
  set(dir "${PROJECT_BINARY_DIR}/generated")
  set(libraries "")
  foreach(pair IN LISTS NOTIFYCTL_LIBRARY_VERSIONS)
    string(REGEX REPLACE "^(.*)=(.*)$" "    {\"\\1\", \"\\2\"},\n" line "${pair}")
    string(APPEND libraries "${line}")
  endforeach()
  set(template "${dir}/notify_version.hpp.in")
  set(COMMIT "@COMMIT@")
  set(DIRTY "@DIRTY@")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/notify_version.hpp.in" "${template}" @ONLY)
  add_custom_target(notify_version
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DTEMPLATE=${template}"
            "-DOUTPUT=${dir}/notify_version.hpp" -P "${PROJECT_SOURCE_DIR}/cmake/version_header.cmake"
    BYPRODUCTS "${dir}/notify_version.hpp"
    COMMENT "Looking up the commit" VERBATIM)
  add_dependencies(${target} notify_version)
  target_compile_options(${target} PRIVATE -Igenerated)   # relative: see ccache in settings.cmake
endfunction()
