/* tlog/key_file.h - keys of logs and witnesses in files.
 *
 * Callers:  serve/log, serve/witness, `sotto log`.
 * Memory:   the caller's; names and URLs point into it.
 * Secrets:  sotto_signer_file, which sotto_signer_file_clear wipes.
 */
#ifndef SOTTO_TLOG_KEY_FILE_H
#define SOTTO_TLOG_KEY_FILE_H

#include "tlog/note.h"

enum { SOTTO_KEY_FILE = 1 << 14, SOTTO_KEY_FILE_KEYS = 32 };

/* A key for signing, which only its owner may read. Not to be moved once read. */
typedef struct sotto_signer_file {
    sotto_note_signer signer;
    uint8_t text[SOTTO_NOTE_KEY_TEXT + 2];
} sotto_signer_file;

/* One line, as `PRIVATE+KEY+...`. Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_signer_file_read(sotto_signer_file *out, const char *path,
                                                   sotto_err *err);
void sotto_signer_file_clear(sotto_signer_file *file);

/* Public keys, one a line, each followed by a space and a URL where it has one. Empty lines and those that begin with # are comments.
 * Not to be moved once read. */
typedef struct sotto_key_file {
    size_t count;
    sotto_note_key keys[SOTTO_KEY_FILE_KEYS];
    const char *urls[SOTTO_KEY_FILE_KEYS]; /* NULL: none */
    char text[SOTTO_KEY_FILE + 1];
} sotto_key_file;

SOTTO_MUST_USE sotto_status sotto_key_file_read(sotto_key_file *out, const char *path,
                                                sotto_err *err);

#endif
