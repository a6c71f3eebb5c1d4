# How the project's own code is compiled and linked.

option(NOTIFYCTL_SYSTEM_CURL "Link the system's shared libcurl: a dynamic build for development" OFF)
option(NOTIFYCTL_CRASH_POINTS "Compile the named crash points into notifyctl itself" OFF)
option(NOTIFYCTL_COVERAGE "Measure line coverage" OFF)
option(NOTIFYCTL_FUZZ "Build the fuzzers of tests/fuzz (clang)" OFF)
set(NOTIFYCTL_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")
set(NOTIFYCTL_DEPS_DIR "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH "Where scripts/build-static-deps.sh put its result")
set(NOTIFYCTL_OUTPUT_DIR "${PROJECT_BINARY_DIR}" CACHE PATH "Where the executable notifyctl goes")

# Warnings are errors with the compilers the project is tested with; another version may know new ones.
set(werror OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.") OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^14\\."))
  set(werror ON)
endif()
option(NOTIFYCTL_WERROR "Treat warnings as errors" ${werror})

# A sanitizer's runtime, coverage and the system's libcurl need the dynamic loader; everything else is really static.
set(NOTIFYCTL_STATIC ON)
if(NOTIFYCTL_SYSTEM_CURL OR NOTIFYCTL_COVERAGE OR NOTIFYCTL_FUZZ OR NOTIFYCTL_SANITIZE)
  set(NOTIFYCTL_STATIC OFF)
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")   # no NDEBUG: ASSERT stays on; -g1: lines for notifyctl.debug
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The commands of two build directories differ in nothing but the directory itself, so that they share what they compile.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_NOHASHDIR=1 "${CCACHE}")
endif()

# --- notify_options: for everything we compile ------------------------------------------------------------------------

add_library(notify_options INTERFACE)
target_compile_options(notify_options INTERFACE
  -ffunction-sections -fdata-sections -fstack-protector-strong
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
target_link_options(notify_options INTERFACE
  -Wl,--gc-sections -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
  target_compile_options(notify_options INTERFACE -fcf-protection -fstack-clash-protection)
endif()

if(NOTIFYCTL_SANITIZE)
  target_compile_options(notify_options INTERFACE
    "-fsanitize=${NOTIFYCTL_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(notify_options INTERFACE "-fsanitize=${NOTIFYCTL_SANITIZE}")
else()
  # Fortify needs the optimiser and hides from the sanitizers what they look for.
  target_compile_options(notify_options INTERFACE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
endif()
target_compile_definitions(notify_options INTERFACE _GLIBCXX_ASSERTIONS)

if(NOTIFYCTL_COVERAGE)
  target_compile_options(notify_options INTERFACE --coverage)
  target_link_options(notify_options INTERFACE --coverage)
endif()

if(NOTIFYCTL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "NOTIFYCTL_FUZZ needs clang: cmake --preset fuzz")
  endif()
  target_compile_options(notify_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# --- notify_warnings: for our own code, not for generated or third-party code -----------------------------------------

add_library(notify_warnings INTERFACE)
target_compile_options(notify_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wformat=2 -Wimplicit-fallthrough -Wextra-semi -Wundef -Wunused
  -Wdouble-promotion
  # Every member of our parameter structs has a default: naming only some of them is the point.
  -Wno-missing-field-initializers
  # Clang 14 sees a null pointer in each defaulted <=>.
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wuseless-cast
    -Wzero-as-null-pointer-constant>
  $<$<BOOL:${NOTIFYCTL_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's flow warnings cry wolf on std::string, std::optional and tl::expected (GCC bugs 105329, 105562, 105593).
  target_compile_options(notify_warnings INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
    # Of a type in a header: but several sources in one are no header.
    $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-subobject-linkage>)
endif()

# --- notify_static: for the shipped program ---------------------------------------------------------------------------

add_library(notify_static INTERFACE)
if(NOTIFYCTL_STATIC)
  # Not static-pie: its relocations cost 3 ms a start.
  target_link_options(notify_static INTERFACE -static -no-pie)
  # "Using 'getaddrinfo' in statically linked applications requires at runtime …" ends the build; see host_modules.cpp.
  target_link_options(notify_static INTERFACE -Wl,--fatal-warnings)
  foreach(function IN ITEMS dlopen dlsym dlclose dladdr dlerror getaddrinfo freeaddrinfo getnameinfo gethostbyname
                            getservbyname getservbyport_r iconv_open iconv iconv_close)
    target_link_options(notify_static INTERFACE "-Wl,--wrap=${function}")
  endforeach()
  target_sources(notify_static INTERFACE "${PROJECT_SOURCE_DIR}/cmake/host_modules.cpp")
endif()

# Ships TARGET stripped, its debug information beside it in TARGET.debug. The file is replaced, not
# written to: somebody may be running it.
function(notify_strip target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT NOTIFYCTL_STATIC)
    return()
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all --remove-section=.comment --add-gnu-debuglink=$<TARGET_FILE:${target}>.debug
            $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.stripped
    COMMAND ${CMAKE_COMMAND} -E rename $<TARGET_FILE:${target}>.stripped $<TARGET_FILE:${target}>
    VERBATIM)
endfunction()
