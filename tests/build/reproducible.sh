#!/bin/sh
# reproducible.sh SOURCE BUILD CMAKE CC BUILD_TYPE: libsotto-device, built once more from a copy of the source in another folder,
# has the same bytes, shared and static. Whoever ships it can show that it is what the source says.
source=$1
build=$2
cmake=$3
cc=$4
type=$5
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# A cache might hand out what the first build made.
CCACHE_DISABLE=1
export CCACHE_DISABLE
unset CMAKE_C_COMPILER_LAUNCHER

# Deeper than most, and with the build outside of it, so that a path that is kept shows.
copy=$work/a/folder/with/another/name
mkdir -p "$copy"
(cd "$source" && tar cf - --exclude=./build --exclude=./.git .) | (cd "$copy" && tar xf -) || exit 1
"$cmake" -S "$copy" -B "$work/elsewhere" -G Ninja -DCMAKE_BUILD_TYPE="$type" -DCMAKE_C_COMPILER="$cc" -DBUILD_TESTING=OFF \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/elsewhere" -j 2 --target sotto_device_shared sotto_device_static >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log"; exit 1; }
for file in libsotto-device.so archives/libsotto-device.a; do
    cmp "$build/$file" "$work/elsewhere/$file" || { echo "$file: differs from one folder to the next"; exit 1; }
    ! grep -qF "$copy" "$work/elsewhere/$file" || { echo "$file: names the folder that it was built in"; exit 1; }
    echo "$file: $(wc -c <"$build/$file") bytes, the same in both"
done
