# program.sh: what tests of programs share. Their first argument is the program; they source this file, and end with finish.
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
out=$work/out
name=
failures=0

# begin NAME: a test of its own, with an empty folder to fill
begin() {
    name=$1
    dir=$work/$name
    mkdir -p "$dir"
}

complain() {
    echo "FAILED $name: $1"
    sed 's/^/    /' "$out"
    failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENTS...: with $verb before them, ends with this code and prints this text
verb=
expect() {
    code=$1 text=$2
    shift 2
    "$program" $verb "$@" >"$out" 2>&1
    got=$?
    [ "$got" -eq "$code" ] || complain "$verb $*: ended with $got, not $code"
    grep -qF -- "$text" "$out" || complain "$verb $*: does not say \"$text\""
}

# of what was printed last
says() {
    grep -q -- "$1" "$out" || complain "does not say '$1'"
}

says_not() {
    ! grep -q -- "$1" "$out" || complain "says '$1'"
}

finish() {
    [ $failures -eq 0 ] && echo "all right"
}
