/* What strangers may send, and what an attacker may change on the way: each at the step that must see it. */
#include "support/prio3.h"

#include "vdaf/circuit.h"

#include <string.h>

enum { SEED = SOTTO_PRIO3_SEED_SIZE };

static void for_every_type(sotto_test *t, void (*check)(sotto_test *t, sotto_test_prio3 *p))
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], c);

        check(t, &p);
        sotto_arena_reset(&t->arena);
    }
}

/* ---- bytes that do not parse ----------------------------------------------------------------------- */

static void check_malformed(sotto_test *t, const sotto_test_prio3 *p, sotto_prio3_report view,
                            unsigned aggregator, const char *reason)
{
    sotto_prio3_verifier verifier = sotto_test_verifier(p, aggregator);
    sotto_prio3_verification state;

    CHECK_OK(t, sotto_prio3_verify_init(&p->vdaf, &state, &verifier, &view, 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, state.status);
    CHECK(t, state.reason && strstr(state.reason, reason));
    CHECK_EQUAL(t, 0, state.verifier_share.len);
}

/* A copy with `more` bytes after it, or fewer. */
static sotto_bytes resized(sotto_test *t, sotto_bytes in, size_t len)
{
    uint8_t *copy = sotto_test_take(t, len);

    memcpy(copy, in.data, len < in.len ? len : in.len);
    return sotto_bytes_of(copy, len);
}

static void check_report_lengths(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p);

    for (unsigned a = 0; a < 2; a++) {
        sotto_prio3_report good = sotto_test_view(&report, a), view;

        for (size_t len = 0; len <= good.input_share.len + 33; len++) {
            view = good;
            view.input_share = resized(t, good.input_share, len);
            if (len != good.input_share.len)
                check_malformed(t, p, view, a, "input share: wrong length");
        }
        for (size_t len = 0; len <= good.public_share.len + 33; len++) {
            view = good;
            view.public_share = resized(t, good.public_share, len);
            if (len != good.public_share.len)
                check_malformed(t, p, view, a, "public share: wrong length");
        }
    }
}

static void shares_of_any_other_length_are_malformed(sotto_test *t)
{
    for_every_type(t, check_report_lengths);
}

/* p, p + 1, and the largest number that the bytes can hold. */
static void spoil(const sotto_test_prio3 *p, uint8_t *elements, size_t index, int how)
{
    size_t size = p->vdaf.circuit->element_size;

    sotto_test_spoil_element(p, elements, index);
    if (how == 1)
        elements[index * size]++;
    else if (how == 2)
        memset(elements + index * size, 0xff, size);
}

static void check_leader_elements(sotto_test *t, sotto_test_prio3 *p)
{
    const sotto_circuit *c = p->vdaf.circuit;
    sotto_test_report report = sotto_test_report_random(t, p);
    size_t elements = c->meas_len + c->proof_len * c->proofs;

    for (size_t index = 0; index < elements; index++) {
        for (int how = 0; how < 3; how++) {
            sotto_prio3_report view = sotto_test_view(&report, 0);
            sotto_bytes copy = resized(t, view.input_share, view.input_share.len);

            spoil(p, (uint8_t *)(uintptr_t)copy.data, index, how);
            view.input_share = copy;
            check_malformed(t, p, view, 0, "input share: an element is not below the modulus");
        }
    }
}

static void an_element_above_the_modulus_anywhere_in_the_leaders_share_is_malformed(sotto_test *t)
{
    for_every_type(t, check_leader_elements);
}

