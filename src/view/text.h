/* view/text.h - text on its way to a view's sink: what every format is written with.
 *
 * Callers:  the files of this room; programs that print lines of their own beside a view.
 * Memory:   nothing is kept; each piece goes to the sink at once.
 * Threads:  nothing is shared.
 * Secrets:  none.
 *
 * A text remembers its first failure and writes nothing after it, so a view is checked once, at its end.
 */
#ifndef SOTTO_VIEW_TEXT_H
#define SOTTO_VIEW_TEXT_H

#include "base/character.h"
#include "sotto/view.h"

typedef struct sotto_text {
    sotto_view_write write;
    void *context;
    sotto_err *err;
    sotto_status status;
} sotto_text;

sotto_text sotto_text_on(sotto_view_write write, void *context, sotto_err *err);
void sotto_text_put(sotto_text *t, sotto_bytes bytes);
/* As printf does. More than 4,095 bytes in one call are SOTTO_TOO_LARGE: long or foreign text goes through one of the others. */
void sotto_text_say(sotto_text *t, const char *format, ...) SOTTO_PRINTF(2, 3);
SOTTO_MUST_USE sotto_status sotto_text_finish(const sotto_text *t);

/* Text of a person or a stranger, for a terminal: control codes are written as \x1b, so that nothing in it moves a cursor.
 * What turns text around is written as \u202e. Returns the columns it takes, one for each character. */
size_t sotto_text_plain(sotto_text *t, sotto_bytes text);
/* The same columns, without writing. */
size_t sotto_text_columns(sotto_bytes text);
/* Its beginning, in so many columns at most; dots stand for the rest. */
size_t sotto_text_plain_cut(sotto_text *t, sotto_bytes text, size_t most);
/* Characters that change the order or the lines in which others are shown: a label with one can look like another. */
bool sotto_text_turns(uint32_t character);

/* A number >= 0 with so many digits, the last of them rounded up or down: what is read off a screen must be as true as the
 * number behind it. */
void sotto_text_up(sotto_text *t, double x, int digits);
void sotto_text_down(sotto_text *t, double x, int digits);

/* ---- numbers for programs ------------------------------------------------------------------------------ */

enum { SOTTO_NUMBER_TEXT = 40 };

/* The shortest decimal that reads back as x, with a point in every locale: "4", "0.1", "1e-6". Zero has no sign. x must be
 * finite. */
void sotto_number_format(char out[SOTTO_NUMBER_TEXT], double x);
/* With this many digits behind the point, for coordinates and durations. |x| below 1e15, digits up to 9. */
void sotto_number_fixed(char out[SOTTO_NUMBER_TEXT], double x, int digits);

/* In a number that printf wrote: a point for whatever the locale puts there, perhaps in several bytes. */
void sotto_number_unlocalise(char *text);

/* ---- characters ---------------------------------------------------------------------------------------- */

/* Writes a character of base/character.h as UTF-8. */
void sotto_text_character(sotto_text *t, uint32_t character);

#endif
