/* apps/sotto-golden/paper.h - a number printed in a paper: its parameters, and what computes it again. */
#ifndef SOTTO_APPS_GOLDEN_PAPER_H
#define SOTTO_APPS_GOLDEN_PAPER_H

#include "golden.h"

enum { PAPER_WORD = 64 };

/* The column `parameters`: "sigma=5.1 q=0.02 T=2500 delta=1e-8 (a remark)". */
typedef struct sotto_paper {
    const char *text;
    char star[PAPER_WORD]; /* the number within the item's name, where it has one */
    sotto_status status;   /* of the first that could not be read */
    sotto_err *err;
} sotto_paper;

/* Leaves 0 behind, and remembers why, if there is no such parameter. */
double sotto_paper_get(sotto_paper *p, const char *name);
double sotto_paper_get_star(sotto_paper *p);
/* As a logarithm; what is no delta is remembered too. */
double sotto_paper_get_log_delta(sotto_paper *p);
/* A whole number from 1. */
uint64_t sotto_paper_get_count(sotto_paper *p, const char *name);

typedef struct sotto_paper_item {
    const char *seed; /* the column of that name */
    const char *name; /* one * stands for a number */
    sotto_status (*compute)(sotto_bound *out, sotto_paper *p, sotto_err *err);
} sotto_paper_item;

/* figures.c: those of check-ins, dummies, committees and estimates. */
extern const sotto_paper_item sotto_paper_figures[];
extern const size_t sotto_paper_figure_count;

#endif
