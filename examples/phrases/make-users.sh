#!/bin/sh
# make-users.sh [USERS]: made-up users, one a line: a word that they typed, and a phrase of two or three words around it. The same
# lines each time. The first phrases of the list are the most frequent ones, by Zipf's law.
awk -v users="${1:-50000}" 'BEGIN {
    n = split("thank you|see you soon|good morning|on my way|how are you|i love you|good night|let me know|talk to you|call me back|i am here|what time|be right back|no problem|thank you very|so much fun|see you there|good luck|happy birthday|not yet|i think so|come home soon|where are you|what about you|me too|you are right|sounds good|let us go|call you soon|new york|love you too|back home|see me there|good to know|right on time|so good|i know you|you and me|on time|how much time", phrases, "|")
    x = 20261118
    for (i = 1; i <= n; i++)
        all += 1 / (i + 4)
    print "word,phrase"
    for (i = 0; i < users; i++) {
        u = draw() * all
        k = 0
        do
            u -= 1 / (++k + 4)
        while (u > 0 && k < n)
        count = split(phrases[k], words, " ")
        print words[1 + int(draw() * count)] "," phrases[k]
    }
}
function draw() { x = (x * 69069 + 12345) % 4294967296; return int(x / 256) / 16777216 }'
