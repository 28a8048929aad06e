#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: their age, and a phrase that they typed. The same lines each time.
# People below 30 write "hello world" more often than others do.
awk -v users="${1:-50000}" 'BEGIN {
    x = 20261119
    print "age,ngram"
    rest = split("i went home,i went school,i got home,i got a,hello world and,hello world i,good morning", other, ",")
    for (i = 0; i < users; i++) {
        age = 14 + int(70 * draw() * draw() + 10 * draw())
        phrase = draw() < (age < 30 ? 0.4 : 0.1) ? "hello world" : other[1 + int(rest * draw())]
        printf "%d,%s\n", age, phrase
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }'
