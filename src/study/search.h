/* study/search.h - a search over several rounds: which words or phrases do devices have, or in which places are they?
 *
 *     sotto_search_open     checks the settings
 *     sotto_search_ask      the next round: what is asked, with how much noise
 *     sotto_search_recipe   ... as a recipe
 *     sotto_search_answer   what came of it; then the next one is asked
 *
 * Callers:  `sotto analysis discover`, benchmarks, tests.
 * Memory:   a search keeps what it found in its arena.
 * Threads:  nothing is shared.
 * Secrets:  none: answers were released.
 *
 * An item is a text over an alphabet: the letters of a word, or the digits of a place in a quadtree, each a quarter of the one before.
 * A round asks for the texts that survived the round before ("heads"), each with all segments of some letters behind it
 * ("tails"). A cell is a head with a tail. Survivors are cells whose count is above a threshold; a word is found where a segment
 * ends with the word. The same settings and answers give the same rounds, so a search can be taken up again from its answers.
 *
 * A search for phrases has two parts. The first finds words, letter by letter. In the second the letters are those words: a head is a
 * phrase that survived, and a tail one more word, or the end. Words that are frequent have cells first. Devices leave phrases
 * of more words than the longest out, so a survivor of that length has ended.
 *
 * No new encoder is needed: the query cuts the text, and `categories` lists heads and tails (docs/decisions/0160). Rounds over words
 * have a `prefix-tree` (docs/decisions/0163).
 *
 * Claim:    noise by each of two servers, discrete Gaussian; one server must be honest. A one-hot report in place of another moves the
 *           sums by sqrt(2). So a round with sigma is 1/sigma^2-zCDP (Canonne, Kamath and Steinke 2020, theorem 4). Noise and the
 *           number of rounds depend on answers, so a filter holds: all rounds together are within epsilon and delta (Feldman
 *           and Zrnic 2021). What was spent so far is no smaller claim, since the end was chosen by looking at answers.
 *           With fresh devices each round has the whole budget, and a device answers one round: its ledger sees to that.
 * Finds:    of the cells that no device has, less than one is expected to pass a threshold, over all rounds together.
 */
#ifndef SOTTO_STUDY_SEARCH_H
#define SOTTO_STUDY_SEARCH_H

#include "account/numeric/decimal.h"
#include "recipe/model.h"

typedef enum sotto_search_kind {
    SOTTO_SEARCH_WORDS = 1,
    SOTTO_SEARCH_PLACES,
    SOTTO_SEARCH_PHRASES
} sotto_search_kind;

enum {
    SOTTO_SEARCH_LETTERS = 256,
    SOTTO_SEARCH_LONGEST = 64, /* letters of a word */
    SOTTO_SEARCH_LEVELS = 20,  /* of a quadtree     */
    SOTTO_SEARCH_PHRASE = 8,   /* words of a phrase */
    SOTTO_SEARCH_ROUNDS = 64,
    SOTTO_SEARCH_NAME = 64
};

/* The end of a word, behind its last letter. */
#define SOTTO_SEARCH_END "$"
/* Expected at most, over all rounds. */
#define SOTTO_SEARCH_FALSE 0.5

typedef struct sotto_search_options {
    sotto_search_kind kind;
    const char *alphabet; /* of words: each character once */
    unsigned longest;     /* letters of a word, or levels of a place */
    uint64_t cells;       /* of a round, at most */
    unsigned rounds;      /* of letters or levels at most, beside those of phrases and the count */
    unsigned words;       /* of a phrase, at most: 2 or more */
    sotto_decimal epsilon, delta;
    bool fresh;                /* other devices each round; else one budget is split over rounds */
    bool ledgers;              /* devices remember: those that answered are not there any more */
    const char *const *denied; /* words that are known, and not looked for */
    size_t denied_count;
    double west, south, east, north; /* of places */
} sotto_search_options;

typedef struct sotto_search_item {
    const char *text;
    double count;   /* of the round that found it */
    unsigned round; /* from 1 */
} sotto_search_item;

typedef struct sotto_search {
    const sotto_search_options *options;
    sotto_arena *arena;
    char letters[SOTTO_SEARCH_LETTERS][5];
    size_t letter_count;
    double rho;         /* of all rounds together */
    double spent;       /* of the rounds that were answered; with fresh devices, of the largest */
    double false_finds; /* expected in those, at most */
    unsigned answered;  /* rounds */
    unsigned depth;     /* letters of a survivor; of phrases, words */
    bool phrasing;      /* words were found; phrases of them are searched for */
    sotto_search_item *vocabulary; /* those words, by count: the largest first */
    size_t vocabulary_count;
    size_t unspelt; /* beginnings of words that were not followed to their end */
    sotto_search_item *survivors, *found;
    size_t survivor_count, found_count, found_room;
    uint64_t dropped; /* survivors that no cell was left for */
    uint64_t unused;  /* words that no cell was left for in some round of phrases */
    bool counted;     /* the last round was the count */
} sotto_search;

