/* aggregate/vector.h - a vector of whole numbers in the ring that a round adds up in.
 *
 * Memory:   the entries are the caller's.
 * Wire:     z32 and z64 entries are little endian, as memory has them, so that a masked vector is never re-encoded.
 */
#ifndef SOTTO_AGGREGATE_VECTOR_H
#define SOTTO_AGGREGATE_VECTOR_H

#include "sotto/vdaf.h"

typedef enum sotto_ring {
    SOTTO_RING_Z32 = 1, /* integers modulo 2^32; a negative number is its two's complement */
    SOTTO_RING_Z64,
    SOTTO_RING_F64, /* Field64 and Field128 of VDAF */
    SOTTO_RING_F128,
    SOTTO_RING_RLWE, /* plaintexts of a lattice scheme: no method of this build */
} sotto_ring;

typedef struct sotto_vector {
    sotto_ring ring;
    size_t length;
    union {
        uint32_t *z32;
        uint64_t *z64;
        sotto_uint128 *wide; /* sums in a field, as two's complement of 128 bits */
    } of;
} sotto_vector;

/* Bytes of an entry on the wire; 0 for what has none. */
static inline size_t sotto_ring_width(sotto_ring ring)
{
    return ring == SOTTO_RING_Z32 ? 4 : ring == SOTTO_RING_Z64 ? 8 : 0;
}

/* The wire form of a z32 or z64 vector: its own memory. */
static inline sotto_bytes sotto_vector_bytes(const sotto_vector *v)
{
    return sotto_bytes_of(v->ring == SOTTO_RING_Z32 ? (const void *)v->of.z32
                                                    : (const void *)v->of.z64,
                          v->length * sotto_ring_width(v->ring));
}

#endif
