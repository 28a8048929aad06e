#include "seal/token/sigma.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

enum { SCALAR = SOTTO_P256_SCALAR, POINT = SOTTO_P256_POINT, RATE = 168, SQUEEZED = SCALAR + 16 };

/* ---- statements ------------------------------------------------------------------------------------------------ */

void sotto_sigma_begin(sotto_sigma *s, sotto_group *group, const char *session, size_t scalars,
                       size_t elements, const sotto_sigma_equation *equation, size_t equations)
{
    sotto_scalar one;

    memset(s, 0, sizeof *s);
    s->group = group;
    s->session = session;
    s->scalars = scalars;
    s->elements = elements;
    s->equations = equations;
    memcpy(s->equation, equation, equations * sizeof *equation);
    for (size_t i = 0; i < elements; i++)
        s->point[i] = sotto_point_new(group);
    sotto_scalar_set(group, &one, 1);
    sotto_point_multiply(group, s->point[0], &one, NULL);
    sotto_sigma_seal(s, 0);
}

void sotto_sigma_end(sotto_sigma *s)
{
    for (size_t i = 0; i < s->elements; i++)
        sotto_point_free(s->point[i]);
    s->elements = 0;
}

void sotto_sigma_add(sotto_sigma *s, const sotto_sigma_equation *equation)
{
    s->equation[s->equations++] = *equation;
}

void sotto_sigma_read(sotto_sigma *s, size_t i, const uint8_t *bytes)
{
    memcpy(s->wire[i], bytes, POINT);
    if (!sotto_point_decode(s->group, s->point[i], bytes))
        s->bad = true;
}

void sotto_sigma_seal(sotto_sigma *s, size_t i)
{
    if (!sotto_point_encode(s->group, s->wire[i], s->point[i]))
        s->bad = true;
}

/* ---- the sponge: SHAKE128 behind one block that names its use ----------------------------------------------------- */

static int absorb(EVP_MD_CTX *sponge, const void *data, size_t len)
{
    return EVP_DigestUpdate(sponge, data, len);
}

static int start(EVP_MD_CTX *sponge, const char *use)
{
    uint8_t block[RATE] = {0};

    memcpy(block, use, strlen(use));
    return EVP_DigestInit_ex(sponge, EVP_shake128(), NULL) && absorb(sponge, block, sizeof block);
}

static int absorb_little_endian(EVP_MD_CTX *sponge, size_t value)
{
    const uint8_t word[4] = {(uint8_t)value, (uint8_t)(value >> 8), 0, 0};

    return absorb(sponge, word, sizeof word);
}

static int absorb_length(EVP_MD_CTX *sponge, size_t len)
{
    const uint8_t word[4] = {0, 0, (uint8_t)(len >> 8), (uint8_t)len};

    return absorb(sponge, word, sizeof word);
}

/* The statement's bytes behind their number: counts and places as little-endian words, then the elements. */
static int absorb_statement(EVP_MD_CTX *sponge, const sotto_sigma *s)
{
    size_t len = 4 + s->elements * POINT;

    for (size_t i = 0; i < s->equations; i++)
        len += 8 + 8 * (size_t)s->equation[i].terms;
    int ok = absorb_length(sponge, len) && absorb_little_endian(sponge, s->equations);
    for (size_t i = 0; i < s->equations; i++) {
        const sotto_sigma_equation *e = &s->equation[i];

        ok = ok && absorb_little_endian(sponge, e->image) && absorb_little_endian(sponge, e->terms);
        for (size_t j = 0; j < e->terms; j++)
            ok = ok && absorb_little_endian(sponge, e->scalar[j]) &&
                 absorb_little_endian(sponge, e->element[j]);
    }
    return ok && absorb(sponge, s->wire, s->elements * POINT);
}

/* Session and statement go in behind their lengths: the form that ARC's vectors were made with. A later edit of the Fiat-Shamir
 * draft hashes the session first. */
static int squeeze_challenge(EVP_MD_CTX *sponge, const sotto_sigma *s, const uint8_t *commitments,
                             uint8_t out[SQUEEZED])
{
    const size_t len = strlen(s->session);

    return start(sponge, "sigma-proofs_Shake128_P256") &&
           absorb_length(sponge, len + s->bound.len) && absorb(sponge, s->session, len) &&
           absorb(sponge, s->bound.data, s->bound.len) && absorb_statement(sponge, s) &&
           absorb(sponge, commitments, s->equations * POINT) &&
           EVP_DigestFinalXOF(sponge, out, SQUEEZED);
}

