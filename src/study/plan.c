/* What each round may ask, and with how much noise. */
#include "study/search.h"

#include "account/gauss/rdp.h"
#include "account/put_aside.h"
#include "base/rule.h"
#include "noise/noise.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_SIGMA = 500,
    MOST_SIGMA = 1000000000,
    FINE_SIGMA = 60000000
}; /* as recipes have them */

/* ---- settings -------------------------------------------------------------------------------------------------- */

/* Bytes of a character in UTF-8; 0: none that may be a letter. */
static size_t letter_length(const uint8_t *at)
{
    const size_t len = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;

    if (at[0] <= ' ' || at[0] == 0x7f || (at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

static sotto_status read_alphabet(sotto_search *s, const char *text, sotto_err *err)
{
    for (size_t at = 0, len; text[at]; at += len) {
        len = letter_length((const uint8_t *)text + at);
        if (len == 0 || s->letter_count == SOTTO_SEARCH_LETTERS)
            return sotto_fail(err, SOTTO_MALFORMED,
                              "the alphabet has up to %d characters in UTF-8, without spaces",
                              SOTTO_SEARCH_LETTERS);
        char *letter = s->letters[s->letter_count];
        memcpy(letter, text + at, len);
        if (SOTTO_RULE(search_end_is_no_letter) && strcmp(letter, SOTTO_SEARCH_END) == 0)
            return sotto_fail(err, SOTTO_MALFORMED,
                              "the alphabet has a " SOTTO_SEARCH_END
                              ", which marks the end of a word");
        for (size_t i = 0; i < s->letter_count; i++)
            if (strcmp(s->letters[i], letter) == 0)
                return sotto_fail(err, SOTTO_MALFORMED, "the alphabet has %s twice", letter);
        s->letter_count++;
    }
    return SOTTO_OK;
}

static bool is_box(const sotto_search_options *o)
{
    return isfinite(o->west) && isfinite(o->south) && isfinite(o->east) && isfinite(o->north) &&
           o->west < o->east && o->south < o->north;
}

static sotto_status check(const sotto_search *s, const sotto_search_options *o, sotto_err *err)
{
    const bool words = o->kind != SOTTO_SEARCH_PLACES;
    const unsigned longest = words ? SOTTO_SEARCH_LONGEST : SOTTO_SEARCH_LEVELS;

    if (s->letter_count < 2)
        return sotto_fail(err, SOTTO_MALFORMED, "the alphabet has 2 letters or more");
    if (o->longest < 1 || o->longest > longest)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: 1 to %u",
                          words ? "letters of a word" : "levels of a place", longest);
    if (o->kind == SOTTO_SEARCH_PHRASES && (o->words < 2 || o->words > SOTTO_SEARCH_PHRASE))
        return sotto_fail(err, SOTTO_MALFORMED, "words of a phrase: 2 to %d", SOTTO_SEARCH_PHRASE);
    if (o->rounds < 1 || o->rounds > SOTTO_SEARCH_ROUNDS)
        return sotto_fail(err, SOTTO_MALFORMED, "rounds: 1 to %d", SOTTO_SEARCH_ROUNDS);
    if (SOTTO_RULE(search_cells_hold_a_letter) &&
        (o->cells < sotto_search_tails(s, 1, 1) || o->cells > SOTTO_RECIPE_MAX_BINS))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "cells of a round: %llu, one for each letter, to %d",
                          (unsigned long long)sotto_search_tails(s, 1, 1), SOTTO_RECIPE_MAX_BINS);
    if (!words && !is_box(o))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "places have a box: west below east, and south below north");
    if (o->epsilon.units == 0 || o->delta.units < sotto_search_shares(s))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "epsilon is above 0, and delta at least 1e-12 for each round");
    return SOTTO_OK;
}

/* The zCDP of all rounds. */
static sotto_status set_budget(sotto_search *s, sotto_err *err)
{
    const sotto_search_options *o = s->options;
    const double delta = sotto_decimal_down(o->delta),
                 lost = sotto_noise_delta((uint64_t)sotto_search_shares(s) *
                                          (SOTTO_RECIPE_MAX_BINS + 2)); /* others, and no value */
    sotto_bound rho;

    if (SOTTO_RULE(search_draws_are_paid_for) &&
        !sotto_draws_are_paid(sotto_decimal_up(o->epsilon), lost, delta))
        return sotto_fail(
            err, SOTTO_MALFORMED,
            "epsilon and delta: the samplers' own error takes up delta; take a smaller "
            "epsilon or a larger delta");
    SOTTO_TRY(sotto_zcdp_rho(&rho, sotto_decimal_down(o->epsilon),
                             log(delta) - SOTTO_PUT_ASIDE - 1e-12, err));
    s->rho = rho.low;
    return SOTTO_OK;
}

sotto_status sotto_search_open(sotto_search *s, const sotto_search_options *options,
                               sotto_arena *arena, sotto_err *err)
{
    *s = (sotto_search){.options = options, .arena = arena};
    SOTTO_TRY(
        read_alphabet(s, options->kind == SOTTO_SEARCH_PLACES ? "0123" : options->alphabet, err));
    SOTTO_TRY(check(s, options, err));
    return set_budget(s, err);
}

/* ---- noise ------------------------------------------------------------------------------------------------------ */

/* Rounds without the count. Phrases begin with one word, and each round adds one. */
static unsigned finding(const sotto_search *s)
{
    const sotto_search_options *o = s->options;

    return o->rounds + (o->kind == SOTTO_SEARCH_PHRASES ? o->words - 1 : 0);
}

unsigned sotto_search_shares(const sotto_search *s)
{
    return finding(s) + (s->options->kind != SOTTO_SEARCH_PLACES);
}

