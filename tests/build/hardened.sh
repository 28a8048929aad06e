#!/bin/sh
# hardened.sh BUILD FILE...: programs and shared libraries of an optimised build carry what docs/decisions/0027 promises, and every
# file of the product was compiled for it.
build=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for file in "$@"; do
    readelf -hldnW "$file" >"$work/elf" && nm -D --undefined-only "$file" >"$work/undefined" || exit 1
    has() {
        grep -qE "$2" "$work/$1" || { echo "$file: $3"; exit 1; }
    }
    has elf 'Type: +DYN' "must be loaded at one address"
    has elf 'GNU_RELRO' "relocations stay writable"
    has elf '\(FLAGS.*(BIND_)?NOW' "functions are resolved when first called"
    has undefined '__stack_chk_fail' "no stack protector"
    has undefined '__v?snprintf_chk' "no fortified functions"
    [ "$(uname -m)" != x86_64 ] || has elf 'x86 feature:.*SHSTK' "not marked for a shadow stack"
    # Writable and executable at once.
    grep -E 'GNU_STACK|LOAD' "$work/elf" | grep -q 'RWE' && { echo "$file: memory to write and run"; exit 1; }
    echo "$file: hardened"
done

# One object without the mark, and the linker leaves it out of the file.
case $(uname -m) in
x86_64) mark='x86 feature:.*IBT.*SHSTK' ;;
aarch64) mark='AArch64 feature:.*BTI.*PAC' ;;
*) mark= ;;
esac
for archive in "$build"/libsotto.a "$build"/libsotto-device.a "$build"/libsotto_server.a; do
    [ -n "$mark" ] || continue
    members=$(ar t "$archive" | wc -l)
    marked=$(readelf -nW "$archive" | grep -cE "$mark")
    [ "$members" -gt 10 ] && [ "$marked" -eq "$members" ] ||
        { echo "$archive: $marked of $members objects are marked for control-flow integrity"; exit 1; }
done

# What leaves no trace that can be looked for: how each file was compiled.
python3 - "$build" <<'END' || exit 1
import json, sys
entries = [e for e in json.load(open(sys.argv[1] + "/compile_commands.json")) if "/src/" in e["file"] or "/apps/sotto/" in e["file"]]
assert entries
for flag in "-fstack-protector-strong", "-fstack-clash-protection", "-D_FORTIFY_SOURCE=3":
    without = [e["file"] for e in entries if flag not in e["command"].split()]
    assert not without, (flag, without[:5])
print(f"{len(entries)} files compiled with stack and fortify flags")
END
