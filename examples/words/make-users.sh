#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: a word that they typed. The same lines each time.
# The first words of the list are the most frequent ones, by Zipf's law; "zyzzyva" is new, and typed by one in a hundred.
awk -v users="${1:-50000}" 'BEGIN {
    n = split("the you to it of and that is in what we this me my no for not have do be on are was but know just your with get so all here there like can if well up about want think right now how out good time see come one as would go from they her could take him yes had has make look back did them why were who then some tell over where when down because say something love said more need really or been us little off an mean thing way only too very even anything any people never day before much after first again home still into work help nothing always maybe money believe please night great better friend leave through thought", words, " ")
    x = 20261118
    for (i = 1; i <= n; i++)
        all += 1 / (i + 4)
    print "word"
    for (i = 0; i < users; i++) {
        u = draw() * all
        k = 0
        do
            u -= 1 / (++k + 4)
        while (u > 0 && k < n)
        print draw() < 0.01 ? "zyzzyva" : words[k]
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }'
