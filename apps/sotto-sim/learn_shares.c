/* Each update as a report of PINE: split, proved, verified by both aggregators, and added up in shares. */
#include "learn.h"

#include "aggregate/pine/pine.h"

#include <math.h>
#include <string.h>

#define CONTEXT sotto_bytes_of("sotto sim learn", 15)

typedef struct learn_report {
    sotto_pine_report shares;
    uint8_t *rand, *out[2], *verifier[2], *message;
    uint8_t nonce[SOTTO_PINE_NONCE];
} learn_report;

sotto_status learn_shares_open(learn_run *run, sotto_err *err)
{
    const sotto_vdaf_shape shape = {.length = run->numbers,
                                    .most = (uint64_t)ceil(run->update.length)};
    sotto_vdaf_config task;

    sotto_pine_client.plan(&task, &shape);
    const sotto_pine_config config = sotto_pine_config_of(&task);
    return sotto_pine_init(&run->pine, &run->arena, &config, err);
}

sotto_status learn_shares_open_hand(learn_hand *h, sotto_err *err)
{
    const sotto_pine_sizes *s = &h->run->pine.sizes;
    learn_report *r = sotto_arena_take(&h->arena, sizeof *r);
    bool all = r != NULL;

    if (r) {
        r->shares = (sotto_pine_report){sotto_arena_take(&h->arena, s->public_share),
                                        sotto_arena_take(&h->arena, s->leader_share),
                                        sotto_arena_take(&h->arena, s->helper_share)};
        r->rand = sotto_arena_take(&h->arena, s->rand);
        r->message = sotto_arena_take(&h->arena, s->verifier_message);
        for (size_t i = 0; i < 2; i++) {
            r->out[i] = sotto_arena_take(&h->arena, s->out_share);
            r->verifier[i] = sotto_arena_take(&h->arena, s->verifier_share);
            all = all && r->out[i] && r->verifier[i];
        }
        all = all && r->shares.public_share && r->shares.leader_share && r->shares.helper_share &&
              r->rand && r->message;
    }
    h->leader = sotto_arena_take(&h->arena, s->out_share);
    h->helper = sotto_arena_take(&h->arena, s->out_share);
    h->report = r;
    if (!all || !h->leader || !h->helper)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for shares");
    return SOTTO_OK;
}

/* One in 2^108 times the client has to draw again. */
static sotto_status shard(learn_hand *h, sotto_entropy *entropy, sotto_err *err)
{
    learn_report *r = h->report;
    sotto_status status;

    do {
        SOTTO_TRY(sotto_entropy_take(entropy, r->rand, h->run->pine.sizes.rand, err));
        SOTTO_TRY(sotto_entropy_take(entropy, r->nonce, sizeof r->nonce, err));
        status = sotto_pine_shard(&h->run->pine, &r->shares, CONTEXT, h->integers, r->nonce,
                                  r->rand, &h->scratch, err);
    } while (status == SOTTO_AGAIN);
    return status;
}

sotto_status learn_shares_add(learn_hand *h, sotto_entropy *entropy, sotto_err *err)
{
    static const uint8_t verify_key[SOTTO_PINE_MAX_SEED] = {7}; /* the two aggregators' own */
    const sotto_pine *pine = &h->run->pine;
    learn_report *r = h->report;
    sotto_pine_state states[2];

    SOTTO_TRY(shard(h, entropy, err));
    for (unsigned i = 0; i < 2; i++) {
        const sotto_pine_input input = {
            .aggregator = i,
            .nonce = r->nonce,
            .public_share = sotto_bytes_of(r->shares.public_share, pine->sizes.public_share),
            .input_share = i ? sotto_bytes_of(r->shares.helper_share, pine->sizes.helper_share)
                             : sotto_bytes_of(r->shares.leader_share, pine->sizes.leader_share)};

        SOTTO_TRY(sotto_pine_verify_init(pine, &states[i], r->out[i], r->verifier[i], verify_key,
                                         CONTEXT, &input, &h->scratch, err));
    }
    SOTTO_TRY(sotto_pine_verifier_shares_to_message(
        pine, r->message, CONTEXT, sotto_bytes_of(r->verifier[0], pine->sizes.verifier_share),
        sotto_bytes_of(r->verifier[1], pine->sizes.verifier_share), err));
    for (unsigned i = 0; i < 2; i++) {
        SOTTO_TRY(sotto_pine_verify_next(
            pine, &states[i], sotto_bytes_of(r->message, pine->sizes.verifier_message), err));
        sotto_pine_accumulate(pine, i ? h->helper : h->leader, r->out[i]);
    }
    return SOTTO_OK;
}

sotto_status learn_shares_sum(learn_run *run, sotto_err *err)
{
    for (size_t i = 1; i < run->options->threads; i++) {
        sotto_pine_accumulate(&run->pine, run->hands[0].leader, run->hands[i].leader);
        sotto_pine_accumulate(&run->pine, run->hands[0].helper, run->hands[i].helper);
    }
    return sotto_pine_unshard(&run->pine, run->sum, run->hands[0].leader, run->hands[0].helper,
                              err);
}
