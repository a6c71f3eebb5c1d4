# The third-party libraries as dep::NAME, from the distribution's archives and from scripts/build-static-deps.sh.
# Archives only, so that one build of them serves the static program and the sanitizer builds. The versions go into
# notify_version.hpp.

set(NOTIFYCTL_LIBRARY_VERSIONS "")

# dep::NAME from archives, the first depending on the rest; HEADER must be found as well.
function(notify_archive name)
  cmake_parse_arguments(arg "OURS" "HEADER" "LIBRARIES" ${ARGN})
  if(arg_OURS)   # built by us, never the system's
    set(where PATHS "${NOTIFYCTL_DEPS_DIR}" NO_DEFAULT_PATH)
    set(hint "run scripts/build-static-deps.sh")
  else()
    set(where "")
    set(hint "run scripts/install-packages.sh")
  endif()
  find_path(${name}_include NAMES ${arg_HEADER} PATH_SUFFIXES include ${where})
  set(archives "")
  foreach(library IN LISTS arg_LIBRARIES)
    find_library(${name}_${library} NAMES lib${library}.a PATH_SUFFIXES lib ${where})
    mark_as_advanced(${name}_${library})
    list(APPEND archives "${${name}_${library}}")
  endforeach()
  mark_as_advanced(${name}_include)
  if("${archives};${${name}_include}" MATCHES "NOTFOUND")
    message(FATAL_ERROR "${arg_HEADER} or the static archive of '${name}' is missing: ${hint} (or: make deps)")
  endif()
  if(arg_LIBRARIES MATCHES ";")
    set(archives "$<LINK_GROUP:RESCAN,${archives}>")
  endif()
  add_library(dep_${name} INTERFACE)
  add_library(dep::${name} ALIAS dep_${name})
  target_link_libraries(dep_${name} INTERFACE "${archives}")
  if(arg_OURS)
    target_include_directories(dep_${name} SYSTEM INTERFACE "${${name}_include}")
  endif()
endfunction()

# dep::NAME from the headers of a package alone, even where it has a shared library as well; then come definitions.
function(notify_headers name package)
  find_package(${package} REQUIRED CONFIG)
  add_library(dep_${name} INTERFACE)
  add_library(dep::${name} ALIAS dep_${name})
  target_compile_definitions(dep_${name} INTERFACE ${ARGN})
  set(versions ${NOTIFYCTL_LIBRARY_VERSIONS} "${package}=${${package}_VERSION}")
  set(NOTIFYCTL_LIBRARY_VERSIONS "${versions}" PARENT_SCOPE)
endfunction()

find_package(Threads REQUIRED)

# Header-only. The distribution has spdlog, fmt and toml++ as shared libraries only: include each in one translation unit.
notify_headers(expected tl-expected)
notify_headers(json nlohmann_json)
notify_headers(cli CLI11)
notify_headers(toml tomlplusplus TOML_HEADER_ONLY=1)
notify_headers(log spdlog SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

# Archives
notify_archive(simdjson OURS HEADER simdjson.h LIBRARIES simdjson)
notify_archive(sqlite HEADER sqlite3.h LIBRARIES sqlite3)
notify_archive(openssl HEADER openssl/evp.h LIBRARIES ssl crypto)
notify_archive(nghttp2 HEADER nghttp2/nghttp2.h LIBRARIES nghttp2)
notify_archive(zlib HEADER zlib.h LIBRARIES z)
notify_archive(cares HEADER ares.h LIBRARIES cares)
notify_archive(re2 HEADER re2/re2.h LIBRARIES re2)   # tells nobody its version
notify_archive(time HEADER absl/time/time.h LIBRARIES
  absl_time absl_civil_time absl_time_zone absl_strings absl_strings_internal absl_int128 absl_base
  absl_spinlock_wait absl_raw_logging_internal absl_throw_delegate absl_log_severity)
target_link_libraries(dep_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
target_link_libraries(dep_openssl INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(dep_re2 INTERFACE Threads::Threads)
target_link_libraries(dep_time INTERFACE Threads::Threads)

if(NOTIFYCTL_SYSTEM_CURL)
  find_package(CURL REQUIRED)
  add_library(dep::curl ALIAS CURL::libcurl)
else()
  notify_archive(curl OURS HEADER curl/curl.h LIBRARIES curl)
  target_compile_definitions(dep_curl INTERFACE CURL_STATICLIB)
  target_link_libraries(dep_curl INTERFACE dep::openssl dep::nghttp2 dep::cares dep::zlib)
endif()
