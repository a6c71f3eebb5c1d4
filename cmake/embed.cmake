# notify_embed(TARGET SET BASE dir GLOB pattern…)
#
# Compiles every matching text file below BASE into TARGET and gives it the header "embedded/SET.hpp":
#
#   namespace notify::embedded {
#   struct File { std::string_view name, text; };       // name relative to BASE, '/' between directories
#   std::span<const File> SET() noexcept;               // sorted by name
#   }
function(notify_embed target set)
  cmake_parse_arguments(arg "" "BASE" "GLOB" ${ARGN})
  set(base "${PROJECT_SOURCE_DIR}/${arg_BASE}")
  list(TRANSFORM arg_GLOB PREPEND "${base}/")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${arg_GLOB})
  list(SORT files)
  set(dir "${PROJECT_BINARY_DIR}/generated/${target}")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  string(REPLACE ";" "|" list "${files}")
  # The list itself is an input: a file that goes away must not stay inside.
  file(CONFIGURE OUTPUT "${dir}/${set}.list" CONTENT "${list}\n" @ONLY)
  add_custom_command(
    OUTPUT "${dir}/embedded/${set}.cpp" "${dir}/embedded/${set}.hpp"
    COMMAND ${CMAKE_COMMAND} "-DSET=${set}" "-DBASE=${base}" "-DFILES=${list}" "-DOUTPUT=${dir}/embedded/${set}"
            -P "${script}"
    DEPENDS ${files} "${script}" "${dir}/${set}.list"
    COMMENT "Embedding ${arg_BASE} (${set})"
    VERBATIM)
  target_sources(${target} PRIVATE "${dir}/embedded/${set}.cpp" "${dir}/embedded/${set}.hpp")
  target_include_directories(${target} PUBLIC "${dir}")
endfunction()
