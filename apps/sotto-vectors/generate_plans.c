/* What VDAF files are written: parameters the published ones lack, and one damage at a time. */
#include "generate_vdaf.h"

#include <string.h>

/* ---- damages --------------------------------------------------------------------------------- */

static bool has_joint_rand(const sotto_prio3 *vdaf)
{
    return vdaf->sizes.public_share > 0;
}

static size_t element_size(const sotto_prio3 *vdaf)
{
    return vdaf->sizes.out_share / vdaf->sizes.outputs;
}

static void flip_blind(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    (void)vdaf;
    r->input_shares[1].data[r->input_shares[1].len - 1] ^= 1;
}

static void flip_measurement(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    (void)vdaf;
    r->input_shares[0].data[0] ^= 1;
}

/* The last element of the last proof is a value of its gadget polynomial. */
static void flip_gadget_poly(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    size_t blind = has_joint_rand(vdaf) ? SOTTO_PRIO3_SEED_SIZE : 0;

    r->input_shares[0].data[r->input_shares[0].len - blind - element_size(vdaf)] ^= 1;
}

static void flip_public_share(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    (void)vdaf;
    r->public_share.data[SOTTO_PRIO3_SEED_SIZE] ^= 1;
}

/* All ones are at least the modulus in both fields. */
static void overflow_element(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    memset(r->input_shares[0].data, 0xff, element_size(vdaf));
}

static void shorten_leader_share(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    (void)vdaf;
    r->input_shares[0].len--;
}

static void shorten_helper_share(const sotto_prio3 *vdaf, sotto_gen_report *r)
{
    (void)vdaf;
    r->input_shares[1].len--;
}

static void overflow_verifier(const sotto_prio3 *vdaf, sotto_buf *share)
{
    memset(share->data, 0xff, element_size(vdaf));
}

static void flip_verifier(const sotto_prio3 *vdaf, sotto_buf *share)
{
    (void)vdaf;
    share->data[0] ^= 1;
}

static void shorten_verifier(const sotto_prio3 *vdaf, sotto_buf *share)
{
    (void)vdaf;
    share->len--;
}

static void flip_message(sotto_buf *message)
{
    message->data[0] ^= 1;
}

static void empty_message(sotto_buf *message)
{
    message->len = 0;
}

static const sotto_gen_damage bad_blind = {
    "bad_jr_blind", SOTTO_GEN_DECIDE, -1, flip_blind, NULL, NULL};
static const sotto_gen_damage bad_meas = {
    "bad_meas_share", SOTTO_GEN_DECIDE, -1, flip_measurement, NULL, NULL};
static const sotto_gen_damage bad_poly = {
    "bad_gadget_poly", SOTTO_GEN_DECIDE, -1, flip_gadget_poly, NULL, NULL};
static const sotto_gen_damage bad_public = {
    "bad_public_share", SOTTO_GEN_DECIDE, -1, flip_public_share, NULL, NULL};
static const sotto_gen_damage bad_element = {"bad_element",    SOTTO_GEN_INIT, 0,
                                             overflow_element, NULL,           NULL};
static const sotto_gen_damage bad_leader = {"bad_leader_len",     SOTTO_GEN_INIT, 0,
                                            shorten_leader_share, NULL,           NULL};
static const sotto_gen_damage bad_helper = {"bad_helper_len",     SOTTO_GEN_INIT, 1,
                                            shorten_helper_share, NULL,           NULL};
static const sotto_gen_damage bad_verifier = {
    "bad_verifier_share", SOTTO_GEN_DECIDE, -1, NULL, flip_verifier, NULL};
static const sotto_gen_damage bad_verifier_element = {
    "bad_verifier_element", SOTTO_GEN_DECIDE, -1, NULL, overflow_verifier, NULL};
static const sotto_gen_damage bad_verifier_len = {
    "bad_verifier_len", SOTTO_GEN_DECIDE, -1, NULL, shorten_verifier, NULL};
static const sotto_gen_damage bad_message = {
    "bad_verifier_message", SOTTO_GEN_NEXT, -1, NULL, NULL, flip_message};
static const sotto_gen_damage bad_message_len = {"bad_message_len", SOTTO_GEN_NEXT, -1, NULL, NULL,
                                                 empty_message};

/* ---- files ----------------------------------------------------------------------------------- */

