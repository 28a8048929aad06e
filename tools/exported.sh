#!/bin/sh
# exported.sh LIBRARY: the symbols that a shared library exports, sorted.
nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort
