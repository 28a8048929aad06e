#!/bin/sh
# test_demo.sh SOTTO: a whole deployment gives the truth within its intervals, says what hostile devices did, and leaves
# nothing behind; mistakes are answered with their exit codes.
sotto=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR

expect() { # CODE WHAT COMMAND...
    wanted=$1 what=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "$what: wanted exit $wanted, got $got"
        cat "$work/err"
        failed=1
    fi
}

nothing_left() { # WHEN
    ls -d "$work"/sotto-demo-* 2>/dev/null && { echo "$1: files are left"; failed=1; }
    # The servers are forks of the demo, which nothing but their environment tells from others.
    grep -lsF "TMPDIR=$work" /proc/[0-9]*/environ >"$work/running"
    for server in $(cut -d/ -f3 "$work/running"); do
        [ "$(cat "/proc/$server/comm" 2>/dev/null)" = sotto ] || continue
        echo "$1: a server still runs"
        failed=1
    done
}

expect 0 "a small demo" "$sotto" demo --devices 800 --check --json
python3 - "$work/out" <<'CHECK' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
r, trial = d["receipt"], d["trial"]
# Half of the devices are drawn. Every hundredth is hostile, in four ways in turn; the fourth forges, drawn or not.
assert 200 <= d["reports"] == trial["should_count"] <= 600, (d["reports"], trial)
assert sum(b["truth"] for b in d["bins"]) == trial["should_count"]
assert not d["check"]["wrong"]
leader, helper = r["leader_rejections"], r["helper_rejections"]
assert leader.get("report_replayed", 0) == trial["replayed"], (leader, trial)
assert leader.get("hpke_decrypt_error", 0) + helper.get("hpke_decrypt_error", 0) == trial["tampered"], (leader, helper, trial)
assert r["token_kind"] == "type-2", r
assert trial["devices"] == 800 and trial["tampered"] <= 4 and trial["replayed"] <= 2 and trial["forged"] == 2, trial
# A forger has no token.
assert leader["token_invalid"] == 2 and "vdaf_verify_error" not in helper, (leader, helper)
assert (trial["epsilon_left"], trial["epsilon_allowed"]) == (1, 5), trial
assert r["sampling"] and r["epsilon_sampled"] < r["epsilon_cohort"], r
CHECK
# Credentials of ARC, which leader and helper issue: the receipt says so, and a forger has none.
expect 0 "a demo with ARC" "$sotto" demo --devices 200 --tokens arc --check --json
python3 - "$work/out" <<'CHECK' || { echo "with ARC"; failed=1; }
import json, sys
d = json.load(open(sys.argv[1]))
r, trial = d["receipt"], d["trial"]
assert d["reports"] == trial["should_count"] > 0 and not d["check"]["wrong"], (d["reports"], trial)
assert r["tokens"] and r["token_kind"] == "arc", r
assert r["sampling"] and r["epsilon_sampled"] < r["epsilon_cohort"], r
CHECK
# without PARTS WORDS REJECTED: what the receipt then says of sampling, and why the forged report is rejected.
without() {
    expect 0 "a demo without $1" "$sotto" demo --devices 400 --check --json --without "$1"
    python3 - "$work/out" "$2" "$3" <<'CHECK' || { echo "without $1"; failed=1; }
import json, sys
d = json.load(open(sys.argv[1]))
r, trial = d["receipt"], d["trial"]
assert d["reports"] == trial["should_count"] and not d["check"]["wrong"], (d["reports"], trial)
assert not r["sampling"] and sys.argv[2] in r["sampling_why"], r
assert r["epsilon_sampled"] == r["epsilon_cohort"], r
leader, helper = r["leader_rejections"], r["helper_rejections"]
assert (leader if sys.argv[3] == "token_invalid" else helper)[sys.argv[3]] == trial["forged"] == 1, (leader, helper)
assert leader.get("report_replayed", 0) == trial["replayed"], (leader, trial)
CHECK
}
without relay "names no relay" token_invalid
without tokens "asks for no tokens" vdaf_verify_error
without log "names no log" token_invalid
without relay,tokens,log "names no relay, so servers see who takes part; it asks for no tokens, so one device can answer as many; it names no log" vdaf_verify_error
nothing_left "afterwards"
# In words, too.
expect 0 "a demo in words" "$sotto" demo --devices 200 --without relay,log
grep -q "^Without a relay the leader sees" "$work/out" && grep -q "^Without a log one device" "$work/out" &&
    ! grep -q "^Without tokens" "$work/out" && grep -q "silent; 4 servers" "$work/out" ||
    { echo "it does not say what a demo without relay and log lacks"; failed=1; }