/* What a round may spend of the zCDP of all rounds. The count at the end has what earlier rounds left. */
static double share_of(const sotto_search *s, const sotto_search_round *r)
{
    if (s->options->fresh)
        return s->rho;
    if (r->count)
        return s->rho - s->spent;
    return s->rho / sotto_search_shares(s);
}

/* The least sigma whose rho is within `most`: a one-hot report moves the sums by sqrt(2), so rho is 1/sigma^2. */
static sotto_status set_noise(sotto_search_round *r, double most, sotto_err *err)
{
    double milli = most > 0 ? ceil(1000 / sqrt(most)) : MOST_SIGMA;

    milli = fmax(milli, LEAST_SIGMA);
    for (;; milli++) {
        if (milli > FINE_SIGMA)
            milli = ceil(milli / 1000) * 1000;
        if (!(milli < MOST_SIGMA))
            return sotto_fail(err, SOTTO_DENIED, "the budget is spent: no noise is large enough");
        SOTTO_TRY(sotto_zcdp_of_gaussian(&r->rho, milli / 1000, sqrt(2) * (1 + 1e-15), err));
        if (r->rho <= most)
            break;
    }
    r->sigma_milli = (uint64_t)milli;
    return SOTTO_OK;
}

/* A device that answers one of all rounds draws each of them with the same chance. Where ledgers keep those out that answered, the
 * others draw among the rounds to come. */
static double rate_of(const sotto_search *s, const sotto_search_round *r)
{
    const unsigned all = sotto_search_shares(s);

    if (!s->options->fresh)
        return 1;
    return s->options->ledgers ? 1.0 / (all + 1 - r->number) : 1.0 / all;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

uint64_t sotto_search_tails(const sotto_search *s, unsigned depth, unsigned segment)
{
    uint64_t power = 1, all = 0;

    for (unsigned k = 0; k < segment; k++) {
        if (s->options->kind != SOTTO_SEARCH_PLACES && (depth > 0 || k > 0))
            all += power; /* words that end behind k letters; none is empty */
        power *= s->letter_count;
        if (power > SOTTO_RECIPE_MAX_BINS)
            return UINT64_MAX;
    }
    return all + power;
}

unsigned sotto_search_reach(const sotto_search *s)
{
    return s->phrasing ? s->options->words
                       : s->options->longest + (s->options->kind != SOTTO_SEARCH_PLACES);
}

/* Letters that a round may take at most. Words take all that there are cells for: each round costs budget. A place that is thinly
 * populated is seen on the level where it stands out of noise, so levels are not skipped unless rounds are fewer. */
static unsigned most_letters(const sotto_search *s)
{
    const unsigned left = sotto_search_reach(s) - s->depth,
                   rounds = s->options->rounds - s->answered;

    return s->options->kind != SOTTO_SEARCH_PLACES ? left : (left + rounds - 1) / rounds;
}

static void set_cells(const sotto_search *s, sotto_search_round *r)
{
    const uint64_t heads = s->depth > 0 ? s->survivor_count : 1;
    const unsigned most = most_letters(s);

    r->depth = s->depth;
    r->heads = s->depth > 0 ? s->survivor_count : 0;
    r->segment = 1;
    while (r->segment < most) {
        const uint64_t tails = sotto_search_tails(s, r->depth, r->segment + 1);

        if (tails > s->options->cells / heads)
            break;
        r->segment++;
    }
    r->tails = (size_t)sotto_search_tails(s, r->depth, r->segment);
    r->cells = heads * r->tails;
}

static void set_phrases(const sotto_search *s, sotto_search_round *r)
{
    r->phrases = true;
    r->depth = s->depth;
    r->segment = 1;
    r->heads = s->survivor_count;
    r->tails = (size_t)sotto_phrases_words(s, r->heads) + 1; /* the end stands first */
    r->cells = (uint64_t)r->heads * r->tails;
}

/* Each round has the same part of the false finds, and each of its cells the same part of that. */
static sotto_status set_threshold(const sotto_search *s, sotto_search_round *r, sotto_err *err)
{
    double miss = SOTTO_SEARCH_FALSE / finding(s) / (double)r->cells;

    return sotto_search_threshold(&r->threshold, &r->miss, r->sigma_milli, miss, s->arena, err);
}

bool sotto_search_goes_on(const sotto_search *s)
{
    if (s->phrasing)
        return s->depth < s->options->words && s->survivor_count > 0;
    return s->answered < s->options->rounds && s->depth < sotto_search_reach(s) &&
           (s->answered == 0 || s->survivor_count > 0);
}

sotto_status sotto_search_ask(const sotto_search *s, sotto_search_round *out, sotto_err *err)
{
    sotto_search_round r = {.number = s->answered + 1};

    if (s->counted)
        return sotto_fail(err, SOTTO_MISSING, "the search is done");
    if (sotto_search_goes_on(s) && s->phrasing) {
        set_phrases(s, &r);
    } else if (sotto_search_goes_on(s)) {
        set_cells(s, &r);
    } else if (s->found_count > 0 && s->options->kind != SOTTO_SEARCH_PLACES) {
        r.count = true;
        r.phrases = s->phrasing;
        r.tails = s->found_count;
        r.cells = s->found_count + 1; /* others: <oov> */
    } else {
        return sotto_fail(err, SOTTO_MISSING, "the search is done");
    }
    r.delta.units = s->options->fresh ? s->options->delta.units
                                      : s->options->delta.units / sotto_search_shares(s);
    r.rate = rate_of(s, &r);
    SOTTO_TRY(set_noise(&r, share_of(s, &r), err));
    *out = r;
    return r.count ? SOTTO_OK : set_threshold(s, out, err);
}
