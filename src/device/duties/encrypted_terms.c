#include "device/duties/encrypted_terms.h"

#include "base/rule.h"
#include "device/round.h"
#include "recipe/learning_encrypted.h"

#include <inttypes.h>
#include <string.h>

/* What was published has the hash that the round names; a learning recipe's sizes and session are those of all its records. */
typedef struct subject {
    const sotto_recipe *whole, *published;
    sotto_encrypted plan;
} subject;

static sotto_status plan_of(subject *s, const sotto_case *c, sotto_err *err)
{
    if (!c->round)
        return sotto_encrypted_plan(&s->plan, s->whole, err);
    return sotto_learning_encrypted_plan(&s->plan, c->round->learning, err);
}

sotto_status sotto_encrypted_terms(sotto_duties_terms *out, bool *is_one, const sotto_case *c,
                                   const sotto_round *round, sotto_err *err)
{
    subject s = {.whole = c->round ? &c->round->learning->head : c->recipe,
                 .published = c->round ? &c->round->kept : c->recipe};
    uint8_t session[32];

    *is_one = sotto_recipe_encrypted(&s.plan, s.whole);
    if (!*is_one)
        return SOTTO_OK;
    SOTTO_TRY(plan_of(&s, c, err));
    SOTTO_TRY(sotto_encrypted_agrees(round, &s.plan, s.published, err));
    /* Rounds of a session share its budget. A server that opened another session would begin again with nothing spent. */
    sotto_encrypted_session(session, s.whole);
    if (SOTTO_RULE(rounds_session) && memcmp(session, round->session, sizeof session) != 0)
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: the round is of another session",
                          s.whole->name);
    *out = (sotto_duties_terms){.methods = 1u << SOTTO_METHOD_AERO,
                                .least = s.whole->min_cohort,
                                .cohort = s.plan.largest,
                                .committee = s.plan.terms.committee,
                                .densest = UINT64_MAX, /* nobody masks with anybody */
                                .numbers = UINT64_MAX, /* an epoch's number is its round's */
                                .noise = s.plan.noise};
    memcpy(out->recipe, s.published->hash, sizeof out->recipe);
    return SOTTO_OK;
}

/* So a server can't wait for a number whose beacon draws whom it likes. Whoever opens sums looks at this as well as who answers. */
sotto_status sotto_record_terms(const sotto_case *c, const sotto_round *round, sotto_err *err)
{
    const sotto_round_case *r = c->round;

    if (!r)
        return SOTTO_OK;
    if (SOTTO_RULE(rounds_number) &&
        round->number != sotto_learning_number(r->learning, r->record.round))
        return sotto_fail(err, SOTTO_DENIED,
                          "round %" PRIu64 " was posted with the record of round %" PRIu64,
                          round->number, r->record.round);
    return sotto_round_record_check(r->learning, &r->record, err);
}
