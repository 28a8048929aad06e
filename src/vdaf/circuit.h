/* vdaf/circuit.h - a validity circuit as data: what Prio3 proves about a measurement.
 *
 * Callers:  prio3_*.c build one and hand it to the proof system (flp.h).
 *
 * Every circuit here calls one gadget, and has one of three shapes:
 *   product  (Count)   Mul(x, x) = x
 *   each     (Sum)     a polynomial that must vanish at every element, one call each
 *   chunks   (vectors) sums of r^(j+1) * x_j * (x_j - 1) over chunks of elements, which must vanish,
 *                      and perhaps a linear check over all elements
 * Elements are 0 or 1 and spell integers: all weights are powers of two except the last, which is chosen
 * so that exactly 0..max can be spelled (draft-irtf-cfrg-vdaf-20, "Prio3Sum").
 */
#ifndef SOTTO_VDAF_CIRCUIT_H
#define SOTTO_VDAF_CIRCUIT_H

#include "sotto/vdaf.h"

#define SOTTO_VDAF_VERSION 18 /* of the wire format: drafts 18 to 20 */

typedef enum sotto_circuit_shape {
    SOTTO_SHAPE_PRODUCT,
    SOTTO_SHAPE_EACH,
    SOTTO_SHAPE_CHUNKS
} sotto_circuit_shape;

/* What must hold of the elements' sum, besides each being 0 or 1. */
typedef enum sotto_linear_check {
    SOTTO_LINEAR_NONE,
    SOTTO_LINEAR_ONE,   /* they add up to one                                          */
    SOTTO_LINEAR_CLAIM, /* the integers add up to the one spelled by the last elements */
} sotto_linear_check;

enum { SOTTO_CIRCUIT_MAX_DEGREE = 7 };

typedef struct sotto_circuit {
    /* What the caller of sotto_prio3_init_circuit fills in. */
    uint32_t algorithm;
    unsigned field; /* 64 or 128 */
    unsigned shares;
    unsigned proofs;
    sotto_circuit_shape shape;
    sotto_linear_check linear;
    unsigned degree; /* of the gadget                              */
    int64_t
        polynomial[SOTTO_CIRCUIT_MAX_DEGREE + 1]; /* shape each: coefficients from the constant */
    uint64_t entries;                             /* integers that come out                     */
    unsigned bits;                                /* elements that spell one of them            */
    uint64_t max;                                 /* largest value of an entry                  */
    unsigned claim_bits;                          /* elements that spell the claim, at the end  */
    uint64_t claim_max;
    bool one_hot;          /* the measurement is the index of the only one */
    uint64_t chunk_length; /* shape chunks                                 */

    /* Derived; names as in the draft. */
    size_t element_size;
    size_t meas_len;
    size_t calls;
    size_t arity;
    unsigned wire_log;   /* wire polynomials have 2^wire_log values */
    unsigned gadget_log; /* the gadget polynomial, extended to 2^gadget_log */
    size_t gadget_poly_len;
    size_t eval_output_len;
    size_t joint_rand_len;
    size_t prove_rand_len;
    size_t query_rand_len;
    size_t proof_len;
    size_t verifier_len;

    const struct sotto_flp *flp; /* the proof system over this circuit's field */
    const void *tables;          /* its precomputed roots                      */
} sotto_circuit;

/* Builds an instance from a description with the first part filled in. Public types go through
 * sotto_prio3_init; this is for circuits that only tests know. */
sotto_status sotto_prio3_init_circuit(sotto_prio3 *vdaf, sotto_arena *arena,
                                      const sotto_circuit *description, sotto_err *err);

/* The weight of bit `bit` of a range-checked integer of `bits` bits. */
uint64_t sotto_circuit_weight(unsigned bit, unsigned bits, uint64_t max);

static inline size_t sotto_circuit_claim_at(const sotto_circuit *c)
{
    return (size_t)c->entries * c->bits;
}

/* Wire encodings of share vectors. */
static inline size_t sotto_circuit_bytes(const sotto_circuit *c, size_t elements)
{
    return elements * c->element_size;
}

#endif