static void check_verifier_shares(sotto_test *t, sotto_test_prio3 *p)
{
    const sotto_circuit *c = p->vdaf.circuit;
    sotto_test_report report = sotto_test_report_random(t, p);
    sotto_test_round round = sotto_test_round_init(t, p, &report, 1);

    for (unsigned a = 0; a < 2; a++) {
        sotto_bytes good = round.shares[a];

        for (size_t len = 0; len <= good.len + 33; len++) {
            round.shares[a] = resized(t, good, len);
            sotto_test_round_decide(t, p, &round);
            CHECK_STATUS(t, len == good.len ? SOTTO_OK : SOTTO_MALFORMED, round.verdicts[0].status);
            if (len != good.len)
                CHECK(t, strcmp(round.verdicts[0].reason, "verifier share: wrong length") == 0);
        }
        for (size_t index = 0; index < c->verifier_len * c->proofs; index++) {
            for (int how = 0; how < 3; how++) {
                round.shares[a] = resized(t, good, good.len);
                spoil(p, (uint8_t *)(uintptr_t)round.shares[a].data, index, how);
                sotto_test_round_decide(t, p, &round);
                CHECK_STATUS(t, SOTTO_MALFORMED, round.verdicts[0].status);
                CHECK(t, strstr(round.verdicts[0].reason, "verifier share: an element"));
            }
        }
        round.shares[a] = good;
    }
}

static void verifier_shares_of_other_lengths_or_with_large_elements_are_malformed(sotto_test *t)
{
    for_every_type(t, check_verifier_shares);
}

static void check_message_lengths(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p);

    for (size_t len = 0; len <= 66; len++) {
        sotto_test_round round = sotto_test_round_init(t, p, &report, 1);

        sotto_test_round_decide(t, p, &round);
        round.messages[0] = resized(t, round.messages[0], len);
        sotto_test_round_finish(t, p, &round);
        for (unsigned a = 0; a < 2; a++) {
            bool right = len == p->vdaf.sizes.verifier_message;

            CHECK_STATUS(t, right ? SOTTO_OK : SOTTO_MALFORMED, round.states[a][0].status);
            if (!right)
                CHECK(t, strstr(round.states[a][0].reason, "verifier message: wrong length"));
        }
    }
}

static void verifier_messages_of_any_other_length_are_malformed(sotto_test *t)
{
    for_every_type(t, check_message_lengths);
}

/* ---- tampering ------------------------------------------------------------------------------------- */

/* Refused when the verifier shares meet: not earlier, not later. */
static void check_rejected_by_verdict(sotto_test *t, const sotto_test_prio3 *p,
                                      const sotto_test_report *report)
{
    sotto_test_round round = sotto_test_round_init(t, p, report, 1);

    for (unsigned a = 0; a < 2; a++)
        CHECK_STATUS(t, SOTTO_AGAIN, round.states[a][0].status);
    sotto_test_round_decide(t, p, &round);
    CHECK_STATUS(t, SOTTO_REJECTED, round.verdicts[0].status);
    CHECK(t, strcmp(round.verdicts[0].reason, "the proof does not hold") == 0);
}

static void check_share_tampering(sotto_test *t, sotto_test_prio3 *p)
{
    const sotto_circuit *c = p->vdaf.circuit;
    sotto_test_report report = sotto_test_report_random(t, p);
    size_t elements = c->meas_len + c->proof_len * c->proofs;

    for (size_t index = 0; index < elements; index++) { /* measurement, seeds and gadget values */
        sotto_test_bump_element(p, report.shares[0].data, index);
        check_rejected_by_verdict(t, p, &report);
        sotto_test_report_shard(t, p, &report);
    }
    for (unsigned a = 0; a < 2; a++) { /* seeds and blinds */
        size_t from = a ? 0 : elements * c->element_size;

        for (size_t at = from; at < report.shares[a].len; at += 5) {
            report.shares[a].data[at] ^= 0x10;
            check_rejected_by_verdict(t, p, &report);
            report.shares[a].data[at] ^= 0x10;
        }
    }
    sotto_test_round round = sotto_test_round_run(t, p, &report, 1);
    CHECK_STATUS(t, SOTTO_OK, sotto_test_round_status(p, &round, 0)); /* all is as it was */
}

static void a_change_anywhere_in_an_input_share_is_rejected(sotto_test *t)
{
    for_every_type(t, check_share_tampering);
}

static void check_public_tampering(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p);

    for (size_t at = 0; at < report.public_share.len; at++) {
        report.public_share.data[at] ^= 1;
        check_rejected_by_verdict(t, p, &report);
        report.public_share.data[at] ^= 1;
    }
}

static void a_change_anywhere_in_the_public_share_is_rejected(sotto_test *t)
{
    for_every_type(t, check_public_tampering);
}

