# notify_embed(TARGET SET BASE dir GLOB pattern…)
#
# Compiles every matching text file below BASE into TARGET and gives it the header "embedded/SET.hpp":
#
#   namespace notify::embedded {
#   struct File { std::string_view name, text; };       // name relative to BASE, '/' between directories
#   std::span<const File> SET() noexcept;               // sorted by name
#   }

set(embedded_dir "${PROJECT_BINARY_DIR}/generated/embedded")
configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_file.hpp" "${embedded_dir}/file.hpp" COPYONLY)

function(notify_embed target set)
  cmake_parse_arguments(arg "" "BASE" "GLOB" ${ARGN})
  set(base "${PROJECT_SOURCE_DIR}/${arg_BASE}")
  list(TRANSFORM arg_GLOB PREPEND "${base}/")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${arg_GLOB})
  list(SORT files)
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  string(REPLACE ";" "|" list "${files}")
  # The list itself is an input: a file that goes away must not stay inside.
  file(CONFIGURE OUTPUT "${embedded_dir}/${set}.list" CONTENT "${list}\n" @ONLY)
  add_custom_command(
    OUTPUT "${embedded_dir}/${set}.cpp" "${embedded_dir}/${set}.hpp"
    COMMAND ${CMAKE_COMMAND} "-DSET=${set}" "-DBASE=${base}" "-DFILES=${list}" "-DOUTPUT=${embedded_dir}/${set}"
            -P "${script}"
    DEPENDS ${files} "${script}" "${embedded_dir}/${set}.list"
    COMMENT "Embedding ${arg_BASE} (${set})"
    VERBATIM)
  target_sources(${target} PRIVATE "${embedded_dir}/${set}.cpp" "${embedded_dir}/${set}.hpp")
  set_source_files_properties("${embedded_dir}/${set}.cpp" PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_compile_options(${target} PRIVATE -Igenerated)   # relative: see ccache in settings.cmake
endfunction()
