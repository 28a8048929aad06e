#!/bin/sh
# units.sh BUILD PROGRAM: the servers' units keep from them what they don't need, each line of it, and are units.
build=$1
program=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
    echo "$1"
    failed=1
}

services="leader helper gateway relay log witness issuer attester aggregator"
names=$services
for role in leader helper; do
    names="$names $role-gc"
done
for name in $names; do
    name=sotto-$name
    unit=$build/$name.service
    while read -r line; do
        grep -qxF "$line" "$unit" || complain "$name.service: no $line"
    done <<'END'
User=sotto
StateDirectoryMode=0700
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectProc=invisible
ProcSubset=pid
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
LimitCORE=0
MemorySwapMax=0
END
    # The program is not installed yet, and a unit whose program is missing is none.
    sed "s|^ExecStart=[^ ]*|ExecStart=$program|" "$unit" >"$work/$name.service"
done
for role in $services; do
    grep -q "^ExecStart=/.*/sotto serve $role --config /etc/sotto/$role.ini$" "$build/sotto-$role.service" ||
        complain "sotto-$role.service: does not start a $role"
    grep -qx 'ExecReload=/bin/kill -HUP $MAINPID' "$build/sotto-$role.service" ||
        complain "sotto-$role.service: does not reload a certificate"
    "$program" serve "$role" --sample | grep -q "^\[$role\]" || complain "$role: no service of the program"
    # Credentials that an option takes, and no others.
    for name in $(sed -n 's/^#LoadCredential=\([a-z-]*\):.*/\1/p' "$build/sotto-$role.service"); do
        "$program" serve "$role" --reference | grep -q "credential .*$role \`$name\`" ||
            "$program" serve "$role" --reference | grep "credential \`$name\`" | cut -d '|' -f 3 |
            grep -qw "all\|$role" ||
            complain "sotto-$role.service: no option takes the credential $name"
    done
    # ... and all of them: `all` or the role takes it, and where roles have names of their own, this one's is meant.
    for name in $("$program" serve "$role" --reference | grep '^|.*; credential ' |
        awk -F '|' -v role="$role" '(" " $3 " ") ~ ("[ ,](all|" role ")[ ,]") {
            sub(/.*; credential /, "")
            if (match($0, role " `[a-z-]+`")) $0 = substr($0, RSTART + length(role) + 1, RLENGTH - length(role) - 1)
            match($0, /`[a-z-]+`/)
            print substr($0, RSTART + 1, RLENGTH - 2)
        }'); do
        echo "$role $name" >>"$work/taken"
        grep -q "^#LoadCredential=$name:/etc/sotto/" "$build/sotto-$role.service" ||
            complain "sotto-$role.service: no line for the credential $name"
    done
done
grep -qx "witness beacon-token" "$work/taken" || complain "credentials of options were not found"
"$program" serve --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | while read -r role; do
    [ -f "$build/sotto-$role.service" ] || echo "$role"
done >"$work/without"
[ ! -s "$work/without" ] || complain "without a unit: $(tr '\n' ' ' <"$work/without")"
for role in leader helper; do
    grep -q "^ExecStart=/.*/sotto admin gc --config /etc/sotto/$role.ini$" "$build/sotto-$role-gc.service" ||
        complain "sotto-$role-gc.service: does not clear away"
    grep -qx "OnCalendar=daily" "$build/sotto-$role-gc.timer" || complain "sotto-$role-gc.timer: not each day"
    cp "$build/sotto-$role-gc.timer" "$work/"
done
if ! command -v systemd-analyze >/dev/null; then
    [ "$failed" -eq 0 ] || exit 1
    echo "skipped: the units were read, but there is no systemd-analyze to judge them"
    exit 77
fi
said=$(systemd-analyze verify --man=no "$work"/*.timer 2>&1) && [ -z "$said" ] || complain "verify: $said"
for name in $names; do
    unit=$work/sotto-$name.service
    said=$(systemd-analyze verify --man=no "$unit" 2>&1) && [ -z "$said" ] || complain "verify: $said"
    if ! systemd-analyze --help | grep -q -- --offline; then
        echo "not judged: this systemd-analyze has no --offline (250 or later has)"
    # In tenths. Of 100, up to 20 is what it calls OK.
    elif ! systemd-analyze security --no-pager --offline=true --threshold=20 "$unit" >"$work/said" 2>&1; then
        complain "security: $(tail -n 1 "$work/said")"
    else
        tail -n 1 "$work/said"
    fi
done
exit $failed
