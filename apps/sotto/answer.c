#include "answer.h"

#include "terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 32, LABEL = 4096, LABEL_COLUMNS = 36, RECEIPT = 16384 };

static int larger_first(const void *a, const void *b)
{
    const sotto_result_bin *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->bin < y->bin ? -1 : 1;
}

/* A recipe may come from anybody: nothing in a label may move a cursor. Returns the columns it takes. */
static int read_label(char out[LABEL], const sotto_recipe *recipe, uint64_t bin)
{
    sotto_buf label = sotto_buf_over(out, LABEL - 1);
    int columns = 0;

    if (sotto_recipe_label(recipe, &label, bin, NULL) != SOTTO_OK)
        label.len = (size_t)snprintf(out, LABEL, "bin %" PRIu64, bin);
    out[label.len] = 0;
    for (size_t i = 0; i < label.len; i++) {
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
            out[i] = '?';
        columns += ((unsigned char)out[i] & 0xc0) != 0x80;
    }
    return columns;
}

static void print_bin(const sotto_answer_view *v, const sotto_result_bin *b, double largest,
                      int columns, uint64_t truth)
{
    char label[LABEL];
    int used = read_label(label, v->recipe, b->bin);
    double shown = fmax(b->count, 0);

    printf("  %s%*s ", label, used < columns ? columns - used : 0, "");
    sotto_cells_print(largest > 0 ? (unsigned)(shown / largest * WIDTH) : 0, WIDTH);
    printf(" %10.0f  %.0f to %.0f", b->count, b->low, b->high);
    if (v->truth)
        printf("  (truth %" PRIu64 "%s)", truth,
               (double)truth < b->low || (double)truth > b->high ? ", missed" : "");
    printf("\n");
}

/* As it is printed: no true count is like that. */
static bool impossible(const sotto_result_bin *b, const sotto_result *r)
{
    return b->count < -0.5 || b->count > (double)r->reports + 0.5;
}

static void print_bars(const sotto_answer_view *v, const sotto_result_bin *sorted, size_t most)
{
    const sotto_result *r = v->result;
    double largest = most > 0 ? sorted[0].count : 0;
    int columns = 0;

    for (size_t i = 0; i < most; i++) {
        char label[LABEL];
        int used = read_label(label, v->recipe, sorted[i].bin);

        if (used > columns && used <= LABEL_COLUMNS)
            columns = used;
    }
    for (size_t i = 0; i < most; i++)
        print_bin(v, &sorted[i], largest, columns, v->truth ? v->truth[sorted[i].bin] : 0);
    if (most < r->count)
        printf("  and %zu bins with smaller counts\n", r->count - most);
    if (r->has_no_value)
        printf("  no value: %.0f  %.0f to %.0f\n", r->no_value.count, r->no_value.low,
               r->no_value.high);
    if (most > 0 && (impossible(&sorted[0], r) || impossible(&sorted[most - 1], r) ||
                     (r->has_no_value && impossible(&r->no_value, r))))
        printf("  a count below 0 or above %" PRIu64
               " is chance: counts are left as they are, to be right on average; intervals are "
               "cut\n",
               r->reports);
}

static void print_check(const sotto_result_check *c)
{
    printf("check: %zu of %zu intervals miss the truth (chance of so many: %.3g); the farthest bin "
           "is off by what has a chance of %.3g at most: %s\n",
           c->missed, c->bins, c->missed_chance, c->worst_chance,
           c->wrong ? "WRONG" : "as it should be");
}

sotto_status sotto_answer_print(const sotto_answer_view *v, sotto_arena *arena, sotto_err *err)
{
    static uint8_t memory[RECEIPT];
    const sotto_result *r = v->result;
    size_t most = v->most == 0 || v->most > r->count ? r->count : v->most;
    sotto_result_bin *sorted = sotto_arena_take_array(arena, r->count, sizeof *sorted);
    sotto_buf receipt = sotto_buf_over(memory, sizeof memory);

    if (!sorted)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer of %zu bins", r->count);
    SOTTO_TRY(sotto_receipt_explain(&receipt, v->receipt, err));
    memcpy(sorted, r->bins, r->count * sizeof *sorted);
    qsort(sorted, r->count, sizeof *sorted, larger_first);
    printf("%" PRIu64 " reports; estimated counts with %g%% intervals\n\n", r->reports,
           100 * r->confidence);
    print_bars(v, sorted, most);
    printf("\n");
    (void)fwrite(receipt.data, 1, receipt.len, stdout);
    if (v->check)
        print_check(v->check);
    return SOTTO_OK;
}
