/* recipe/encrypted.h - recipes whose sums are added up encrypted (docs/protocols/aero.md): what they state, what follows from it, and what
 * lint says of it.
 *
 * Callers:  judge.c, explain.c and claim.c; analyse/ for receipts; whoever plans a round of such a recipe.
 * Memory:   plain values.
 * Secrets:  none.
 */
#ifndef SOTTO_RECIPE_ENCRYPTED_H
#define SOTTO_RECIPE_ENCRYPTED_H

#include "aggregate/aero/odds.h"
#include "base/writer.h"
#include "recipe/content.h"
#include "recipe/schema.h"

enum { SOTTO_ENCRYPTED_NAME = 129 };

/* One contribution, and the noise that is wanted on a sum of them. */
typedef struct sotto_encrypted_sum {
    uint64_t entries;
    uint64_t most, norm2;    /* its largest entry, and the squares of a group's entries */
    uint64_t variance;       /* of the noise that counts, in millionths                 */
    uint64_t participations; /* rounds that a device contributes to, at most; 0: all    */
} sotto_encrypted_sum;

typedef struct sotto_encrypted {
    /* As the recipe says. */
    char name[SOTTO_ENCRYPTED_NAME], set_name[SOTTO_ENCRYPTED_NAME];
    uint64_t least, most;    /* devices that are registered            */
    double corrupt, offline; /* parts of them                          */
    uint64_t committees;     /* that decrypt                           */
    uint64_t queries, grind, group;
    double rate;            /* at which a device draws itself         */
    sotto_aero_terms terms; /* of every round                         */
    /* What follows. */
    const sotto_aero_set *set;
    uint64_t largest;     /* contributors: more come with SOTTO_AERO_ODDS at most */
    uint64_t ciphertexts; /* of a contribution                                    */
    sotto_encrypted_sum sum;
    sotto_round_noise noise; /* of one noise member, and how many a claim counts on */
    double variance;         /* of the noise in a sum where every noise member answers */
    sotto_aero_ledger ledger;
    sotto_aero_odds odds;
    double few;    /* chance that fewer than min_cohort contribute, of `least` devices */
    double stalls; /* chance that too few members answer to open the sum */
    double rho;    /* zCDP of a round, at most                                   */
    double
        epsilon; /* of a round, or of all participations, at 2^-terms.delta_bits, which is at most the recipe's delta */
    uint64_t bytes; /* of a contribution: ciphertexts and proofs                  */
} sotto_encrypted;

/* False: its trust model has no such sums. Only what the recipe says is filled in. */
bool sotto_recipe_encrypted(sotto_encrypted *out, const sotto_recipe *recipe);
/* Everything.
 *   SOTTO_MISSING  its trust model has no such sums
 *   SOTTO_DENIED   the sums don't fit the parameters; the reason says what is missing */
SOTTO_MUST_USE sotto_status sotto_encrypted_plan(sotto_encrypted *out, const sotto_recipe *recipe,
                                                 sotto_err *err);
/* The same of other contributions than a statistic's. What fits a recipe of statistics fits here; recipe: of a learning recipe, its head. */
SOTTO_MUST_USE sotto_status sotto_encrypted_plan_sum(sotto_encrypted *out,
                                                     const sotto_recipe *recipe,
                                                     const sotto_encrypted_sum *sum,
                                                     sotto_err *err);
/* A round as this recipe wants it: entries, bounds, contributors, noise and terms. What is not the recipe's to say stays as it is.
 *   parameters  where the round borrows its terms from
 *   recipe      whose hash the round has: of learning, the round's record */
SOTTO_MUST_USE sotto_status sotto_encrypted_round(sotto_round *round,
                                                  uint8_t parameters[SOTTO_AERO_TERMS_HANDED],
                                                  const sotto_encrypted *plan,
                                                  const sotto_recipe *recipe, sotto_err *err);
/* The session that all rounds of this recipe are of: their numbers count what was spent. */
void sotto_encrypted_session(uint8_t out[32], const sotto_recipe *recipe);
/* Whether somebody else's round keeps what the recipe says, its budget above all. Everybody who joins asks this.
 *   SOTTO_DENIED  it does not; the reason names the first difference */
SOTTO_MUST_USE sotto_status sotto_encrypted_agrees(const sotto_round *round,
                                                   const sotto_encrypted *plan,
                                                   const sotto_recipe *recipe, sotto_err *err);

/* Epsilon of a recipe by a committee's noise. claim.c calls it by sotto_recipe_by_committee, since libsotto-device has no room for it. */
typedef sotto_status sotto_committee_claim(sotto_answer *out, const sotto_recipe *recipe,
                                           sotto_err *err);
sotto_committee_claim sotto_encrypted_claim;
SOTTO_MUST_USE sotto_status sotto_encrypted_claim_plan(sotto_answer *out,
                                                       const sotto_encrypted *plan, sotto_err *err);
extern sotto_committee_claim *const sotto_recipe_by_committee; /* NULL: this library lacks it */

void sotto_recipe_check_encrypted(sotto_reading *at, const sotto_recipe *recipe);
/* What is asked of every plan. why: the reason that there is none; NULL: it is whole. */
void sotto_encrypted_check(sotto_reading *at, const sotto_recipe *recipe,
                           const sotto_encrypted *plan, const char *why);
/* Appends sentences for whoever is asked. Nothing for other trust models. */
void sotto_encrypted_explain(sotto_writer *w, const sotto_recipe *recipe);
/* The sentence about sizes and odds. */
void sotto_encrypted_say_odds(sotto_writer *w, const sotto_encrypted *plan);

#endif
