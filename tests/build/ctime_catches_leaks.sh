#!/bin/sh
# ctime_catches_leaks.sh PROGRAM MEMCHECK...: memcheck must end with 99 for a leak, and only for a leak.
program=$1
shift

expect() {
    "$@" >/dev/null 2>&1
    got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "wanted exit status $wanted, got $got: $*"
        exit 1
    fi
}

wanted=0
expect "$@" "$program" nothing
wanted=99
expect "$@" "$program" branch
expect "$@" "$program" address
echo "memcheck catches a branch and an address, and lets plain arithmetic pass"
