#!/bin/sh
# make-table.sh [USERS]: made-up rows of a table, 20 for each user. A row says whose it is, and whether they sat (0), walked (1) or rode (2).
# Four numbers from 0 to 100 follow, which a phone measured. The same lines each time.
awk -v users="${1:-67}" 'BEGIN {
    x = 20261118
    split("10 15 20 60", sat); split("75 30 70 40", walked); split("25 80 35 75", rode)
    print "user,kind,steps,speed,turns,light"
    for (i = 0; i < users; i++)
        for (k = 0; k < 20; k++) {
            kind = int(3 * draw())
            line = i "," kind
            for (c = 1; c <= 4; c++) {
                v = (kind == 0 ? sat[c] : kind == 1 ? walked[c] : rode[c]) + 60 * (draw() + draw() - 1)
                line = line "," int(v < 0 ? 0 : v > 100 ? 100 : v)
            }
            print line
        }
}
function draw() {
    x = (x * 16807) % 2147483647
    return x / 2147483647
}'
