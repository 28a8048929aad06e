/* What a recipe of one server states of a committee, and the odds that follow. */
#include "analyse/receipt_committee.h"

#include "account/numeric/shown.h"

#include <inttypes.h>

/* A committee with more liars than it tolerates opens single vectors: a chance of that beyond delta is no guarantee. */
void sotto_stated_committee_of(sotto_stated_committee *out, const sotto_recipe *recipe,
                               double rounds, bool picked, double delta)
{
    sotto_one_server_odds odds;
    sotto_one_server s;

    if (!sotto_recipe_one_server(&s, recipe))
        return;
    sotto_one_server_odds_of(&odds, recipe, &s, rounds, picked);
    *out = (sotto_stated_committee){.corrupt = s.corrupt,
                                    .dropout = s.dropout,
                                    .cohort = s.cohort,
                                    .size = s.decryptors,
                                    .quorum = (2 * s.decryptors + 2) / 3,
                                    .tolerated = odds.tolerated,
                                    .tail = odds.committee,
                                    .holds = odds.committee <= delta,
                                    .cut_off = odds.cut_off,
                                    .connected = odds.cut_off <= delta};
}

#define say sotto_write_format

void sotto_stated_committee_say(sotto_writer *w, const sotto_stated_committee *s)
{
    say(w,
        "  stated: of at most %" PRIu64
        " drawn devices, a part of at most %.4g lies and of %.4g drops "
        "out\n"
        "  committee: %" PRIu64 " decryptors; %" PRIu64 " must sign, and %" PRId64 " may lie\n"
        "  chance that a committee has more liars: at most %.3g in the rounds of delta\n"
        "  chance that a server with liars can cut a client off: at most %.3g in these\n",
        s->cohort, s->corrupt, s->dropout, s->size, s->quorum, s->tolerated < 0 ? 0 : s->tolerated,
        sotto_bound_shown(s->tail, 3), sotto_bound_shown(s->cut_off, 3));
    if (!s->holds)
        say(w,
            "  this committee proves nothing against a server that works with liars: that chance "
            "is above delta\n");
    if (!s->connected)
        say(w, "  this graph proves nothing against a server that works with liars: it may cut a "
               "client off with a chance above delta\n");
}