const sotto_gen_plan sotto_gen_plans[] = {
    /* kind, suffix, shares, reports, proofs, length, chunk_length, max, damage */
    {"Prio3Count", "two", 2, 5, 0, 0, 0, 0, NULL},
    {"Prio3Count", "most_shares", 255, 1, 0, 0, 0, 0, NULL},
    {"Prio3Count", "", 2, 3, 0, 0, 0, 0, &bad_meas},
    {"Prio3Count", "", 2, 3, 0, 0, 0, 0, &bad_element},
    {"Prio3Count", "", 3, 3, 0, 0, 0, 0, &bad_poly},
    {"Prio3Count", "", 2, 3, 0, 0, 0, 0, &bad_verifier_len},
    {"Prio3Sum", "one", 2, 4, 0, 0, 0, 1, NULL},
    {"Prio3Sum", "odd", 4, 5, 0, 0, 0, 1000, NULL},
    {"Prio3Sum", "large", 2, 3, 0, 0, 0, 4611686018427387904, NULL},
    {"Prio3Sum", "", 2, 3, 0, 0, 0, 100, &bad_meas},
    {"Prio3Sum", "", 2, 3, 0, 0, 0, 100, &bad_poly},
    {"Prio3Sum", "", 2, 3, 0, 0, 0, 100, &bad_element},
    {"Prio3Sum", "", 3, 3, 0, 0, 0, 100, &bad_helper},
    {"Prio3Sum", "", 2, 3, 0, 0, 0, 100, &bad_verifier},
    {"Prio3SumVec", "bits", 2, 9, 0, 17, 4, 1, NULL},
    {"Prio3SumVec", "odd", 3, 4, 0, 3, 2, 1000, NULL},
    {"Prio3SumVec", "large", 2, 5, 0, 2, 16, 18446744073709551615u, NULL},
    {"Prio3SumVec", "one_chunk", 2, 3, 0, 5, 40, 3, NULL},
    {"Prio3SumVec", "", 2, 3, 0, 5, 3, 9, &bad_blind},
    {"Prio3SumVec", "", 2, 3, 0, 5, 3, 9, &bad_meas},
    {"Prio3SumVec", "", 2, 3, 0, 5, 3, 9, &bad_poly},
    {"Prio3SumVec", "", 2, 3, 0, 5, 3, 9, &bad_message},
    {"Prio3SumVec", "", 2, 3, 0, 5, 3, 9, &bad_leader},
    {"Prio3SumVecWithMultiproof", "three", 2, 5, 3, 7, 4, 6, NULL},
    {"Prio3SumVecWithMultiproof", "five", 3, 3, 5, 4, 2, 255, NULL},
    {"Prio3SumVecWithMultiproof", "", 2, 3, 3, 4, 2, 255, &bad_blind},
    {"Prio3SumVecWithMultiproof", "", 2, 3, 3, 4, 2, 255, &bad_poly},
    {"Prio3SumVecWithMultiproof", "", 2, 3, 3, 4, 2, 255, &bad_element},
    {"Prio3Histogram", "one_bucket", 2, 2, 0, 1, 1, 0, NULL},
    {"Prio3Histogram", "odd", 2, 9, 0, 11, 3, 0, NULL},
    {"Prio3Histogram", "five_shares", 5, 3, 0, 6, 4, 0, NULL},
    {"Prio3Histogram", "hundred", 2, 2, 0, 100, 10, 0, NULL},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_blind},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_meas},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_poly},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_public},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_element},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_leader},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_helper},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_verifier},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_verifier_element},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_verifier_len},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_message},
    {"Prio3Histogram", "", 2, 3, 0, 6, 2, 0, &bad_message_len},
    {"Prio3MultihotCountVec", "odd", 2, 6, 0, 9, 4, 5, NULL},
    {"Prio3MultihotCountVec", "all", 3, 3, 0, 4, 3, 4, NULL},
    {"Prio3MultihotCountVec", "", 2, 3, 0, 6, 2, 3, &bad_blind},
    {"Prio3MultihotCountVec", "", 2, 3, 0, 6, 2, 3, &bad_meas},
    {"Prio3MultihotCountVec", "", 2, 3, 0, 6, 2, 3, &bad_public},
    {"Prio3L1BoundSum", "odd", 2, 6, 0, 5, 4, 13, NULL},
    {"Prio3L1BoundSum", "three_shares", 3, 3, 0, 3, 5, 100, NULL},
    {"Prio3L1BoundSum", "", 2, 3, 0, 3, 4, 10, &bad_blind},
    {"Prio3L1BoundSum", "", 2, 3, 0, 3, 4, 10, &bad_meas},
    {"Prio3L1BoundSum", "", 2, 3, 0, 3, 4, 10, &bad_message},
    {"Prio3HigherDegree", "all", 3, 6, 0, 0, 0, 0, NULL},
    {"Prio3HigherDegree", "", 2, 3, 0, 0, 0, 0, &bad_meas},
    {"Prio3HigherDegree", "", 2, 3, 0, 0, 0, 0, &bad_poly},
    {0},
};