grep -q "may know who took part: the leader, which sees the address" "$work/out" &&
    grep -q "must not work together: attester (key:attester) or issuer (key:issuer) with a server" "$work/out" ||
    { echo "the receipt without a relay names fewer parties"; failed=1; }
# ended_by SIGNAL CODE: a demo that is told to end by this signal says so, and leaves nothing.
ended_by() {
    "$sotto" demo --devices 100000 >/dev/null 2>&1 &
    demo=$!
    # Until it has its directory, and so its handler: what the shell runs beside itself ignores Ctrl-C before that.
    waited=0
    until ls -d "$work"/sotto-demo-* >/dev/null 2>&1 || [ "$waited" -ge 600 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    sleep 1
    kill -$1 $demo
    wait $demo
    code=$?
    [ $code -eq "$2" ] || { echo "a demo ended by SIG$1 says $code, not $2"; failed=1; }
    nothing_left "after SIG$1"
}
ended_by INT 130
ended_by HUP 129
ended_by TERM 143
# A reader that goes away.
sh -c '"$1" demo --devices 100000 2>&1; echo $? >"$2"' sh "$sotto" "$work/code" | head -1 >/dev/null
[ "$(cat "$work/code")" -eq 141 ] || { echo "a demo whose reader went away ends with $(cat "$work/code")"; failed=1; }
nothing_left "after SIGPIPE"

# On a terminal: the bar stays within its line, and one that is interrupted stays where it was.
python3 - "$sotto" <<'CHECK' || failed=1
import fcntl, os, pty, re, struct, sys, termios

def demo(columns, devices, interrupt):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(sys.argv[1], ["sotto", "demo", "--devices", str(devices), "--without", "relay,tokens,log"])
    seen = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if interrupt and b"[#" in seen:
            os.write(fd, b"\x03")
            interrupt = False
    os.waitpid(pid, 0)
    return [line for line in re.split(r"[\r\n]", seen.decode(errors="replace")) if re.search(r"%(\^C)?$", line)]

for columns in 80, 60, 30, 12:
    bars = demo(columns, 200, False)
    assert bars and max(map(len, bars)) < columns, (columns, bars)
    assert bars[-1].endswith("100%"), bars
bars = demo(80, 100000, True)
assert bars and not any("100%" in bar for bar in bars), bars
CHECK
nothing_left "on a terminal"

expect 0 "in words" "$sotto" demo --devices 200
grep -q "charged epsilon 4.000 of its 5.000 for this analysis" "$work/out" ||
    { echo "it does not say what a device was charged"; failed=1; }
expect 0 "help" "$sotto" demo --help
expect 0 "the list of verbs" "$sotto" --help
expect 2 "no verb" "$sotto"
expect 2 "an unknown verb" "$sotto" nosuch
expect 2 "an unknown option" "$sotto" demo --nosuch
expect 2 "devices without a number" "$sotto" demo --devices
grep -q -- "--devices: it lacks its value" "$work/err" ||
    { echo "it does not say what --devices lacks"; failed=1; }
expect 2 "no devices" "$sotto" demo --devices 0
grep -q "a whole number from 200 to 1000000" "$work/err" || { echo "it does not say what --devices takes"; failed=1; }
expect 2 "a part that there is not" "$sotto" demo --without relay,noise
grep -q "relay, tokens and log" "$work/err" || { echo "it does not say what --without takes"; failed=1; }
expect 2 "without, and nothing behind it" "$sotto" demo --without
expect 2 "a kind of token that there is not" "$sotto" demo --tokens coins
grep -q "type-2 or arc" "$work/err" || { echo "it does not say what --tokens takes"; failed=1; }
expect 2 "ARC without tokens" "$sotto" demo --tokens arc --without tokens
expect 1 "a full disk" sh -c '"$1" demo --devices 200 >/dev/full' sh "$sotto"
exit $failed
