#!/bin/sh
# install_refuses_rules.sh BUILD CMAKE PROGRAM RULES_PROGRAM: an installation in which PROGRAM was compiled as
# RULES_PROGRAM is, with rules that can be switched off, lays down nothing.
build=$1
cmake=$2
program=$3
rules=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

grep -qF "$program" "$build/cmake_install.cmake" || { echo "the installation does not look at $program"; exit 1; }
sed "s#$program\\([;\"]\\)#$rules\\1#g" "$build/cmake_install.cmake" >"$work/install.cmake"
if "$cmake" -D CMAKE_INSTALL_PREFIX="$work/prefix" -P "$work/install.cmake" >"$work/log" 2>&1; then
    echo "installed with rules that can be switched off"
    exit 1
fi
# The sentence is wrapped as cmake likes.
tr -s ' \n' '  ' <"$work/log" | grep -q "was compiled with SOTTO_RULES" || { cat "$work/log"; exit 1; }
[ ! -e "$work/prefix" ] || { echo "something was laid down"; exit 1; }
