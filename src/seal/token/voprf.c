#include "seal/token/voprf.h"

#include <string.h>

#define LITERAL(text) sotto_bytes_of(text, sizeof(text) - 1)

sotto_status sotto_voprf_init(sotto_voprf *v, const sotto_curve *curve, sotto_voprf_mode mode,
                              sotto_err *err)
{
    const bool p384 = curve == &sotto_p384;

    memset(v, 0, sizeof *v);
    v->hash = p384 ? SOTTO_SHA384 : SOTTO_SHA256;
    memcpy(v->context, "OPRFV1-", 7);
    v->context[7] = (uint8_t)mode;
    memcpy(v->context + 8, p384 ? "-P384-SHA384" : "-P256-SHA256", 12);
    v->context_len = 20;
    return sotto_group_init(&v->group, curve, err);
}

void sotto_voprf_clear(sotto_voprf *v)
{
    sotto_group_clear(&v->group);
}

/* A domain separation tag: the purpose before the context. */
typedef struct tag {
    uint8_t bytes[16 + SOTTO_VOPRF_CONTEXT];
    size_t len;
} tag;

static sotto_bytes tag_of(tag *t, const sotto_voprf *v, const char *purpose)
{
    t->len = strlen(purpose);
    memcpy(t->bytes, purpose, t->len);
    memcpy(t->bytes + t->len, v->context, v->context_len);
    t->len += v->context_len;
    return sotto_bytes_of(t->bytes, t->len);
}

static void length_of(uint8_t out[2], size_t len)
{
    out[0] = (uint8_t)(len >> 8);
    out[1] = (uint8_t)len;
}

static sotto_status no_point(const char *what, sotto_err *err)
{
    return sotto_fail(err, SOTTO_REJECTED, "VOPRF: %s is no point of the curve", what);
}

/* ---- keys (3.2) ------------------------------------------------------------------------------------------------- */

sotto_status sotto_voprf_public(sotto_voprf *v, uint8_t *public_key, const sotto_scalar *key,
                                sotto_err *err)
{
    sotto_point *p = sotto_point_new(&v->group);

    sotto_point_multiply(&v->group, p, key, NULL);
    bool encoded = sotto_point_encode(&v->group, public_key, p);
    sotto_point_free(p);
    SOTTO_TRY(sotto_group_finish(&v->group, err));
    return encoded ? SOTTO_OK : sotto_fail(err, SOTTO_MALFORMED, "VOPRF: a private key of zero");
}

sotto_status sotto_voprf_derive(sotto_voprf *v, sotto_scalar *key, uint8_t *public_key,
                                sotto_bytes seed, sotto_bytes info, sotto_err *err)
{
    uint8_t len[2], counter = 0; /* a second try is needed once in 2^256 */
    tag t;
    const sotto_bytes parts[] = {seed, sotto_bytes_of(len, 2), info, sotto_bytes_of(&counter, 1)};

    length_of(len, info.len);
    sotto_scalar_hash_vartime(&v->group, key, tag_of(&t, v, "DeriveKeyPair"), parts, 4);
    return sotto_voprf_public(v, public_key, key, err);
}

/* ---- blinding (3.3.1) ------------------------------------------------------------------------------------------- */

static sotto_status hash_input(sotto_voprf *v, sotto_point *out, sotto_bytes input, sotto_err *err)
{
    tag t;

    if (input.len > SOTTO_VOPRF_INPUT)
        return sotto_fail(err, SOTTO_TOO_LARGE, "VOPRF: an input of %zu bytes", input.len);
    sotto_point_hash_vartime(&v->group, out, tag_of(&t, v, "HashToGroup-"), &input, 1);
    return SOTTO_OK;
}

/* encoded = by * HashToGroup(input). */
static sotto_status multiply_input(sotto_voprf *v, uint8_t *encoded, sotto_bytes input,
                                   const sotto_scalar *by, sotto_err *err)
{
    sotto_point *p = sotto_point_new(&v->group);
    sotto_status status = hash_input(v, p, input, err);
    bool point = false;

    if (status == SOTTO_OK) {
        sotto_point_multiply(&v->group, p, by, p);
        point = sotto_point_encode(&v->group, encoded, p);
        status = sotto_group_finish(&v->group, err);
    }
    sotto_point_free(p);
    if (status == SOTTO_OK && !point)
        status = no_point("an input's image", err);
    return status;
}

sotto_status sotto_voprf_blind(sotto_voprf *v, uint8_t *blinded, sotto_bytes input,
                               const sotto_scalar *blind, sotto_err *err)
{
    return multiply_input(v, blinded, input, blind, err);
}

static void hash_output(const sotto_voprf *v, uint8_t *out, sotto_bytes input,
                        const uint8_t *element)
{
    uint8_t len[2];
    sotto_hash hash;

    sotto_hash_init(&hash, v->hash);
    length_of(len, input.len);
    sotto_hash_update(&hash, sotto_bytes_of(len, 2));
    sotto_hash_update(&hash, input);
    length_of(len, v->group.point_size);
    sotto_hash_update(&hash, sotto_bytes_of(len, 2));
    sotto_hash_update(&hash, sotto_bytes_of(element, v->group.point_size));
    sotto_hash_update(&hash, LITERAL("Finalize"));
    sotto_hash_final(&hash, out);
}

