#include "interop/exchange.h"

#include <string.h>

void *sotto_test_take(sotto_test *t, size_t count, size_t size)
{
    void *memory = sotto_arena_take_array(&t->arena, count ? count : 1, size ? size : 1);

    CHECK(t, memory != NULL);
    return memory;
}

void sotto_peer_choose(sotto_test *t, sotto_peer *peer, const sotto_instance *instance,
                       sotto_bytes context)
{
    const sotto_kind *kind = instance->kind;

    sotto_peer_begin(peer, "vdaf");
    sotto_peer_add_text(peer, "type", kind->name);
    if (kind->length) {
        sotto_peer_add_number(peer, "length", instance->config.length);
        sotto_peer_add_number(peer, "chunk", instance->config.chunk_length);
    }
    if (kind->max)
        sotto_peer_add_number(peer, "max", instance->config.max);
    if (kind->proofs)
        sotto_peer_add_number(peer, "proofs", instance->config.proofs);
    sotto_peer_add_bytes(peer, "ctx", context);
    sotto_peer_add_bytes(peer, "verify_key",
                         sotto_bytes_of(instance->verify_key, sizeof instance->verify_key));
    sotto_peer_obeys(t, peer);
}

/* ---- client ---------------------------------------------------------------------------------- */

static void shard_ours(sotto_test *t, const sotto_instance *instance, sotto_interop_report *report,
                       sotto_bytes rand)
{
    const sotto_prio3_sizes *sizes = &instance->vdaf.sizes;
    sotto_buf public_share = sotto_test_buf(t, sizes->public_share);
    sotto_buf shares[2] = {sotto_test_buf(t, sizes->leader_share),
                           sotto_test_buf(t, sizes->helper_share)};

    CHECK_OK(t, sotto_prio3_shard(&instance->vdaf, &public_share, shares, instance->context,
                                  report->measurement, report->nonce, rand, &t->arena, &t->err));
    report->public_share = sotto_buf_bytes(&public_share);
    report->shares[SOTTO_LEADER] = sotto_buf_bytes(&shares[SOTTO_LEADER]);
    report->shares[SOTTO_HELPER] = sotto_buf_bytes(&shares[SOTTO_HELPER]);
}

static void shard_theirs(sotto_test *t, sotto_peer *peer, sotto_interop_report *report)
{
    sotto_peer_begin(peer, "shard");
    sotto_peer_add_numbers(peer, "measurement", report->measurement.values,
                           report->measurement.count);
    sotto_peer_add_bytes(peer, "nonce", sotto_bytes_of(report->nonce, sizeof report->nonce));
    sotto_peer_obeys(t, peer);
    report->public_share = sotto_peer_bytes(t, peer, "public");
    report->shares[SOTTO_LEADER] = sotto_peer_bytes(t, peer, "leader");
    report->shares[SOTTO_HELPER] = sotto_peer_bytes(t, peer, "helper");
}

void sotto_interop_shard(sotto_test *t, const sotto_instance *instance, sotto_peer *peer,
                         sotto_interop_report *report, sotto_bytes rand, bool theirs)
{
    const sotto_prio3_sizes *sizes = &instance->vdaf.sizes;

    if (theirs)
        shard_theirs(t, peer, report);
    else
        shard_ours(t, instance, report, rand);
    CHECK_EQUAL(t, sizes->public_share, report->public_share.len);
    CHECK_EQUAL(t, sizes->leader_share, report->shares[SOTTO_LEADER].len);
    CHECK_EQUAL(t, sizes->helper_share, report->shares[SOTTO_HELPER].len);
    for (int who = SOTTO_LEADER; who <= SOTTO_HELPER; who++) {
        sotto_prio3_report *received = &report->received[who];

        memcpy(received->nonce, report->nonce, sizeof received->nonce);
        received->public_share = report->public_share;
        received->input_share = report->shares[who];
    }
}

/* ---- the peer as an aggregator, one report at a time ----------------------------------------- */

static void add_report(sotto_peer *peer, const sotto_prio3_report *report)
{
    sotto_peer_add_bytes(peer, "nonce", sotto_bytes_of(report->nonce, sizeof report->nonce));
    sotto_peer_add_bytes(peer, "public", report->public_share);
    sotto_peer_add_bytes(peer, "share", report->input_share);
}

/* Its first message, or empty bytes. */
static sotto_bytes their_leader_init(sotto_test *t, const sotto_interop_exchange *x,
                                     const sotto_interop_report *report)
{
    sotto_peer_begin(x->peer, "leader_init");
    add_report(x->peer, &report->received[SOTTO_LEADER]);
    return sotto_peer_accepts(t, x->peer) ? sotto_peer_bytes(t, x->peer, "message")
                                          : sotto_bytes_of(NULL, 0);
}

