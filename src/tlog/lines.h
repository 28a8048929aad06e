/* tlog/lines.h - lines, numbers and hashes as the texts of transparency logs have them, each in canonical
 * form.
 *
 * Callers:  tlog/ alone.
 * Memory:   what is taken borrows the text.
 */
#ifndef SOTTO_TLOG_LINES_H
#define SOTTO_TLOG_LINES_H

#include "tlog/merkle.h"

/* Takes a line, without the newline that ends it, off the front. False: no newline is left; rest is as it was. */
bool sotto_tlog_line(sotto_bytes *line, sotto_bytes *rest);
/* The same for a line that begins with a word and a space: what stands behind them. */
bool sotto_tlog_word_line(sotto_bytes *value, sotto_bytes *rest, const char *word);
/* Decimal, below 2^63, without leading zeros. */
bool sotto_tlog_decimal(uint64_t *out, sotto_bytes text);
bool sotto_tlog_hash(sotto_merkle_hash *out, sotto_bytes base64);
/* Takes lines with a hash each, and the empty line behind them. */
bool sotto_tlog_hashes(sotto_merkle_proof *out, sotto_bytes *rest);

void sotto_tlog_write_hash(sotto_writer *w, const sotto_merkle_hash *hash); /* a line */
void sotto_tlog_write_hashes(sotto_writer *w, const sotto_merkle_proof *proof);

/* Whether a key may have this name: not empty, UTF-8, no space, no plus. */
bool sotto_note_is_name(sotto_bytes name);

#endif
