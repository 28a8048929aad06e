#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: where on a map of 16 by 16 squares they were, as x and y. The same lines each time.
# A third of them are in one town, around (11, 4); the others are anywhere.
awk -v users="${1:-20000}" 'BEGIN {
    s = 20261121
    print "x,y"
    for (i = 0; i < users; i++) {
        town = draw() < 0.33
        x = town ? 11.5 + 3 * (draw() + draw() - 1) : 16 * draw()
        y = town ? 4.5 + 3 * (draw() + draw() - 1) : 16 * draw()
        printf "%.2f,%.2f\n", x, y
    }
}
function draw() { s = (s * 69069 + 12345) % 4294967296; return int(s / 256) / 16777216 }'
