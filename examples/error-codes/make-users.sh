#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: the app's version, the last error code that they met, and the model of the phone.
# Code E17 is rare, but for version 4.8, where it rises to six in a hundred: most of these have the model mini. The same lines each time.
awk -v users="${1:-20000}" 'BEGIN {
    x = 20261117
    y = 20261118
    print "version,code,model"
    for (i = 0; i < users; i++) {
        u = draw()
        version = u < 0.15 ? "4.5" : u < 0.35 ? "4.6" : u < 0.65 ? "4.7" : "4.8"
        planted = version == "4.8" && draw() < 0.06
        # the lower the number, the more often
        code = planted ? 17 : 1 + int(30 * draw() * draw())
        printf "%s,E%02d,%s\n", version, code, model(planted)
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }
function model(planted) {
    y = (y * 69069 + 12345) % 4294967296
    u = int(y / 256) / 16777216
    if (planted && u < 0.8)
        return "mini"
    return u < 0.4 ? "classic" : u < 0.7 ? "plus" : u < 0.9 ? "fold" : "mini"
}'
