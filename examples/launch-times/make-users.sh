#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: how many milliseconds the app last took to start. The same lines each time.
# Most take about a second; one in twenty has an old phone and takes four times as long.
awk -v users="${1:-20000}" 'BEGIN {
    x = 20261118
    print "launch_ms"
    for (i = 0; i < users; i++) {
        middle = draw() < 0.05 ? 3600 : 900
        bell = draw() + draw() + draw() + draw() + draw() + draw() - 3
        print int(middle * exp(0.45 * bell))
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }'
