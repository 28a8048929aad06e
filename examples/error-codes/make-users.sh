#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: the app's version, and the last error code that they met.
# Code E17 is rare, but for version 4.8, where it rises to six in a hundred. The same lines each time.
awk -v users="${1:-20000}" 'BEGIN {
    x = 20261117
    print "version,code"
    for (i = 0; i < users; i++) {
        u = draw()
        version = u < 0.15 ? "4.5" : u < 0.35 ? "4.6" : u < 0.65 ? "4.7" : "4.8"
        if (version == "4.8" && draw() < 0.06)
            code = 17
        else # the lower the number, the more often
            code = 1 + int(30 * draw() * draw())
        printf "%s,E%02d\n", version, code
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }'
