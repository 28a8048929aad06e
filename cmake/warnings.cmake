# Every target of ours carries these; SOTTO_WERROR turns them into errors.
add_library(sotto_warnings INTERFACE)
target_compile_options(sotto_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
  $<$<BOOL:${SOTTO_WERROR}>:-Werror>)