static void their_helper_init(sotto_test *t, const sotto_interop_exchange *x,
                              const sotto_interop_report *report, sotto_bytes inbound,
                              sotto_outcome *outcome)
{
    sotto_peer_begin(x->peer, "helper_init");
    add_report(x->peer, &report->received[SOTTO_HELPER]);
    sotto_peer_add_bytes(x->peer, "message", inbound);
    outcome->accepted[SOTTO_HELPER] = sotto_peer_accepts(t, x->peer);
    if (!outcome->accepted[SOTTO_HELPER])
        return;
    outcome->messages[SOTTO_HELPER] = sotto_peer_bytes(t, x->peer, "message");
    outcome->out_shares[SOTTO_HELPER] = sotto_peer_bytes(t, x->peer, "out");
}

/* The peer keeps one leader state, so its first step is repeated here, and must not change its
 * mind. */
static void their_leader_continue(sotto_test *t, const sotto_interop_exchange *x,
                                  const sotto_interop_report *report, sotto_bytes inbound,
                                  sotto_outcome *outcome)
{
    sotto_bytes again = their_leader_init(t, x, report);

    CHECK(t, sotto_bytes_equal_vartime(again, outcome->messages[SOTTO_LEADER]));
    if (again.len == 0)
        return;
    sotto_peer_begin(x->peer, "leader_continue");
    sotto_peer_add_bytes(x->peer, "message", inbound);
    outcome->accepted[SOTTO_LEADER] = sotto_peer_accepts(t, x->peer);
    if (outcome->accepted[SOTTO_LEADER])
        outcome->out_shares[SOTTO_LEADER] = sotto_peer_bytes(t, x->peer, "out");
}

/* ---- our aggregators, the whole batch at once ------------------------------------------------ */

static sotto_prio3_verifier verifier_of(const sotto_interop_exchange *x, int who)
{
    sotto_prio3_verifier verifier = {.context = x->contexts[who], .aggregator = (unsigned)who};

    memcpy(verifier.verify_key, x->instance->verify_key, sizeof verifier.verify_key);
    return verifier;
}

static sotto_prio3_report *received_by(sotto_test *t, int who, const sotto_interop_report *reports,
                                       size_t count)
{
    sotto_prio3_report *received = sotto_test_take(t, count, sizeof *received);

    for (size_t i = 0; i < count; i++)
        received[i] = reports[i].received[who];
    return received;
}

/* A refusal must be one that a stranger's bytes can cause, and must say why. */
static void note_verdict(sotto_test *t, sotto_interop_exchange *x, int who, size_t i)
{
    const sotto_prio3_verification *state = &x->states[who][i];
    sotto_outcome *outcome = &x->outcomes[i];
    sotto_buf out;

    outcome->accepted[who] = state->status == SOTTO_OK;
    if (!outcome->accepted[who]) {
        CHECK(t, state->status == SOTTO_MALFORMED || state->status == SOTTO_REJECTED);
        CHECK(t, state->reason != NULL);
        return;
    }
    out = sotto_test_buf(t, x->instance->vdaf.sizes.out_share);
    CHECK_OK(t, sotto_prio3_out_share(&x->instance->vdaf, &out, state, &t->err));
    CHECK_EQUAL(t, x->instance->vdaf.sizes.out_share, out.len);
    outcome->out_shares[who] = sotto_buf_bytes(&out);
}

static void our_leader_init(sotto_test *t, sotto_interop_exchange *x,
                            const sotto_interop_report *reports, sotto_bytes *outbound,
                            size_t count)
{
    sotto_prio3_verifier verifier = verifier_of(x, SOTTO_LEADER);

    x->states[SOTTO_LEADER] = sotto_test_take(t, count, sizeof *x->states[SOTTO_LEADER]);
    CHECK_OK(t, sotto_ping_pong_leader_init(&x->instance->vdaf, x->states[SOTTO_LEADER], outbound,
                                            &verifier, received_by(t, SOTTO_LEADER, reports, count),
                                            count, &t->arena, &t->err));
    for (size_t i = 0; i < count; i++)
        CHECK(t, (x->states[SOTTO_LEADER][i].status == SOTTO_AGAIN) == (outbound[i].len > 0));
}