/* One round. */
typedef struct sotto_search_round {
    unsigned number; /* from 1 */
    bool count;      /* of what was found: the last one */
    bool phrases;    /* heads and tails are words */
    unsigned depth, segment;
    size_t heads; /* 0: none, since no letter is known yet */
    size_t tails;
    uint64_t cells;
    uint64_t sigma_milli; /* of each server's noise */
    double rho;
    sotto_decimal delta; /* that the recipe states */
    double rate;         /* chance that a device takes part */
    int64_t
        threshold; /* of the count: a cell that no device has passes with a chance of `miss` at most */
    double miss;
    int64_t opens,
        closes; /* of its recipe; both 0: the frame's schedule, as many times later as rounds were before it */
} sotto_search_round;

/* The options are borrowed.
 *   SOTTO_MALFORMED  a setting that makes no sense; the reason names it */
SOTTO_MUST_USE sotto_status sotto_search_open(sotto_search *search,
                                              const sotto_search_options *options,
                                              sotto_arena *arena, sotto_err *err);
/* Letters of the longest survivor: a word of the longest kind ends one letter behind its last one. Survivors of so many letters
 * begin words that are longer than the longest. Of phrases, the words of the longest one. */
unsigned sotto_search_reach(const sotto_search *search);
/* SOTTO_MISSING  there is nothing left to ask */
SOTTO_MUST_USE sotto_status sotto_search_ask(const sotto_search *search, sotto_search_round *out,
                                             sotto_err *err);
/* The frame's query is where texts come from: one column. For places there are two, the eastern one first; for phrases a word
 * and a phrase. Name, query, encoding, rate,
 * noise, epsilon, delta and schedule are the round's; all else is as the frame has it.
 *   SOTTO_DENIED   the frame is no question that a search can ask: the reason says why
 *   policy         may be NULL; with fresh devices it must allow one report alone */
SOTTO_MUST_USE sotto_status sotto_search_recipe(sotto_bytes *out, const sotto_search *search,
                                                const sotto_search_round *round,
                                                const sotto_recipe *frame,
                                                const sotto_policy *policy, sotto_arena *arena,
                                                sotto_err *err);
/* The counts of the bins of the round's recipe, in their order.
 *   SOTTO_MALFORMED  not as many as the round has cells */
SOTTO_MUST_USE sotto_status sotto_search_answer(sotto_search *search,
                                                const sotto_search_round *round,
                                                const double *counts, size_t count, sotto_err *err);

/* Rounds that a search has at most, the count among them: what the budget is split over. */
unsigned sotto_search_shares(const sotto_search *search);

/* ---- for the files of this room ------------------------------------------------------------------------------ */

/* Whether letters or levels are left to ask for; or words of phrases. */
bool sotto_search_goes_on(const sotto_search *search);
/* Letters are done: what was found is the vocabulary, and its most frequent words are heads. */
SOTTO_MUST_USE sotto_status sotto_phrases_begin(sotto_search *search, sotto_err *err);
/* Heads that a round over words has cells for, and words behind each of so many. */
uint64_t sotto_phrases_heads(const sotto_search *search);
uint64_t sotto_phrases_words(const sotto_search *search, uint64_t heads);
/* Appends the text of a cell. */
void sotto_phrases_text(const sotto_search *search, size_t head, size_t tail, sotto_writer *w);
/* What is left of the survivors, and their order: that of a tree's leaves. */
void sotto_phrases_prune(sotto_search *search);
/* Writes the encoder of a round over words. */
void sotto_phrases_encode(const sotto_search *search, const sotto_search_round *round,
                          const char *column, sotto_writer *w);
/* A text of JSON, quotes and all. */
void sotto_search_say_text(sotto_writer *w, sotto_bytes text);

/* Appends the text of a tail. */
void sotto_search_tail(const sotto_search *search, const sotto_search_round *round, size_t tail,
                       sotto_writer *w);
/* Whether the word ends in this tail. */
bool sotto_search_ends(const sotto_search *search, const sotto_search_round *round, size_t tail);
/* Tails of a segment; UINT64_MAX: more than any limit. */
uint64_t sotto_search_tails(const sotto_search *search, unsigned depth, unsigned segment);

/* The least count that the noise of both servers reaches with a chance of `miss` at most, where no device has the value.
 * *chance is what it is then. */
SOTTO_MUST_USE sotto_status sotto_search_threshold(int64_t *out, double *chance,
                                                   uint64_t sigma_milli, double miss,
                                                   sotto_arena *arena, sotto_err *err);

#endif
