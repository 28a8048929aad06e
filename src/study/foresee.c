/* Can devices pay for all rounds of a search? It is asked before the first one. */
#include "study/budget.h"

#include "base/arena.h"
#include "study/search.h"

typedef struct foresight {
    sotto_search_options
        options; /* with the fewest cells: what a round costs does not depend on them */
    sotto_search search;
    sotto_recipe_verdict verdict;
    sotto_mistakes mistakes;
    const sotto_recipe **before; /* rounds are alike, so each is the first one */
    double rho;                  /* of each */
} foresight;

/* The round that comes next, as a recipe. SOTTO_MISSING: there is none. */
static sotto_status next_recipe(foresight *f, const sotto_recipe **out, const sotto_recipe *frame,
                                const sotto_policy *policy, sotto_arena *arena, sotto_err *err)
{
    sotto_recipe_claim claim;
    sotto_search_round round;
    sotto_bytes text;

    SOTTO_TRY(sotto_search_ask(&f->search, &round, err));
    SOTTO_TRY(sotto_search_recipe(&text, &f->search, &round, frame, policy, arena, err));
    SOTTO_TRY(sotto_recipe_read(out, text, arena, &f->mistakes, err));
    f->rho = round.count ? f->rho : round.rho;
    return sotto_recipe_judge(&f->verdict, &claim, *out, policy, NULL, &f->mistakes, err);
}

/* The count, where the search ends after so many rounds: it spends all that they left. */
static sotto_status count_after(foresight *f, unsigned rounds, const sotto_recipe *frame,
                                const sotto_policy *policy, sotto_arena *arena, sotto_err *err)
{
    sotto_search_item found = {.text = f->search.letters[0]};
    const sotto_recipe *recipe;

    f->search.answered = rounds;
    f->search.spent = rounds * f->rho;
    f->search.found = &found;
    f->search.found_count = 1;
    f->search.phrasing = f->options.kind == SOTTO_SEARCH_PHRASES;
    SOTTO_TRY(next_recipe(f, &recipe, frame, policy, arena, err));
    return sotto_study_afford(policy, &f->verdict, f->before, rounds, recipe, arena, err);
}

static sotto_status look_ahead(foresight *f, unsigned *at, const sotto_recipe *frame,
                               const sotto_policy *policy, sotto_arena *arena, sotto_err *err)
{
    const bool counts = f->options.kind != SOTTO_SEARCH_PLACES;
    /* A round takes a letter or level at least, so fewer of them end the search before its last round. */
    const unsigned reach = sotto_search_reach(&f->search), most = f->options.rounds,
                   rounds =
                       sotto_search_shares(&f->search) - counts - (most > reach ? most - reach : 0);
    const sotto_recipe *round;

    f->before = sotto_arena_take_array(arena, rounds + 1, sizeof(void *));
    if (!f->before)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%u rounds", rounds);
    SOTTO_TRY(next_recipe(f, &round, frame, policy, arena, err));
    for (*at = 1; *at <= rounds; ++*at) {
        SOTTO_TRY(sotto_study_afford(policy, &f->verdict, f->before, *at - 1, round, arena, err));
        f->before[*at - 1] = round;
    }
    for (unsigned i = 1; counts && i <= rounds; i++) {
        const sotto_arena_mark here = sotto_arena_here(arena);

        *at = i + 1;
        SOTTO_TRY(count_after(f, i, frame, policy, arena, err));
        sotto_arena_rollback(arena, here);
    }
    return SOTTO_OK;
}

sotto_status sotto_study_foresee(unsigned *round, const sotto_search *search,
                                 const sotto_recipe *frame, const sotto_policy *policy,
                                 sotto_arena *arena, sotto_err *err)
{
    foresight *f = sotto_arena_take(arena, sizeof *f);

    *round = 1;
    if (!f)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the rounds of a search");
    if (search->options->fresh) /* a device answers one */
        return SOTTO_OK;
    f->options = *search->options;
    f->options.cells = sotto_search_tails(search, 1, 1);
    f->options.denied_count = 0;
    SOTTO_TRY(sotto_search_open(&f->search, &f->options, arena, err));
    return look_ahead(f, round, frame, policy, arena, err);
}
