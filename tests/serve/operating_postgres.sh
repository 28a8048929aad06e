#!/bin/sh
# operating_postgres.sh docs/operating.md SOTTO: the page from its start to its answer, with the program itself over the
# PostgreSQL server at $SOTTO_POSTGRES (tests/support/postgres.sh run). A second replica of each server runs beside the first.
# Devices take turns between the leaders, one leader is killed, and the other has every report. Leases are short, so that what
# the killed one held is taken up soon.
command -v curl >/dev/null && command -v psql >/dev/null || { echo "skipped: no curl, or no psql" >&2; exit 77; }
ports=8
. "$(dirname "$0")/operating_head.sh"

for role in leader helper; do
    psql -q "$SOTTO_POSTGRES" -c "CREATE DATABASE sotto_$role" || fail "no database"
done
address=$(echo "$SOTTO_POSTGRES" | sed 's/ dbname=[^ ]*//')
cd "$directory" || exit 1
awk '/^## 8/ { exit } /^```sh$/ { run = 1; next } /^```/ { run = 0 } run' "$page" |
    sed -e "s/127\.0\.0\.1:8787/127.0.0.1:$base/; s/127\.0\.0\.1:8788/127.0.0.1:$((base + 1))/" \
        -e "s|^database = sqlite:\(.*\)\.db|database = $address dbname=sotto_\1|" \
        -e "s/^\[leader\]$/[leader]\noperations = 127.0.0.1:$((base + 2))\nlease = 5s/" \
        -e "s/^\[helper\]$/[helper]\noperations = 127.0.0.1:$((base + 3))/" \
        -e 's/^sotto admin health /look /' -e 's/ &$/ \& echo $! >> pids/' >page.sh
# Up to the devices; then the replicas; then the devices; then the answer.
sed '/^cat > streams.json/,$d' page.sh >servers.sh
sed -n '/^cat > streams.json/,/^done$/p' page.sh >devices.sh
sed -n '/^sotto collect --recipe/,$p' page.sh >answer.sh
for part in servers devices answer; do
    [ -s $part.sh ] || fail "the page has lost its $part"
done
types servers.sh
[ "$(sed -n 's/^fingerprint //p' output | sort -u | wc -l)" -eq 1 ] || fail "fingerprints differ"

replica() { # ROLE PORT OPERATIONS
    sed -e "s/^listen = .*/listen = 127.0.0.1:$2/" -e "s/^operations = .*/operations = 127.0.0.1:$3/" "$1.ini" >"$1-2.ini"
    sotto serve "$1" --config "$1-2.ini" 2>"$1-2.log" &
    echo $! >>pids
    echo $! >"$1-2.pid"
    for moment in $(seq 60); do
        sotto admin health --config "$1-2.ini" >said 2>&1 && return
        sleep 1
    done
    cat said
    fail "a second $1 is not ready"
}
replica leader $((base + 4)) $((base + 5))
replica helper $((base + 6)) $((base + 7))
[ "$(sotto admin task list --config leader-2.ini | grep -c '^task .*paired')" -eq 1 ] || fail "the second leader has no task"

# Every other device posts to the second leader, without knowing. What that one acknowledged is in the database when it is killed.
real=$(command -v curl)
cat >bin/curl <<END
#!/bin/sh
turn=\$((\$(cat "$directory/turn" 2>/dev/null || echo 0) + 1))
echo \$turn >"$directory/turn"
for word; do
    shift
    [ \$((turn % 2)) -eq 1 ] || word=\$(echo "\$word" | sed "s/127\.0\.0\.1:$base/127.0.0.1:$((base + 4))/")
    set -- "\$@" "\$word"
done
exec "$real" "\$@"
END
chmod +x bin/curl
opens=$(sed -n 's/.*"opens": "\([^"]*\)".*/\1/p' recipe.json)
{ echo "opens=$(date -d "$opens" +%s)"; cat devices.sh; } >spread.sh
sh -eu spread.sh >>output 2>>errors || { cat output errors; fail "a device of the page fails"; }
grep -q 'the leader rejected' output && { cat output; fail "a report was refused"; }
"$real" -s "http://127.0.0.1:$((base + 5))/metrics" | grep -q '^sotto_reports_accepted_total 6$' || fail "the second leader had no six reports"
kill -KILL "$(cat leader-2.pid)"
sh -eu answer.sh >answer 2>>errors || { cat answer errors; fail "no answer"; }
grep -q '^12 reports; estimated counts with 95% intervals' answer || { cat answer; fail "not all reports are in the answer"; }

for config in leader helper helper-2; do
    sotto admin drain --config $config.ini >said 2>&1 || { cat said; fail "$config does not end"; }
done
echo "two leaders and two helpers over PostgreSQL: 12 reports of 12, one leader killed"
