/* account/gauss/sgm_cache.h - what a mechanism remembers between questions.
 *
 * Saddle points are kept on the grid c = 2^(j/4) and steps on powers of two. So questions about one
 * mechanism meet the same tables again whatever their rounds and delta.
 *
 * Callers:  privacy/sgm*.c. Nothing here outlives its mechanism; a table may be evicted by the next call.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_CACHE_H
#define SOTTO_ACCOUNT_GAUSS_SGM_CACHE_H

#include "account/gauss/pld.h"
#include "account/gauss/sgm.h"
#include "account/gauss/sgm_decay.h"
#include "account/gauss/sgm_law.h"
#include "account/numeric/scratch.h"

#define SOTTO_SGM_FIRST_C (-120)
#define SOTTO_SGM_LAST_C  160
#define SOTTO_SGM_SLOTS   6
/* Of a cap: the losses above 2^(cap/4) are gathered. */
#define SOTTO_SGM_NO_CAP 10000
/* Cuts of the law that are remembered, a direction. */
#define SOTTO_SGM_CUTS 8

typedef struct sotto_sgm_nodes {
    int j; /* c = 2^(j/4) */
    double step;
    size_t nodes;
    double *log_modulus; /* three arrays of `nodes` in one allocation */
    double *phase;
    double *error;
} sotto_sgm_nodes;

/* One direction with one cut of its law. */
typedef struct sotto_sgm_side {
    sotto_scratch *work; /* the mechanism's */
    int level;           /* log of the lost probability, over 6; 0 when unused */
    int cap;
    sotto_sgm_law law;
    bool known[SOTTO_SGM_LAST_C - SOTTO_SGM_FIRST_C + 1];
    double cumulant[SOTTO_SGM_LAST_C - SOTTO_SGM_FIRST_C + 1]; /* from above */
    int real_j[SOTTO_SGM_SLOTS];
    sotto_sgm_real *real[SOTTO_SGM_SLOTS]; /* each for eight neighbouring j */
    sotto_sgm_nodes lines[SOTTO_SGM_SLOTS];
    sotto_pld *lattices[SOTTO_SGM_SLOTS];
    int box_j[SOTTO_SGM_SLOTS];
    sotto_sgm_boxes *boxes[SOTTO_SGM_SLOTS];
    unsigned next_line, next_lattice, next_box, next_real;
    size_t lattice_size; /* that the last question needed */
} sotto_sgm_side;

/* Which line, how fine and how far. */
typedef struct sotto_sgm_plan {
    int j;
    double c;
    double log_delta; /* about what is read off          */
    double eps;       /* at about this eps, from below   */
    double period;
    double step;
    size_t nodes;
    double sines; /* that a line of nodes would take                    */
    double loss;  /* log of the scale over delta: digits that cancel */
} sotto_sgm_plan;

/* How a question about this mechanism alone was settled: the next one like it is first tried the same way. */
typedef struct sotto_sgm_past {
    bool known;
    bool wants_eps;
    bool by_chernoff; /* at the line of `plan`, and nothing else was needed */
    double log_rounds;
    double given;
    int level, cap;
    double until, digits;
    sotto_sgm_plan plan;
    double high, gap;
} sotto_sgm_past;

#define SOTTO_SGM_PASTS 4

/* An answered question about this mechanism alone. */
typedef struct sotto_sgm_memo {
    bool known;
    bool wants_eps;
    sotto_direction direction;
    uint64_t rounds;
    double given;
    sotto_sgm_answer answer;
} sotto_sgm_memo;

#define SOTTO_SGM_MEMOS 16

struct sotto_sgm {
    double rate;
    double sigma;
    sotto_contour_terms terms;
    sotto_sgm_side side[2][SOTTO_SGM_CUTS]; /* remove, add */
    unsigned next_side[2];
    sotto_sgm_past past[2][SOTTO_SGM_PASTS];
    unsigned next_past[2];
    sotto_scratch work;  /* for tables while they are made     */
    sotto_scratch nodes; /* of the composition that is read now */
    sotto_sgm_memo memo[SOTTO_SGM_MEMOS];
    unsigned next_memo;
};

/* level: log of what may be lost is 6 * level, level < 0. */
sotto_sgm_side *sotto_sgm_side_at(sotto_sgm *m, bool add, int level, int cap);

double sotto_sgm_c(int j);
/* log M(2^(j/4)), an upper bound. */
double sotto_sgm_side_cumulant(sotto_sgm_side *side, int j);
/* Log of an upper bound on |M(c+iu)/M(c)| for all u >= t; without memory, 0. */
double sotto_sgm_side_decay(sotto_sgm_side *side, int j, double t);
/* The same for t <= u <= until only. */
double sotto_sgm_side_decay_until(sotto_sgm_side *side, int j, double t, double until);
/* NULL without memory. */
const sotto_sgm_nodes *sotto_sgm_side_line(sotto_sgm_side *side, int j, double step, size_t nodes);
const sotto_pld *sotto_sgm_side_lattice(sotto_sgm_side *side, int j, double spacing, size_t size);
void sotto_sgm_side_clear(sotto_sgm_side *side);

#endif
