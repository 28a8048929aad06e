# analysis.sh: what test_analysis.sh and test_analysis_servers.sh begin with. They read it with SOTTO and SOURCE as $1 and $2.
sotto=$1 source=$2
work=$(mktemp -d) || exit 1
keeper=
trap '[ -z "$keeper" ] || kill "$keeper" 2>/dev/null; rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR
cd "$work" || exit 1

expect() { # CODE WORDS ARGUMENTS...
    wanted=$1 words=$2
    shift 2
    "$sotto" analysis "$@" >out 2>err
    got=$?
    [ "$got" -eq "$wanted" ] || { echo "$*: wanted exit $wanted, got $got"; cat out err; failed=1; }
    [ -z "$words" ] || grep -qF -- "$words" out err || { echo "$*: does not say '$words'"; cat out err; failed=1; }
}

complain() {
    echo "$1"
    failed=1
}
