/* What a recipe of one server states of a committee, and the odds that follow. */
#include "analyse/receipt_committee.h"

#include "account/committee.h"
#include "account/numeric/shown.h"

#include <inttypes.h>

/* A committee with more liars than it tolerates opens single vectors: a chance of that beyond delta is no guarantee. */
void sotto_stated_committee_of(sotto_stated_committee *out, const sotto_one_server *s, double delta)
{
    sotto_committee drawn = {.size = s->decryptors, .corrupt = s->corrupt, .draws = 1};
    sotto_committee_odds odds;

    *out = (sotto_stated_committee){
        .corrupt = s->corrupt,
        .dropout = s->dropout,
        .cohort = s->cohort,
        .size = s->decryptors,
        .quorum = (2 * s->decryptors + 2) / 3,
        .tolerated = sotto_committee_decryptors_tolerate(s->decryptors, s->decryptors_dropout),
        .tail = 1};
    if (out->tolerated < 0)
        return;
    drawn.tolerated = (uint64_t)out->tolerated;
    if (sotto_committee_odds_of(&odds, &drawn, NULL) == SOTTO_OK)
        out->tail = odds.one;
    out->holds = out->tail <= delta;
}

#define say sotto_write_format

void sotto_stated_committee_say(sotto_writer *w, const sotto_stated_committee *s)
{
    say(w,
        "  stated: of at most %" PRIu64
        " drawn devices, a part of at most %.4g lies and of %.4g drops "
        "out\n"
        "  committee: %" PRIu64 " decryptors; %" PRIu64 " must sign, and %" PRId64 " may lie\n"
        "  chance that a committee has more liars: at most %.3g for each draw\n",
        s->cohort, s->corrupt, s->dropout, s->size, s->quorum, s->tolerated < 0 ? 0 : s->tolerated,
        sotto_bound_shown(s->tail, 3));
    if (!s->holds)
        say(w,
            "  this committee proves nothing against a server that works with liars: that chance "
            "is above delta\n");
}