static void check_verifier_tampering(sotto_test *t, sotto_test_prio3 *p)
{
    const sotto_circuit *c = p->vdaf.circuit;
    sotto_test_report report = sotto_test_report_random(t, p);
    sotto_test_round round = sotto_test_round_init(t, p, &report, 1);

    for (unsigned a = 0; a < 2; a++) {
        sotto_bytes good = round.shares[a];

        for (size_t index = 0; index < c->verifier_len * c->proofs; index++) {
            round.shares[a] = resized(t, good, good.len);
            sotto_test_bump_element(p, (uint8_t *)(uintptr_t)round.shares[a].data, index);
            sotto_test_round_decide(t, p, &round);
            CHECK_STATUS(t, SOTTO_REJECTED, round.verdicts[0].status);
        }
        round.shares[a] = good;
    }
}

static void a_change_of_any_element_of_a_verifier_share_is_rejected(sotto_test *t)
{
    for_every_type(t, check_verifier_tampering);
}

/* The part of a verifier share does not enter the proof: its change is found by comparing seeds. */
static void check_part_tampering(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p);

    if (!p->vdaf.sizes.verifier_message)
        return;
    for (unsigned a = 0; a < 2; a++) {
        for (size_t back = 1; back <= SEED; back++) {
            sotto_test_round round = sotto_test_round_init(t, p, &report, 1);
            sotto_bytes share = resized(t, round.shares[a], round.shares[a].len);

            ((uint8_t *)(uintptr_t)share.data)[share.len - back] ^= 0x80;
            round.shares[a] = share;
            sotto_test_round_decide(t, p, &round);
            CHECK_STATUS(t, SOTTO_OK, round.verdicts[0].status);
            sotto_test_round_finish(t, p, &round);
            CHECK_STATUS(t, SOTTO_REJECTED, round.states[0][0].status);
            CHECK_STATUS(t, SOTTO_REJECTED, round.states[1][0].status);
        }
    }
}

static void a_change_of_a_part_in_a_verifier_share_is_rejected_by_all(sotto_test *t)
{
    for_every_type(t, check_part_tampering);
}

static void check_message_tampering(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report reports[3];

    for (size_t i = 0; i < 3; i++)
        reports[i] = sotto_test_report_random(t, p);
    for (size_t at = 0; at < p->vdaf.sizes.verifier_message; at++) {
        sotto_test_round round = sotto_test_round_init(t, p, reports, 3);

        sotto_test_round_decide(t, p, &round);
        round.verdicts[1].message[at] ^= 1;
        sotto_test_round_finish(t, p, &round);
        CHECK_STATUS(t, SOTTO_OK, sotto_test_round_status(p, &round, 0));
        CHECK_STATUS(t, SOTTO_REJECTED, round.states[0][1].status);
        CHECK_STATUS(t, SOTTO_REJECTED, round.states[1][1].status);
        CHECK(t, strstr(round.states[1][1].reason, "joint randomness"));
        CHECK_STATUS(t, SOTTO_OK, sotto_test_round_status(p, &round, 2));
    }
}

static void a_change_anywhere_in_the_verifier_message_is_rejected(sotto_test *t)
{
    for_every_type(t, check_message_tampering);
}

/* ---- bindings -------------------------------------------------------------------------------------- */

/* The helper sees another nonce, key or context than the leader, or another report's share. */
static void check_disagreement(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p),
                      other = sotto_test_report_random(t, p);
    sotto_test_round good = sotto_test_round_init(t, p, &report, 1);

    for (int what = 0; what < 5; what++) {
        sotto_prio3_verifier verifier = sotto_test_verifier(p, 1);
        sotto_prio3_report view = sotto_test_view(&report, 1);
        sotto_prio3_verification state;

        if (what == 0)
            view.nonce[15] ^= 1;
        else if (what == 1)
            verifier.verify_key[31] ^= 1;
        else if (what == 2)
            verifier.context = sotto_bytes_of("a test of Sotto", 15);
        else if (what == 3)
            verifier.context.len--;
        else
            view.input_share = sotto_buf_bytes(&other.shares[1]);
        CHECK_OK(
            t, sotto_prio3_verify_init(&p->vdaf, &state, &verifier, &view, 1, &t->arena, &t->err));
        CHECK_STATUS(t, SOTTO_AGAIN, state.status);
        good.shares[1] = state.verifier_share;
        sotto_test_round_decide(t, p, &good);
        CHECK_STATUS(t, SOTTO_REJECTED, good.verdicts[0].status);
    }
}