static void challenge_of(sotto_sigma *s, sotto_scalar *out, const uint8_t *commitments)
{
    EVP_MD_CTX *sponge = EVP_MD_CTX_new();
    uint8_t wide[SQUEEZED] = {0};

    if (!sponge || !squeeze_challenge(sponge, s, commitments, wide))
        s->group->failed = true;
    EVP_MD_CTX_free(sponge);
    sotto_scalar_reduce_vartime(s->group, out, sotto_bytes_of(wide, sizeof wide));
}

/* ---- proofs ---------------------------------------------------------------------------------------------------- */

static const sotto_point *factor(const sotto_sigma *s, size_t i)
{
    return i ? s->point[i] : NULL; /* the library has a table for its generator */
}

/* The sum of scalars times elements of equation i, less `challenge` times its image unless that is NULL. False: it is the
 * identity, which no honest proof has. */
static bool commit(sotto_sigma *s, uint8_t out[POINT], size_t i, const sotto_scalar *scalars,
                   const sotto_scalar *minus_challenge)
{
    const sotto_sigma_equation *e = &s->equation[i];
    sotto_point *sum = sotto_point_new(s->group);
    bool ok;

    sotto_point_multiply(s->group, sum, &scalars[e->scalar[0]], factor(s, e->element[0]));
    for (size_t j = 1; j < e->terms; j++)
        sotto_point_multiply_add(s->group, sum, &scalars[e->scalar[j]], factor(s, e->element[j]));
    if (minus_challenge)
        sotto_point_multiply_add(s->group, sum, minus_challenge, s->point[e->image]);
    ok = sotto_point_encode(s->group, out, sum);
    sotto_point_free(sum);
    return ok;
}

sotto_status sotto_sigma_prove(sotto_sigma *s, uint8_t *out, const sotto_scalar *witness,
                               const sotto_scalar *nonces, sotto_err *err)
{
    uint8_t commitments[SOTTO_SIGMA_EQUATIONS * POINT];
    sotto_scalar challenge, response;

    for (size_t i = 0; i < s->equations; i++)
        if (!commit(s, commitments + i * POINT, i, nonces, NULL))
            s->bad = true;
    challenge_of(s, &challenge, commitments);
    memcpy(out, challenge.be, SCALAR);
    for (size_t i = 0; i < s->scalars; i++) {
        sotto_scalar_multiply(s->group, &response, &challenge, &witness[i]);
        sotto_scalar_add(s->group, &response, &response, &nonces[i]);
        memcpy(out + (1 + i) * SCALAR, response.be, SCALAR);
    }
    sotto_wipe(&response, sizeof response);
    sotto_status status = sotto_group_finish(s->group, err);
    if (status == SOTTO_OK && s->bad)
        status = sotto_fail(err, SOTTO_REJECTED, "a proof's element is the identity or no point");
    if (status != SOTTO_OK)
        sotto_wipe(out, (1 + s->scalars) * SCALAR);
    return status;
}

sotto_status sotto_sigma_verify(sotto_sigma *s, const uint8_t *proof, const char *what,
                                sotto_err *err)
{
    uint8_t commitments[SOTTO_SIGMA_EQUATIONS * POINT];
    sotto_scalar scalars[SOTTO_SIGMA_SCALARS], challenge, zero, again;
    bool holds = !s->bad && sotto_scalar_decode(s->group, &challenge, proof);

    for (size_t i = 0; i < s->scalars && holds; i++)
        holds = sotto_scalar_decode(s->group, &scalars[i], proof + (1 + i) * SCALAR);
    if (holds) {
        sotto_scalar_set(s->group, &zero, 0);
        sotto_scalar_subtract(s->group, &again, &zero, &challenge);
    }
    for (size_t i = 0; i < s->equations && holds; i++)
        holds = commit(s, commitments + i * POINT, i, scalars, &again);
    if (holds) {
        challenge_of(s, &again, commitments);
        holds = memcmp(again.be, challenge.be, SCALAR) == 0;
    }
    SOTTO_TRY(sotto_group_finish(s->group, err));
    return holds ? SOTTO_OK : sotto_fail(err, SOTTO_REJECTED, "%s: its proof does not hold", what);
}