static void our_helper_init(sotto_test *t, sotto_interop_exchange *x,
                            const sotto_interop_report *reports, const sotto_bytes *inbound,
                            sotto_bytes *outbound, size_t count)
{
    sotto_prio3_verifier verifier = verifier_of(x, SOTTO_HELPER);

    x->states[SOTTO_HELPER] = sotto_test_take(t, count, sizeof *x->states[SOTTO_HELPER]);
    CHECK_OK(t, sotto_ping_pong_helper_init(&x->instance->vdaf, x->states[SOTTO_HELPER], outbound,
                                            &verifier, received_by(t, SOTTO_HELPER, reports, count),
                                            inbound, count, &t->arena, &t->err));
    for (size_t i = 0; i < count; i++) {
        note_verdict(t, x, SOTTO_HELPER, i);
        CHECK(t, x->outcomes[i].accepted[SOTTO_HELPER] == (outbound[i].len > 0));
    }
}

static void our_leader_continued(sotto_test *t, sotto_interop_exchange *x,
                                 const sotto_bytes *inbound, size_t count)
{
    CHECK_OK(t, sotto_ping_pong_leader_continued(&x->instance->vdaf, x->states[SOTTO_LEADER],
                                                 inbound, count, &t->err));
    for (size_t i = 0; i < count; i++)
        note_verdict(t, x, SOTTO_LEADER, i);
}

/* ---- the three steps ------------------------------------------------------------------------- */

/* What arrives of the messages that `sender` sent. A report without a message still goes on, with
 * none: that too must be refused. */
static sotto_bytes *carried(sotto_test *t, const sotto_interop_exchange *x, int sender,
                            size_t count)
{
    sotto_bytes *inbound = sotto_test_take(t, count, sizeof *inbound);

    for (size_t i = 0; i < count; i++) {
        inbound[i] = x->outcomes[i].messages[sender];
        if (x->courier && inbound[i].len > 0)
            inbound[i] = x->courier->carry(x->courier->self, i, sender, inbound[i]);
    }
    return inbound;
}

static void leader_speaks(sotto_test *t, sotto_interop_exchange *x,
                          const sotto_interop_report *reports, size_t count)
{
    sotto_bytes *outbound = sotto_test_take(t, count, sizeof *outbound);

    if (x->mix & SOTTO_THEIR_LEADER) {
        sotto_peer_choose(t, x->peer, x->instance, x->contexts[SOTTO_LEADER]);
        for (size_t i = 0; i < count; i++)
            outbound[i] = their_leader_init(t, x, &reports[i]);
    } else {
        our_leader_init(t, x, reports, outbound, count);
    }
    for (size_t i = 0; i < count; i++)
        x->outcomes[i].messages[SOTTO_LEADER] = outbound[i];
}

static void helper_answers(sotto_test *t, sotto_interop_exchange *x,
                           const sotto_interop_report *reports, size_t count)
{
    sotto_bytes *inbound = carried(t, x, SOTTO_LEADER, count);
    sotto_bytes *outbound = sotto_test_take(t, count, sizeof *outbound);

    if (x->mix & SOTTO_THEIR_HELPER) {
        sotto_peer_choose(t, x->peer, x->instance, x->contexts[SOTTO_HELPER]);
        for (size_t i = 0; i < count; i++)
            their_helper_init(t, x, &reports[i], inbound[i], &x->outcomes[i]);
        return;
    }
    our_helper_init(t, x, reports, inbound, outbound, count);
    for (size_t i = 0; i < count; i++)
        x->outcomes[i].messages[SOTTO_HELPER] = outbound[i];
}

static void leader_ends(sotto_test *t, sotto_interop_exchange *x,
                        const sotto_interop_report *reports, size_t count)
{
    sotto_bytes *inbound = carried(t, x, SOTTO_HELPER, count);

    if (!(x->mix & SOTTO_THEIR_LEADER)) {
        our_leader_continued(t, x, inbound, count);
        return;
    }
    sotto_peer_choose(t, x->peer, x->instance, x->contexts[SOTTO_LEADER]);
    for (size_t i = 0; i < count; i++)
        their_leader_continue(t, x, &reports[i], inbound[i], &x->outcomes[i]);
}

void sotto_interop_exchange_run(sotto_test *t, sotto_interop_exchange *x,
                                const sotto_interop_report *reports, size_t count)
{
    x->states[SOTTO_LEADER] = x->states[SOTTO_HELPER] = NULL;
    x->outcomes = sotto_test_take(t, count, sizeof *x->outcomes);
    leader_speaks(t, x, reports, count);
    helper_answers(t, x, reports, count);
    leader_ends(t, x, reports, count);
}