sotto_status sotto_voprf_direct(sotto_voprf *v, uint8_t *out, sotto_bytes input,
                                const sotto_scalar *key, sotto_err *err)
{
    uint8_t element[SOTTO_POINT_MAX];

    SOTTO_TRY(multiply_input(v, element, input, key, err));
    hash_output(v, out, input, element);
    return SOTTO_OK;
}

sotto_status sotto_voprf_finalize(sotto_voprf *v, uint8_t *out, sotto_bytes input,
                                  const sotto_scalar *blind, const uint8_t *evaluated,
                                  sotto_err *err)
{
    uint8_t element[SOTTO_POINT_MAX];
    sotto_scalar inverse;

    if (input.len > SOTTO_VOPRF_INPUT)
        return sotto_fail(err, SOTTO_TOO_LARGE, "VOPRF: an input of %zu bytes", input.len);
    sotto_point *p = sotto_point_new(&v->group);
    bool point = sotto_point_decode(&v->group, p, evaluated);
    if (point) {
        sotto_scalar_invert(&v->group, &inverse, blind);
        sotto_point_multiply(&v->group, p, &inverse, p);
        point = sotto_point_encode(&v->group, element, p);
        sotto_wipe(&inverse, sizeof inverse);
    }
    sotto_point_free(p);
    SOTTO_TRY(sotto_group_finish(&v->group, err));
    if (!point)
        return no_point("an evaluated element", err);
    hash_output(v, out, input, element);
    return SOTTO_OK;
}

/* ---- proofs (2.2) ------------------------------------------------------------------------------------------------ */

typedef struct transcript {
    sotto_point *m, *z, *t2, *t3;
    uint8_t public_key[SOTTO_POINT_MAX];
} transcript;

static void transcript_end(transcript *t)
{
    sotto_point_free(t->m);
    sotto_point_free(t->z);
    sotto_point_free(t->t2);
    sotto_point_free(t->t3);
}

static void transcript_begin(sotto_voprf *v, transcript *t, const uint8_t *public_key)
{
    t->m = sotto_point_new(&v->group);
    t->z = sotto_point_new(&v->group);
    t->t2 = sotto_point_new(&v->group);
    t->t3 = sotto_point_new(&v->group);
    memcpy(t->public_key, public_key, v->group.point_size);
}

/* M = sum of d_i C_i, and, unless key is given, Z = sum of d_i D_i; with the key Z = key M. False: an element is no point. */
static bool composites(sotto_voprf *v, transcript *t, const uint8_t *blinded,
                       const uint8_t *evaluated, size_t count, const sotto_scalar *key)
{
    const size_t size = v->group.point_size, digest = sotto_hash_size(v->hash);
    uint8_t seed[SOTTO_HASH_MAX_SIZE], point_len[2], tag_len[2], seed_len[2], index[2];
    sotto_point *p = sotto_point_new(&v->group);
    sotto_scalar d;
    sotto_hash hash;
    tag seed_tag, scalar_tag;
    bool points = true;

    length_of(point_len, size);
    length_of(seed_len, digest);
    const sotto_bytes dst = tag_of(&seed_tag, v, "Seed-");
    length_of(tag_len, dst.len);
    sotto_hash_init(&hash, v->hash);
    sotto_hash_update(&hash, sotto_bytes_of(point_len, 2));
    sotto_hash_update(&hash, sotto_bytes_of(t->public_key, size));
    sotto_hash_update(&hash, sotto_bytes_of(tag_len, 2));
    sotto_hash_update(&hash, dst);
    sotto_hash_final(&hash, seed);
    for (size_t i = 0; i < count && points; i++) {
        const sotto_bytes parts[] = {sotto_bytes_of(seed_len, 2),
                                     sotto_bytes_of(seed, digest),
                                     sotto_bytes_of(index, 2),
                                     sotto_bytes_of(point_len, 2),
                                     sotto_bytes_of(blinded + i * size, size),
                                     sotto_bytes_of(point_len, 2),
                                     sotto_bytes_of(evaluated + i * size, size),
                                     LITERAL("Composite")};

        length_of(index, i);
        sotto_scalar_hash_vartime(&v->group, &d, tag_of(&scalar_tag, v, "HashToScalar-"), parts, 8);
        points = sotto_point_decode(&v->group, p, blinded + i * size);
        sotto_point_multiply_add(&v->group, t->m, &d, p);
        if (key || !points)
            continue;
        points = sotto_point_decode(&v->group, p, evaluated + i * size);
        sotto_point_multiply_add(&v->group, t->z, &d, p);
    }
    if (key)
        sotto_point_multiply(&v->group, t->z, key, t->m);
    sotto_point_free(p);
    return points;
}

