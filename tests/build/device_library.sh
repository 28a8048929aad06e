#!/bin/sh
# device_library.sh LIBRARY LIMIT CC: what an application takes in with libsotto-device. It has at most LIMIT bytes
# when stripped (0: this build isn't made for size), and no library but the three it names. It has no thread, no process,
# no output, no socket, no VOPRF, no help text of the recipe's keys. Then the same questions to libraries that break one rule each, so that a rule that has
# stopped looking is noticed.
library=$1
limit=$2
cc=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# libm and libc come with the machine, and the loader with libc.
needed='libsqlite3|libjansson|libcrypto|libm|libc|ld-linux-x86-64|ld-linux-aarch64'
threads='pthread_create|thrd_create|timer_create|mq_notify|aio_[a-z]*|lio_listio|getaddrinfo_a'
processes='fork|vfork|clone|clone3|posix_spawnp?|system|popen|exec[lv]p?e?|fexecve|daemon'
ends='exit|_exit|_Exit|quick_exit|abort|raise|kill|__assert_fail|__assert'
# What the device keeps, SQLite writes; so even a plain write() is output of some kind.
output='v?f?w?printf|v?dprintf|v?asprintf_chk|f?puts|f?putw?c|putw?char|f?putw?s|fwrite|fflush|perror|psignal|psiginfo|p?writev?[26]*'
output="$output|v?syslog|openlog|stdout|stderr|setvbuf|fopen|fdopen|freopen|error|error_at_line|v?warnx?|v?errx?|backtrace_symbols_fd"
output="$output|fputs_unlocked|fwrite_unlocked|putchar_unlocked|putc_unlocked|fputc_unlocked"
elsewhere='json_dumpf|json_dumpfd|json_dump_file|ERR_print_errors[a-z_]*|BIO_[a-z_]*print[a-z_]*|BIO_new_(fp|fd|file|connect|socket)'
sockets='socket|socketpair|connect|bind|listen|accept4?|send|sendto|sendmsg|sendmmsg|sendfile|getaddrinfo'
forbidden="$threads|$processes|$ends|$output|$elsewhere|$sockets"

# Says what is wrong with a library; silent if nothing is. Fails if it can't be looked at: what a tool didn't
# read would otherwise pass for clean.
judge() {
    cp "$1" "$work/stripped" && strip "$work/stripped" || return 1
    readelf -d "$1" >"$work/dynamic" || return 1
    nm -D --undefined-only "$1" >"$work/undefined" || return 1
    size=$(wc -c <"$work/stripped")
    if [ "$limit" -gt 0 ] && [ "$size" -gt "$limit" ]; then
        echo "$size bytes when stripped, and $limit are allowed"
    fi
    # The first sentence of src/recipe/schema_rows.h, which tests/recipe/test_read.c holds analysts' tools to.
    if [ "$limit" -gt 0 ] && grep -q 'names this recipe' "$work/stripped"; then
        echo "has the help texts of recipe/schema_help.c"
    fi
    # It and tokens of type 1 are for vectors alone.
    nm "$1" >"$work/symbols" || return 1
    if grep -Eq 'sotto_(voprf|type1)_' "$work/symbols"; then
        echo "has the VOPRF"
    fi
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | grep -Ev "^($needed)\.so" | sed 's/^/needs /'
    # Fortified functions carry their name in the middle: __printf_chk.
    awk '{print $NF}' "$work/undefined" | sed 's/@.*//; s/^__\(.*\)_chk$/\1/' |
        grep -Ex "$forbidden" | sed 's/^/calls /'
}

breaks() {
    printf '%s\n' "$2" >"$work/bad.c"
    "$cc" -shared -fPIC -O1 -w -o "$work/bad.so" "$work/bad.c" -Wl,--no-as-needed $3 || exit 1
    said=$(judge "$work/bad.so") || exit 1
    if [ -z "$said" ]; then
        echo "$1: not noticed in a library that has it"
        exit 1
    fi
}

wrong=$(judge "$library") || { echo "$library: can't be looked at"; exit 1; }
# It hashes and reads JSON, so a list without these two was not read from this library.
for witness in SHA256_Update json_loadb; do
    grep -q "$witness" "$work/undefined" || { echo "$library: no $witness among what it calls"; exit 1; }
done
grep -q sotto_type2_finish "$work/symbols" || { echo "$library: its own symbols are not there to be read"; exit 1; }
if [ -n "$wrong" ]; then
    echo "$library:"
    echo "$wrong"
    exit 1
fi
echo "$(wc -c <"$work/stripped") bytes when stripped"

breaks "a thread" '#include <pthread.h>
int f(void *(*g)(void *)) { pthread_t t; return pthread_create(&t, 0, g, 0); }'
breaks "printf" '#include <stdio.h>
void f(int x) { printf("%d", x); }'
breaks "fortified printf" '#include <stdio.h>
int __printf_chk(int, const char *, ...);
void f(int x) { __printf_chk(1, "%d", x); }'
breaks "puts" '#include <stdio.h>
void f(const char *x) { puts(x); }'
breaks "stderr" '#include <stdio.h>
void f(const char *x) { fputs(x, stderr); }'
breaks "write" '#include <unistd.h>
long f(const char *x) { return write(2, x, 1); }'
breaks "a process" '#include <unistd.h>
int f(void) { return fork(); }'
breaks "a socket" '#include <sys/socket.h>
int f(void) { return socket(1, 1, 0); }'
breaks "an end of the process" '#include <stdlib.h>
void f(void) { abort(); }'
breaks "the VOPRF" 'int sotto_voprf_open(void) { return 0; }'
breaks "another library" 'int f(void) { return 0; }' -lssl
if [ "$limit" -gt 0 ]; then
    breaks "too large" "const char f[$limit] = {1};"
    breaks "help texts" 'const char f[] = "names this recipe";'
fi
echo "and a library that breaks a rule is noticed"
