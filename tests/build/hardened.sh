#!/bin/sh
# hardened.sh FILE...: programs and shared libraries of an optimised build carry what docs/decisions/0027 promises.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for file in "$@"; do
    readelf -hldW "$file" >"$work/elf" && nm -D --undefined-only "$file" >"$work/undefined" || exit 1
    has() {
        grep -qE "$2" "$work/$1" || { echo "$file: $3"; exit 1; }
    }
    has elf 'Type: +DYN' "must be loaded at one address"
    has elf 'GNU_RELRO' "relocations stay writable"
    has elf '\(FLAGS.*(BIND_)?NOW' "functions are resolved when first called"
    has undefined '__stack_chk_fail' "no stack protector"
    has undefined '__v?snprintf_chk' "no fortified functions"
    # Writable and executable at once.
    grep -E 'GNU_STACK|LOAD' "$work/elf" | grep -q 'RWE' && { echo "$file: memory to write and run"; exit 1; }
    echo "$file: hardened"
done
