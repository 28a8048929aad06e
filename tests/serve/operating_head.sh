# What the tests of docs/operating.md have in common. The caller is run as TEST PAGE SOTTO, and sets `ports`: how many it needs.
# Sets page, look, base (the first of its ports) and directory, which goes with all that runs in it; `sotto` is in PATH.
here=$(cd "$(dirname "$0")" && pwd)
page=$1
look=$here/look.sh
directory=$(mktemp -d) || exit 1
. "$here/../support/base_port.sh"
base=$(base_port "$ports")

finish() {
    code=$?
    [ "$code" -eq 0 ] || for log in "$directory"/*.log; do echo "--- $log"; cat "$log"; done
    # What is still running was started in the directory: a server of the page leaves its number behind.
    [ -f "$directory/pids" ] && for pid in $(cat "$directory/pids"); do kill "$pid" 2>/dev/null; done
    rm -rf "$directory"
    exit "$code"
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
    echo "$(basename "$0"): $1"
    exit 1
}

# types FILE...: runs them one after the other in one shell, which ends at the first command that fails.
types() {
    sh -eu -c '. "$0"; for file; do . "./$file"; done' "$look" "$@" >output 2>errors ||
        { cat output errors; fail "a command of the page fails"; }
}

expect() { # TIMES LINE [FILE]
    [ "$(grep -c "$2" "${3:-output}")" -eq "$1" ] || { cat output errors; fail "not $1 times: $2"; }
}

refuses() { # CODE TEXT COMMAND...
    wanted=$1
    text=$2
    shift 2
    "$@" >out 2>&1
    got=$?
    [ "$got" -eq "$wanted" ] || { cat out; fail "exit $got instead of $wanted: $*"; }
    grep -q -- "$text" out || { cat out; fail "does not say '$text': $*"; }
}

# stopped LOG: `drain` returns once the last port is closed, a moment before the last line.
stopped() {
    for moment in $(seq 60); do
        ! grep -q 'server.stopped' "$1" || return 0
        sleep 1
    done
    fail "$1: no graceful end"
}

mkdir "$directory/bin" && ln -s "$2" "$directory/bin/sotto" || exit 1
PATH=$directory/bin:$PATH
export PATH
