#!/bin/sh
# make-users.sh [USERS]: made-up users, one line a day and user: the user, and how many minutes the app was open. The same lines each time.
# Who never opened it has no line.
awk -v users="${1:-10000}" 'BEGIN {
    x = 20261121
    print "user,minutes"
    for (i = 0; i < users; i++) {
        habit = 60 * draw() * draw()
        for (day = 0; day < 3; day++)
            if (draw() < 0.8)
                printf "u%d,%d\n", i, habit * (0.5 + draw())
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }'
