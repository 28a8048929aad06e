#!/bin/sh
# exported.sh LIBRARY: the symbols that a shared library exports, sorted. Sanitizers' own are left out.
nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sed 's/@.*//' |
    grep -v -e '^__asan' -e '^__odr_asan' -e '^__tsan' -e '^__ubsan' -e '^__sanitizer' -e '^__gcov' \
        -e '^__sancov' -e '^_init$' -e '^_fini$' -e '^__start' -e '^__stop' | LC_ALL=C sort
