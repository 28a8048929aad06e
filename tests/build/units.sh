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

for role in leader helper; do
    unit=$build/sotto-$role.service
    while read -r line; do
        grep -qxF "$line" "$unit" || complain "sotto-$role.service: no $line"
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
    grep -q "^ExecStart=/.*/sotto serve $role --config /etc/sotto/$role.ini$" "$unit" ||
        complain "sotto-$role.service: does not start a $role"
    # The program is not installed yet, and a unit whose program is missing is none.
    sed "s|^ExecStart=[^ ]*|ExecStart=$program|" "$unit" >"$work/sotto-$role.service"
done
sed 's/leader/helper/g' "$work/sotto-leader.service" | diff - "$work/sotto-helper.service" ||
    complain "the two units differ in more than their names"

if ! command -v systemd-analyze >/dev/null; then
    [ "$failed" -eq 0 ] || exit 1
    echo "skipped: the units were read, but there is no systemd-analyze to judge them"
    exit 77
fi
for role in leader helper; do
    unit=$work/sotto-$role.service
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
