/* recipe/encoding.h - from a row of the query's answer to a bin, and from a bin to its label.
 *
 * Callers:  this room; device/ for each report; analyse/ for labels of one column.
 * Secrets:  cells, and the bin they fall into. Finding it takes a time that depends on them: this happens on the
 *           device that owns them, and can't be timed from outside, since sending waits for the schedule.
 */
#ifndef SOTTO_RECIPE_ENCODING_H
#define SOTTO_RECIPE_ENCODING_H

#include "recipe/model.h"
#include "recipe/schema.h"

/* Reads "encode" of the file, reporting what the table can't know. */
void sotto_encoding_read(sotto_reading *r, sotto_encoding *out);
void sotto_encoder_read_tree(sotto_reading *r, sotto_encoder *out, json_t *json,
                             const sotto_place *place);
/* Reads a list of texts; each text once, or it is reported. */
void sotto_words_read(sotto_reading *r, sotto_words *out, json_t *list, const sotto_place *place);
/* False: it isn't among them. */
bool sotto_words_find(const sotto_words *words, sotto_bytes text, size_t *position);

/* One value of a row. */
typedef enum sotto_datum_type {
    SOTTO_DATUM_NULL,
    SOTTO_DATUM_INTEGER,
    SOTTO_DATUM_REAL,
    SOTTO_DATUM_TEXT
} sotto_datum_type;

typedef struct sotto_datum {
    sotto_datum_type type;
    int64_t integer;
    double real;
    sotto_bytes text;
} sotto_datum;

/* The bin of a row, with a cell for each encoder in turn; SOTTO_NO_VALUE if a cell falls into none. */
uint64_t sotto_encoding_bin_vartime(const sotto_encoding *e, const sotto_datum *cells);
/* Whether no cell of a row in this bin fell into <oov>; false for SOTTO_NO_VALUE. A word that is no token, behind a leaf that was
 * reached, is a match. */
bool sotto_encoding_matches_vartime(const sotto_encoding *e, uint64_t bin);
/* The bin where every encoder says <oov>; SOTTO_NO_VALUE if one has none. */
uint64_t sotto_encoding_oov(const sotto_encoding *e);

/* Position among the leaves, and what of the text is left behind it; false: no leaf is reached. */
bool sotto_tree_walk(const sotto_encoder *e, sotto_bytes text, size_t *leaf, sotto_bytes *rest);
/* Takes the first word off the text; empty if there is none. Words are separated by spaces. */
sotto_bytes sotto_tree_next_word(sotto_bytes *text);

/* A bin of one column, as its label has it. */
void sotto_encoder_label(sotto_writer *w, const sotto_encoder *e, uint64_t bin);

/* Bins of one prefix-tree leaf. */
static inline uint64_t sotto_tree_leaf_bins(const sotto_encoder *e)
{
    return e->as.tree.tokens.count + (e->oov ? 1 : 0) + (e->as.tree.end ? 1 : 0);
}

#endif
