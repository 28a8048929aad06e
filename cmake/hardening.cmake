# What an optimised build does against its own mistakes (docs/decisions/0027). A debug build and the sanitizers
# find the same mistakes by other means, and fortified functions need optimisation.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

option(SOTTO_HARDEN "Stack protector, fortified functions, read-only relocations" ON)
if(SOTTO_HARDEN AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-fstack-protector-strong>)
  # A distribution's compiler may define it already, and differently.
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
