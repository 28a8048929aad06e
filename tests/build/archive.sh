#!/bin/sh
# archive.sh ARCHIVE LIST WITNESS: an installed static library gives a program the symbols of the list and no
# other. The functions by which tests reach into rooms are not in it at all. WITNESS is the archive that tests link, which
# shows that those handles still have these names.
archive=$1
list=$2
witness=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
set -e

nm -g --defined-only "$archive" | awk 'NF == 3 {print $3}' | LC_ALL=C sort >"$work/now"
diff -u "$list" "$work/now" || { echo "$archive shows other symbols than its list"; exit 1; }

nm "$archive" >"$work/all"
nm "$witness" >"$work/witness"
for handle in sotto_alloc_fail_after sotto_random_fail_seeding sotto_random_forget sotto_random_age \
    sotto_random_remembers sotto_random_seedings sotto_keccak_use sotto_keccak_install sotto_f128_use \
    sotto_scan_use; do
    if ! grep -qw "$handle" "$work/witness"; then
        echo "$handle: not in $witness either; was it renamed?"
        exit 1
    fi
    if grep -qw "$handle" "$work/all"; then
        echo "$archive: holds $handle, which is for tests"
        exit 1
    fi
done
echo "$(wc -l <"$work/now") symbols, no handle for tests"
