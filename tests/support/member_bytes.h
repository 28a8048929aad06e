/* tests/support/member_bytes.h - bytes of HTTP bodies that a member of a committee transfers in a round on the fast path, by what it has to read and
 * say. A test compares it with a member's client (serve_traffic); benchmarks compute from it what nobody runs.
 */
#ifndef SOTTO_TESTS_SUPPORT_MEMBER_BYTES_H
#define SOTTO_TESTS_SUPPORT_MEMBER_BYTES_H

#include "aggregate/aero/aero.h"

typedef struct sotto_member_bytes {
    double committee, threshold, committees;
    double ciphertexts, groups; /* that it opens */
    uint32_t leaves, noise;     /* of each tree  */
} sotto_member_bytes;

/* Envelope and signature of a message; and of an entry around a record. */
enum {
    SOTTO_MEMBER_MESSAGE = SOTTO_MESSAGE_HEAD + 1 + SOTTO_SIGNATURE,
    SOTTO_MEMBER_ENTRY = 12 + SOTTO_MESSAGE_HEAD + 1 + 12
};

/* Its part of the key, its shares of it to others, its parts of sums. */
static inline double sotto_member_sends(const sotto_aero *aero, const sotto_member_bytes *m)
{
    const double poly = (double)sotto_aero_poly_size(aero);

    return 32 + poly + (m->committee - m->threshold + 1) * (poly + 16) + (m->threshold - 1) * 48 +
           m->ciphertexts * poly + 7 * SOTTO_MEMBER_MESSAGE;
}

/* Each dealer's head and share, or seed, in pieces with the hashes beside them; all public keys; the c1 of sums, with noise members' leaves;
 * and short records of everybody. */
static inline double sotto_member_reads(const sotto_aero *aero, const sotto_member_bytes *m)
{
    const double poly = (double)sotto_aero_poly_size(aero),
                 record = SOTTO_MEMBER_ENTRY + SOTTO_MEMBER_MESSAGE;
    const double dealt = m->committee * (32 + poly) +
                         (m->committee - m->threshold + 1) * (poly + 16) +
                         m->committee * (1.5 * SOTTO_BODY_PIECE + 22 * 32);
    const double all = m->committee * m->committees;
    const double shorts = all * (5 * record + 96 + SOTTO_AERO_CERTIFICATE + 64 + 32 + 64);

    return dealt + m->committees * poly + shorts +
           m->ciphertexts * (double)sotto_aero_sum_size(aero, m->leaves) +
           m->groups * m->noise * 70.0;
}

#endif
