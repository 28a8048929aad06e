/* crypto/keccak_rounds.h - the rounds of Keccak-p[1600, 12], once, for every backend.
 *
 * The including file defines, over the type V that holds one word of each of its states:
 *
 *     XOR(a, b)
 *     XOR3(a, b, c)
 *     ROL(a, n)       1 <= n <= 63, a constant
 *     CHI(a, b, c)    a ^ (~b & c)
 *     CONSTANT(k)     round constant k in every state
 *     SETTLE(word)    where a compiler needs it: from here on the word is in memory
 *
 * KECCAK_PERMUTE(a) permutes V a[25], word x + 5y at its index. A round goes from one array to
 * another, row by row of the result. It has the sums c of its columns, and sums those for the next round while the row is in
 * registers, so each word is read once. All indices are constants, and where registers suffice the
 * arrays never exist.
 */
#ifndef SOTTO_CRYPTO_KECCAK_ROUNDS_H
#define SOTTO_CRYPTO_KECCAK_ROUNDS_H

#define KECCAK_COLUMN(a, x) XOR3(XOR3(a[x], a[(x) + 5], a[(x) + 10]), a[(x) + 15], a[(x) + 20])

#define KECCAK_COLUMNS(a)                                                                          \
    {                                                                                              \
        KECCAK_COLUMN(a, 0), KECCAK_COLUMN(a, 1), KECCAK_COLUMN(a, 2), KECCAK_COLUMN(a, 3),        \
            KECCAK_COLUMN(a, 4)                                                                    \
    }

/* Theta, rho: d[x] is what theta adds to every word of column x. */
#define KECCAK_MOVE(a, w, n) ROL(XOR(a[w], d[(w) % 5]), n)

/* Chi on one row, from b0..b4 to r0..r4. A backend that does it another way in each row says so first. */
#ifndef KECCAK_CHI_0
#define KECCAK_CHI_ROW                                                                             \
    const V r0 = CHI(b0, b1, b2), r1 = CHI(b1, b2, b3), r2 = CHI(b2, b3, b4);                      \
    const V r3 = CHI(b3, b4, b0), r4 = CHI(b4, b0, b1)
#define KECCAK_CHI_0  KECCAK_CHI_ROW
#define KECCAK_CHI_5  KECCAK_CHI_ROW
#define KECCAK_CHI_10 KECCAK_CHI_ROW
#define KECCAK_CHI_15 KECCAK_CHI_ROW
#define KECCAK_CHI_20 KECCAK_CHI_ROW
#endif

#define KECCAK_SETTLE_ROW(e, y)                                                                    \
    SETTLE(e[(y)]);                                                                                \
    SETTLE(e[(y) + 1]);                                                                            \
    SETTLE(e[(y) + 2]);                                                                            \
    SETTLE(e[(y) + 3]);                                                                            \
    SETTLE(e[(y) + 4])

/* The first row starts the sums c; its word 0 does not move, and takes the round constant. */
#define KECCAK_FIRST_ROW(e, a, c, k)                                                               \
    do {                                                                                           \
        const V b0 = XOR(a[0], d[0]);                                                              \
        const V b1 = KECCAK_MOVE(a, 6, 44);                                                        \
        const V b2 = KECCAK_MOVE(a, 12, 43);                                                       \
        const V b3 = KECCAK_MOVE(a, 18, 21);                                                       \
        const V b4 = KECCAK_MOVE(a, 24, 14);                                                       \
        KECCAK_CHI_0;                                                                              \
        e[0] = c[0] = XOR(r0, CONSTANT(k));                                                        \
        e[1] = c[1] = r1, e[2] = c[2] = r2;                                                        \
        e[3] = c[3] = r3, e[4] = c[4] = r4;                                                        \
        KECCAK_SETTLE_ROW(e, 0);                                                                   \
    } while (0)

/* A later row from the five words that rho and pi bring there. */
#define KECCAK_ROW(e, y, a, c, w0, n0, w1, n1, w2, n2, w3, n3, w4, n4)                             \
    do {                                                                                           \
        const V b0 = KECCAK_MOVE(a, w0, n0);                                                       \
        const V b1 = KECCAK_MOVE(a, w1, n1);                                                       \
        const V b2 = KECCAK_MOVE(a, w2, n2);                                                       \
        const V b3 = KECCAK_MOVE(a, w3, n3);                                                       \
        const V b4 = KECCAK_MOVE(a, w4, n4);                                                       \
        KECCAK_CHI_##y;                                                                            \
        e[(y)] = r0, c[0] = XOR(c[0], r0);                                                         \
        e[(y) + 1] = r1, c[1] = XOR(c[1], r1);                                                     \
        e[(y) + 2] = r2, c[2] = XOR(c[2], r2);                                                     \
        e[(y) + 3] = r3, c[3] = XOR(c[3], r3);                                                     \
        e[(y) + 4] = r4, c[4] = XOR(c[4], r4);                                                     \
        KECCAK_SETTLE_ROW(e, y);                                                                   \
    } while (0)

#define KECCAK_ROUND(e, a, c, k)                                                                   \
    do {                                                                                           \
        const V d[5] = {XOR(c[4], ROL(c[1], 1)), XOR(c[0], ROL(c[2], 1)), XOR(c[1], ROL(c[3], 1)), \
                        XOR(c[2], ROL(c[4], 1)), XOR(c[3], ROL(c[0], 1))};                         \
        KECCAK_FIRST_ROW(e, a, c, k);                                                              \
        KECCAK_ROW(e, 5, a, c, 3, 28, 9, 20, 10, 3, 16, 45, 22, 61);                               \
        KECCAK_ROW(e, 10, a, c, 1, 1, 7, 6, 13, 25, 19, 8, 20, 18);                                \
        KECCAK_ROW(e, 15, a, c, 4, 27, 5, 36, 11, 10, 17, 15, 23, 56);                             \
        KECCAK_ROW(e, 20, a, c, 2, 62, 8, 55, 14, 39, 15, 41, 21, 2);                              \
    } while (0)

#define KECCAK_PERMUTE(a)                                                                          \
    do {                                                                                           \
        V e[SOTTO_KECCAK_WORDS];                                                                   \
        V c[5] = KECCAK_COLUMNS(a);                                                                \
        for (unsigned k = 0; k < SOTTO_KECCAK_ROUNDS; k += 2) {                                    \
            KECCAK_ROUND(e, a, c, k);                                                              \
            KECCAK_ROUND(a, e, c, k + 1);                                                          \
        }                                                                                          \
    } while (0)

#endif