/* False: one of the four is the identity. */
static bool challenge_of(sotto_voprf *v, sotto_scalar *c, const transcript *t)
{
    uint8_t a[4][SOTTO_POINT_MAX], len[2];
    const sotto_point *const points[4] = {t->m, t->z, t->t2, t->t3};
    sotto_bytes parts[11];
    tag scalar_tag;
    bool encoded = true;

    length_of(len, v->group.point_size);
    parts[0] = sotto_bytes_of(len, 2);
    parts[1] = sotto_bytes_of(t->public_key, v->group.point_size);
    for (size_t i = 0; i < 4; i++) {
        encoded = sotto_point_encode(&v->group, a[i], points[i]) && encoded;
        parts[2 + 2 * i] = sotto_bytes_of(len, 2);
        parts[3 + 2 * i] = sotto_bytes_of(a[i], v->group.point_size);
    }
    parts[10] = LITERAL("Challenge");
    sotto_scalar_hash_vartime(&v->group, c, tag_of(&scalar_tag, v, "HashToScalar-"), parts, 11);
    return encoded;
}

static sotto_status prove(sotto_voprf *v, uint8_t *proof, const sotto_scalar *key,
                          const uint8_t *public_key, const uint8_t *blinded,
                          const uint8_t *evaluated, size_t count, const sotto_scalar *nonce,
                          sotto_err *err)
{
    const size_t size = v->group.scalar_size;
    sotto_scalar c, s;
    transcript t;

    transcript_begin(v, &t, public_key);
    bool points = composites(v, &t, blinded, evaluated, count, key);
    sotto_point_multiply(&v->group, t.t2, nonce, NULL);
    sotto_point_multiply(&v->group, t.t3, nonce, t.m);
    points = challenge_of(v, &c, &t) && points;
    sotto_scalar_multiply(&v->group, &s, &c, key);
    sotto_scalar_subtract(&v->group, &s, nonce, &s);
    memcpy(proof, c.be, size);
    memcpy(proof + size, s.be, size);
    transcript_end(&t);
    SOTTO_TRY(sotto_group_finish(&v->group, err));
    return points ? SOTTO_OK : no_point("a blinded element", err);
}

sotto_status sotto_voprf_evaluate(sotto_voprf *v, uint8_t *evaluated, uint8_t *proof,
                                  const sotto_scalar *key, const uint8_t *public_key,
                                  const uint8_t *blinded, size_t count, const sotto_scalar *nonce,
                                  sotto_err *err)
{
    const size_t size = v->group.point_size;
    bool points = true;

    if (count == 0 || count > SOTTO_VOPRF_BATCH)
        return sotto_fail(err, SOTTO_TOO_LARGE, "VOPRF: a batch of %zu", count);
    sotto_point *p = sotto_point_new(&v->group);
    for (size_t i = 0; i < count && points; i++) {
        points = sotto_point_decode(&v->group, p, blinded + i * size);
        if (points) {
            sotto_point_multiply(&v->group, p, key, p);
            points = sotto_point_encode(&v->group, evaluated + i * size, p);
        }
    }
    sotto_point_free(p);
    SOTTO_TRY(sotto_group_finish(&v->group, err));
    if (!points)
        return no_point("a blinded element", err);
    return proof ? prove(v, proof, key, public_key, blinded, evaluated, count, nonce, err)
                 : SOTTO_OK;
}

sotto_status sotto_voprf_check(sotto_voprf *v, const uint8_t *public_key, const uint8_t *blinded,
                               const uint8_t *evaluated, size_t count, const uint8_t *proof,
                               sotto_err *err)
{
    sotto_scalar c, s, again;
    transcript t;
    bool holds;

    if (count == 0 || count > SOTTO_VOPRF_BATCH)
        return sotto_fail(err, SOTTO_TOO_LARGE, "VOPRF: a batch of %zu", count);
    transcript_begin(v, &t, public_key);
    sotto_point *key = sotto_point_new(&v->group);
    holds = sotto_scalar_decode(&v->group, &c, proof) &&
            sotto_scalar_decode(&v->group, &s, proof + v->group.scalar_size) &&
            sotto_point_decode(&v->group, key, public_key) &&
            composites(v, &t, blinded, evaluated, count, NULL);
    if (holds) {
        sotto_point_multiply(&v->group, t.t2, &s, NULL);
        sotto_point_multiply_add(&v->group, t.t2, &c, key);
        sotto_point_multiply(&v->group, t.t3, &s, t.m);
        sotto_point_multiply_add(&v->group, t.t3, &c, t.z);
        holds = challenge_of(v, &again, &t) && memcmp(again.be, c.be, v->group.scalar_size) == 0;
    }
    sotto_point_free(key);
    transcript_end(&t);
    SOTTO_TRY(sotto_group_finish(&v->group, err));
    return holds ? SOTTO_OK : sotto_fail(err, SOTTO_REJECTED, "VOPRF: the proof does not hold");
}