static void aggregators_that_disagree_on_anything_reject(sotto_test *t)
{
    for_every_type(t, check_disagreement);
}

/* Both aggregators are told a nonce or context that the client did not use. */
static void check_binding(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p);
    sotto_test_prio3 elsewhere = *p;

    elsewhere.verifier.context = sotto_bytes_of("another application", 19);
    check_rejected_by_verdict(t, &elsewhere, &report);
    if (!p->vdaf.sizes.public_share)
        return; /* without joint randomness a nonce only picks the test point */
    report.nonce[0] ^= 1;
    check_rejected_by_verdict(t, p, &report);
}

static void a_report_is_bound_to_its_context_and_nonce(sotto_test *t)
{
    for_every_type(t, check_binding);
}

/* ---- preconditions --------------------------------------------------------------------------------- */

static void check_preconditions(sotto_test *t, sotto_test_prio3 *p)
{
    static const uint8_t bytes[SOTTO_PRIO3_MAX_CONTEXT + 1];
    sotto_test_report report = sotto_test_report_random(t, p);
    sotto_prio3_report view = sotto_test_view(&report, 0);
    sotto_prio3_verifier verifier = sotto_test_verifier(p, 2);
    sotto_prio3_verification state;
    sotto_test_round round = sotto_test_round_init(t, p, &report, 1);

    CHECK_STATUS(
        t, SOTTO_BUG,
        sotto_prio3_verify_init(&p->vdaf, &state, &verifier, &view, 1, &t->arena, &t->err));
    CHECK_REASON(t, "aggregator");
    verifier.aggregator = 0;
    verifier.context = sotto_bytes_of(bytes, sizeof bytes);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_prio3_verify_init(&p->vdaf, &state, &verifier, &view, 1, &t->arena, &t->err));
    CHECK_REASON(t, "context:");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_prio3_verifier_shares_to_message(&p->vdaf, round.verdicts, verifier.context,
                                                        round.shares, 1, &t->arena, &t->err));
    CHECK_REASON(t, "context:");
}

static void an_aggregator_that_does_not_exist_and_a_long_context_are_refused(sotto_test *t)
{
    for_every_type(t, check_preconditions);
}

/* A finished state is not finished again, whatever message comes. */
static void a_refused_report_stays_refused(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[3], 1);
    sotto_test_report report = sotto_test_report_random(t, &p);
    sotto_test_round round = sotto_test_round_init(t, &p, &report, 1);

    sotto_test_round_decide(t, &p, &round);
    round.states[0][0].status = SOTTO_REJECTED;
    sotto_test_round_finish(t, &p, &round);
    CHECK_STATUS(t, SOTTO_REJECTED, round.states[0][0].status);
    CHECK_STATUS(t, SOTTO_OK, round.states[1][0].status);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(shares_of_any_other_length_are_malformed),
        CASE(an_element_above_the_modulus_anywhere_in_the_leaders_share_is_malformed),
        CASE(verifier_shares_of_other_lengths_or_with_large_elements_are_malformed),
        CASE(verifier_messages_of_any_other_length_are_malformed),
        CASE(a_change_anywhere_in_an_input_share_is_rejected),
        CASE(a_change_anywhere_in_the_public_share_is_rejected),
        CASE(a_change_of_any_element_of_a_verifier_share_is_rejected),
        CASE(a_change_of_a_part_in_a_verifier_share_is_rejected_by_all),
        CASE(a_change_anywhere_in_the_verifier_message_is_rejected),
        CASE(aggregators_that_disagree_on_anything_reject),
        CASE(a_report_is_bound_to_its_context_and_nonce),
        CASE(an_aggregator_that_does_not_exist_and_a_long_context_are_refused),
        CASE(a_refused_report_stays_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
