#include "device/duties/terms.h"

#include "base/rule.h"

#include <string.h>

static sotto_status check_subject(const sotto_duties_terms *t, const sotto_round *r, sotto_err *err)
{
    if (SOTTO_RULE(duties_method) && (r->method > 31 || !(t->methods >> r->method & 1)))
        return sotto_fail(err, SOTTO_DENIED, "terms: no round of method %u is joined", r->method);
    if (SOTTO_RULE(duties_recipe) && memcmp(r->recipe, t->recipe, sizeof r->recipe) != 0)
        return sotto_fail(err, SOTTO_DENIED, "terms: the round is of another recipe");
    if (SOTTO_RULE(duties_registry) && memcmp(r->registry, t->registry, sizeof r->registry) != 0)
        return sotto_fail(err, SOTTO_DENIED, "terms: the round is of another registry");
    if (SOTTO_RULE(duties_noise) &&
        (r->noise.by != t->noise.by || r->noise.law != t->noise.law ||
         r->noise.num != t->noise.num || r->noise.den != t->noise.den ||
         r->noise.shares != t->noise.shares || r->noise.tail != t->noise.tail))
        return sotto_fail(err, SOTTO_DENIED, "terms: the round has another noise");
    return SOTTO_OK;
}

static sotto_status check_numbers(const sotto_duties_terms *t, const sotto_round *r, sotto_err *err)
{
    if (SOTTO_RULE(duties_least) && r->least < t->least)
        return sotto_fail(err, SOTTO_DENIED, "terms: a sum of %llu contributions; at least %llu",
                          (unsigned long long)r->least, (unsigned long long)t->least);
    /* Of those drawn, the server picks who counts as online: all liars among them may be in the sum. */
    if (SOTTO_RULE(duties_cohort) && r->largest > t->cohort)
        return sotto_fail(err, SOTTO_DENIED, "terms: %llu clients are drawn; at most %llu",
                          (unsigned long long)r->largest, (unsigned long long)t->cohort);
    /* Each number has a graph of its own. A server that took any number would have it draw until it likes one. */
    if (SOTTO_RULE(duties_numbers) && r->number >= t->numbers)
        return sotto_fail(err, SOTTO_DENIED,
                          "terms: round %llu of an epoch; there are %llu, from 0 on",
                          (unsigned long long)r->number, (unsigned long long)t->numbers);
    return SOTTO_OK;
}

sotto_status sotto_duties_terms_check(const sotto_duties_terms *t, const sotto_posted_round *posted,
                                      sotto_err *err)
{
    sotto_round_strength s;

    SOTTO_TRY(check_subject(t, &posted->round, err));
    SOTTO_TRY(check_numbers(t, &posted->round, err));
    SOTTO_TRY(sotto_posted_round_strength(posted, &s, err));
    if (SOTTO_RULE(duties_committee) && s.committee < t->committee)
        return sotto_fail(err, SOTTO_DENIED, "terms: a committee of %u; at least %u", s.committee,
                          t->committee);
    if (SOTTO_RULE(duties_neighbours) && s.neighbours < t->neighbours)
        return sotto_fail(err, SOTTO_DENIED, "terms: %u online neighbours; at least %u",
                          s.neighbours, t->neighbours);
    if (SOTTO_RULE(duties_edge) && s.edge < t->edge)
        return sotto_fail(err, SOTTO_DENIED, "terms: too few edges are drawn");
    /* Of all graphs that it could have by drawing more, the server would take the one that it likes. */
    if (SOTTO_RULE(duties_densest) && s.edge > t->densest)
        return sotto_fail(err, SOTTO_DENIED, "terms: too many edges are drawn");
    return SOTTO_OK;
}
