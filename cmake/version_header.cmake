# Run at every build: fills in the commit; writes only when the content changed.
set(COMMIT "")
set(DIRTY false)
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --short=10 HEAD
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" diff-index --quiet HEAD --
    RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
  if(changed)
    set(DIRTY true)
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
