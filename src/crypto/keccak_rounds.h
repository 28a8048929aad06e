/* crypto/keccak_rounds.h - the round of Keccak-p[1600], once, for every backend.
 *
 * The including file defines, over the type V that holds one word of each of its states:
 *
 *     XOR(a, b)
 *     XOR3(a, b, c)   best as a ^ (b ^ c): theta then shares b ^ c among the five words of a column
 *     ROL(a, n)       1 <= n <= 63, a constant
 *     CHI(a, b, c)    a ^ (~b & c)
 *     CONSTANT(k)     round constant k in every state
 *
 * KECCAK_ROUND(e, a, k) computes round k from V a[25] into V e[25], word x + 5y at its index. It
 * goes row by row of the result, so that only one row, the column parities and their rotations need
 * registers at a time. Indices are constants: the arrays never exist as such.
 */
#ifndef SOTTO_CRYPTO_KECCAK_ROUNDS_H
#define SOTTO_CRYPTO_KECCAK_ROUNDS_H

#define KECCAK_COLUMN(a, x) XOR3(XOR3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20])

/* Theta on a word of column x: t[x] holds the parity to its left, t[x + 5] the rotated one to its right. */
#define KECCAK_THETA(a, w) XOR3(a[w], t[(w) % 5], t[(w) % 5 + 5])
#define KECCAK_MOVE(a, w, n) ROL(KECCAK_THETA(a, w), n)

#define KECCAK_CHI_ROW(e, y)                                                                       \
    e[y + 1] = CHI(b1, b2, b3);                                                                    \
    e[y + 2] = CHI(b2, b3, b4);                                                                    \
    e[y + 3] = CHI(b3, b4, b0);                                                                    \
    e[y + 4] = CHI(b4, b0, b1)

/* A row of the result from the five words that rho and pi bring there. */
#define KECCAK_ROW(e, y, a, w0, n0, w1, n1, w2, n2, w3, n3, w4, n4)                                \
    do {                                                                                           \
        const V b0 = KECCAK_MOVE(a, w0, n0);                                                       \
        const V b1 = KECCAK_MOVE(a, w1, n1);                                                       \
        const V b2 = KECCAK_MOVE(a, w2, n2);                                                       \
        const V b3 = KECCAK_MOVE(a, w3, n3);                                                       \
        const V b4 = KECCAK_MOVE(a, w4, n4);                                                       \
        e[y] = CHI(b0, b1, b2);                                                                    \
        KECCAK_CHI_ROW(e, y);                                                                      \
    } while (0)

/* The first row apart: its word 0 does not move, and takes the round constant. */
#define KECCAK_FIRST_ROW(e, a, k)                                                                  \
    do {                                                                                           \
        const V b0 = KECCAK_THETA(a, 0);                                                           \
        const V b1 = KECCAK_MOVE(a, 6, 44);                                                        \
        const V b2 = KECCAK_MOVE(a, 12, 43);                                                       \
        const V b3 = KECCAK_MOVE(a, 18, 21);                                                       \
        const V b4 = KECCAK_MOVE(a, 24, 14);                                                       \
        e[0] = XOR(CHI(b0, b1, b2), CONSTANT(k));                                                  \
        KECCAK_CHI_ROW(e, 0);                                                                      \
    } while (0)

#define KECCAK_ROUND(e, a, k)                                                                      \
    do {                                                                                           \
        const V c0 = KECCAK_COLUMN(a, 0), c1 = KECCAK_COLUMN(a, 1), c2 = KECCAK_COLUMN(a, 2);      \
        const V c3 = KECCAK_COLUMN(a, 3), c4 = KECCAK_COLUMN(a, 4);                                \
        const V t[10] = {c4,         c0,         c1,         c2,         c3,                       \
                         ROL(c1, 1), ROL(c2, 1), ROL(c3, 1), ROL(c4, 1), ROL(c0, 1)};              \
        KECCAK_FIRST_ROW(e, a, k);                                                                 \
        KECCAK_ROW(e, 5, a, 3, 28, 9, 20, 10, 3, 16, 45, 22, 61);                                  \
        KECCAK_ROW(e, 10, a, 1, 1, 7, 6, 13, 25, 19, 8, 20, 18);                                   \
        KECCAK_ROW(e, 15, a, 4, 27, 5, 36, 11, 10, 17, 15, 23, 56);                                \
        KECCAK_ROW(e, 20, a, 2, 62, 8, 55, 14, 39, 15, 41, 21, 2);                                 \
    } while (0)

#endif
