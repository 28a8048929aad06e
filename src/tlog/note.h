/* tlog/note.h - signed notes (C2SP signed-note): a text, an empty line, and lines of signatures.
 *
 *     example.com/log
 *     4
 *     zY1lN35vrXYAPixXSd59LsU29xUJtuW4o2dNNg5Y2Co=
 *
 *     — example.com/log M9e0lnFuWt0cp60moO4j...
 *
 * Two kinds of signatures are known: Ed25519 over the text, and Ed25519 cosignatures with a time (C2SP tlog-cosignature, v1).
 *
 * Callers:  tlog/checkpoint.h; programs that read and write keys.
 * Memory:   nothing is allocated; what is decoded borrows the bytes that it was decoded from.
 * Secrets:  a signer's seed alone.
 */
#ifndef SOTTO_TLOG_NOTE_H
#define SOTTO_TLOG_NOTE_H

#include "crypto/signature.h"

enum {
    SOTTO_NOTE_MAX =
        1 << 17, /* bytes: sixteen signatures of the longest kinds that others use, and more */
    SOTTO_NOTE_SIGNATURES = 64,
    SOTTO_NOTE_TEXT_MAX = 2048, /* of a text that is cosigned: it is copied behind the time */
    SOTTO_NOTE_NAME_MAX = 255,  /* of keys */
    SOTTO_NOTE_LINE_MAX = 4 + SOTTO_NOTE_NAME_MAX + 1 + 104 + 1,
    SOTTO_NOTE_KEY_TEXT = SOTTO_NOTE_NAME_MAX + 96 /* of a key for signing, with its end */
};

/* ---- keys ------------------------------------------------------------------------------------------------- */

typedef enum sotto_note_kind { SOTTO_NOTE_ED25519 = 1, SOTTO_NOTE_COSIGNATURE = 4 } sotto_note_kind;

typedef struct sotto_note_key {
    sotto_bytes name; /* borrowed */
    sotto_note_kind kind;
    uint32_t id;
    uint8_t public_key[SOTTO_SIGN_PUBLIC];
} sotto_note_key;

/* "name+hex of the id+base64 of kind and key".
 *   SOTTO_MALFORMED  not a key, or its id is not that of the key
 *   SOTTO_MISSING    its kind is not known here
 */
SOTTO_MUST_USE sotto_status sotto_note_key_decode(sotto_note_key *out, sotto_bytes vkey,
                                                  sotto_err *err);
/* Appends it. */
SOTTO_MUST_USE sotto_status sotto_note_key_encode(sotto_buf *out, const sotto_note_key *key,
                                                  sotto_err *err);

/* Fills in the id. SOTTO_MALFORMED: the name is empty, too long, or has a space or a plus in it. */
SOTTO_MUST_USE sotto_status sotto_note_key_init(sotto_note_key *out, sotto_bytes name,
                                                sotto_note_kind kind,
                                                const uint8_t public_key[SOTTO_SIGN_PUBLIC],
                                                sotto_err *err);

typedef struct sotto_note_signer {
    sotto_note_key key;
    sotto_signer signer;
} sotto_note_signer;

/* "PRIVATE+KEY+name+hex of the id+base64 of kind and seed". Clear after a failure is allowed; the name is borrowed. */
SOTTO_MUST_USE sotto_status sotto_note_signer_decode(sotto_note_signer *out, sotto_bytes text,
                                                     sotto_err *err);
/* The same key as a text, from a seed: what sotto_note_signer_decode takes. */
SOTTO_MUST_USE sotto_status sotto_note_signer_encode(sotto_buf *out, const sotto_note_key *key,
                                                     const uint8_t seed[SOTTO_SIGN_SEED],
                                                     sotto_err *err);
void sotto_note_signer_clear(sotto_note_signer *signer);

/* ---- notes ------------------------------------------------------------------------------------------------ */

typedef struct sotto_note {
    sotto_bytes text;       /* with the newline at its end */
    sotto_bytes signatures; /* one line or more            */
} sotto_note;

/* Looks at no signature but for its form.
 *   SOTTO_MALFORMED  it is no signed note
 *   SOTTO_TOO_LARGE  more than SOTTO_NOTE_MAX bytes or SOTTO_NOTE_SIGNATURES signatures
 */
SOTTO_MUST_USE sotto_status sotto_note_decode(sotto_note *out, sotto_bytes bytes, sotto_err *err);

/* Whether the key signed the note. Each line with its name and id is verified. time: of the latest cosignature; may be NULL.
 *   SOTTO_MISSING   no line is this key's
 *   SOTTO_REJECTED  it has a signature of the key that does not hold
 */
SOTTO_MUST_USE sotto_status sotto_note_check(const sotto_note *note, const sotto_note_key *key,
                                             uint64_t *time, sotto_err *err);

/* The first line that is the key's and holds, with its newline; borrowed. */
bool sotto_note_line_by(sotto_bytes *out, const sotto_note *note, const sotto_note_key *key);

/* Appends a signature line. time: of a cosignature, below 2^63 and not 0; unused for others.
 *   SOTTO_TOO_LARGE  the text has more than SOTTO_NOTE_TEXT_MAX bytes, or out has no room
 */
SOTTO_MUST_USE sotto_status sotto_note_sign(sotto_buf *out, sotto_bytes text,
                                            const sotto_note_signer *signer, uint64_t time,
                                            sotto_err *err);

#endif
