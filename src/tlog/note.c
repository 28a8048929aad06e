#include "tlog/note.h"

#include "base/base64.h"
#include "base/character.h"
#include "base/rule.h"
#include "base/writer.h"
#include "tlog/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char dash[] = "\xe2\x80\x94 "; /* U+2014 and a space begin a signature line */

enum {
    DASH = sizeof dash - 1,
    ID = 4,
    TIME = 8,
    LONGEST = ID + TIME + SOTTO_SIGNATURE,
    HEADER = 64 /* "cosignature/v1", a time, and their ends */
};

/* ---- the form ------------------------------------------------------------------------------------------------- */

/* UTF-8 without control codes but the newline. */
static bool is_text(sotto_bytes bytes)
{
    for (size_t at = 0, from = 0; at < bytes.len; from = at) {
        const uint32_t c = sotto_character_next(bytes, &at);

        if ((c < 0x20 && c != '\n') || (c == SOTTO_CHARACTER_BAD && at - from == 1))
            return false;
    }
    return true;
}

typedef struct line {
    sotto_bytes name;
    sotto_bytes base64;
    size_t len; /* of what that stands for */
} line;

/* Takes the next line; false: it is no signature line. */
static bool take_line(line *out, sotto_bytes *rest)
{
    const uint8_t *space;
    sotto_bytes whole;

    if (!sotto_tlog_line(&whole, rest) || whole.len <= DASH || memcmp(whole.data, dash, DASH) != 0)
        return false;
    whole = sotto_bytes_of(whole.data + DASH, whole.len - DASH);
    space = memchr(whole.data, ' ', whole.len);
    if (!space)
        return false;
    out->name = sotto_bytes_of(whole.data, (size_t)(space - whole.data));
    out->base64 = sotto_bytes_of(space + 1, whole.len - out->name.len - 1);
    out->len = sotto_base64_decoded(SOTTO_BASE64_STANDARD, out->base64);
    return sotto_note_is_name(out->name) && out->len > ID &&
           sotto_base64_decode(NULL, out->len, SOTTO_BASE64_STANDARD, out->base64);
}

static size_t last_empty_line(sotto_bytes bytes)
{
    for (size_t i = bytes.len; i >= 2; i--)
        if (bytes.data[i - 1] == '\n' && bytes.data[i - 2] == '\n')
            return i;
    return 0;
}

sotto_status sotto_note_decode(sotto_note *out, sotto_bytes bytes, sotto_err *err)
{
    const size_t split = bytes.len <= SOTTO_NOTE_MAX ? last_empty_line(bytes) : 0;
    unsigned count = 0;
    sotto_bytes rest;
    line one;

    if (bytes.len > SOTTO_NOTE_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "signed note: more than %d bytes", SOTTO_NOTE_MAX);
    if (split == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "signed note: no empty line before signatures");
    if (SOTTO_RULE(note_is_clean_text) && !is_text(bytes))
        return sotto_fail(err, SOTTO_MALFORMED, "signed note: not UTF-8, or with control codes");
    out->text = sotto_bytes_of(bytes.data, split - 1);
    out->signatures = rest = sotto_bytes_of(bytes.data + split, bytes.len - split);
    for (; rest.len > 0; count++)
        if (!take_line(&one, &rest))
            return sotto_fail(err, SOTTO_MALFORMED, "signed note: signature line %u is malformed",
                              count + 1);
    if (count == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "signed note: no signature");
    if (count > SOTTO_NOTE_SIGNATURES)
        return sotto_fail(err, SOTTO_TOO_LARGE, "signed note: more than %d signatures",
                          SOTTO_NOTE_SIGNATURES);
    return SOTTO_OK;
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

/* What is signed: the text, or the text behind two lines with the time (C2SP tlog-cosignature). */
typedef struct signed_text {
    sotto_bytes all;
    uint8_t copy[HEADER + SOTTO_NOTE_TEXT_MAX];
} signed_text;

static bool text_of(signed_text *out, sotto_bytes text, sotto_note_kind kind, uint64_t time)
{
    int len;

    out->all = text;
    if (kind == SOTTO_NOTE_ED25519)
        return true;
    if (text.len > SOTTO_NOTE_TEXT_MAX || time > INT64_MAX)
        return false;
    len = snprintf((char *)out->copy, HEADER, "cosignature/v1\ntime %" PRIu64 "\n", time);
    memcpy(out->copy + len, text.data, text.len);
    out->all = sotto_bytes_of(out->copy, (size_t)len + text.len);
    return true;
}

static uint64_t read_big_endian(const uint8_t *bytes, unsigned len)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < len; i++)
        x = x << 8 | bytes[i];
    return x;
}

/* Whether a line is the key's, by name and id. Of its bytes, the first LONGEST at most are decoded: no more can hold. */
static bool is_by(uint8_t bytes[LONGEST], const line *one, const sotto_note_key *key)
{
    enum { ID_TEXT = 8, ID_BYTES = 6 };

    if (!sotto_bytes_equal_vartime(one->name, key->name))
        return false;
    if (one->len > LONGEST)
        (void)sotto_base64_decode(bytes, ID_BYTES, SOTTO_BASE64_STANDARD,
                                  sotto_bytes_of(one->base64.data, ID_TEXT));
    else
        (void)sotto_base64_decode(bytes, one->len, SOTTO_BASE64_STANDARD, one->base64);
    return read_big_endian(bytes, ID) == key->id;
}

static sotto_status check_line(const sotto_note *note, const sotto_note_key *key,
                               const uint8_t *bytes, size_t len, uint64_t *time, sotto_err *err)
{
    const size_t extra = key->kind == SOTTO_NOTE_COSIGNATURE ? TIME : 0;
    signed_text text;
    uint64_t when;

    if (len != ID + extra + SOTTO_SIGNATURE) /* no more than its id may have been decoded */
        return sotto_fail(err, SOTTO_REJECTED, "signed note: a signature of the wrong length");
    when = read_big_endian(bytes + ID, (unsigned)extra);
    if (!text_of(&text, note->text, key->kind, when))
        return sotto_fail(err, SOTTO_REJECTED, "signed note: a signature of the wrong form");
    if (*time < when)
        *time = when;
    return sotto_signature_check(key->public_key, bytes + ID + extra, text.all, err);
}

sotto_status sotto_note_check(const sotto_note *note, const sotto_note_key *key, uint64_t *time,
                              sotto_err *err)
{
    sotto_bytes rest = note->signatures;
    uint8_t bytes[LONGEST];
    uint64_t latest = 0;
    sotto_err why = {0};
    bool any = false;
    line one;

    while (rest.len > 0 && take_line(&one, &rest)) {
        if (!is_by(bytes, &one, key))
            continue; /* unknown keys are ignored, also where they share a name or an id */
        any = true;
        if (SOTTO_RULE(note_signature_holds) &&
            check_line(note, key, bytes, one.len, &latest, &why) != SOTTO_OK)
            return sotto_fail(err, SOTTO_REJECTED, "signed note: a signature of %.*s does not hold",
                              (int)key->name.len, (const char *)key->name.data);
    }
    if (!any)
        return sotto_fail(err, SOTTO_MISSING, "signed note: not signed by %.*s", (int)key->name.len,
                          (const char *)key->name.data);
    if (time)
        *time = latest;
    return SOTTO_OK;
}

bool sotto_note_line_by(sotto_bytes *out, const sotto_note *note, const sotto_note_key *key)
{
    sotto_bytes rest = note->signatures;
    line one;

    while (rest.len > 0) {
        const uint8_t *start = rest.data;
        sotto_note alone;

        if (!take_line(&one, &rest))
            return false;
        alone = (sotto_note){note->text, sotto_bytes_of(start, (size_t)(rest.data - start))};
        if (sotto_note_check(&alone, key, NULL, NULL) == SOTTO_OK) {
            *out = alone.signatures;
            return true;
        }
    }
    return false;
}

sotto_status sotto_note_sign(sotto_buf *out, sotto_bytes text, const sotto_note_signer *signer,
                             uint64_t time, sotto_err *err)
{
    const sotto_note_key *key = &signer->key;
    const size_t extra = key->kind == SOTTO_NOTE_COSIGNATURE ? TIME : 0;
    char base64[SOTTO_BASE64_SIZE(LONGEST) + 1];
    sotto_writer w = sotto_writer_on(out);
    uint8_t bytes[LONGEST];
    signed_text message;

    if (!text_of(&message, text, key->kind, time))
        return sotto_fail(err, SOTTO_TOO_LARGE, "signed note: too long a text, or too high a time");
    for (unsigned i = 0; i < ID; i++)
        bytes[i] = (uint8_t)(key->id >> (24 - 8 * i));
    for (unsigned i = 0; i < extra; i++)
        bytes[ID + i] = (uint8_t)(time >> (56 - 8 * i));
    SOTTO_TRY(sotto_sign(&signer->signer, bytes + ID + extra, message.all, err));
    sotto_base64_encode(base64, SOTTO_BASE64_STANDARD,
                        sotto_bytes_of(bytes, ID + extra + SOTTO_SIGNATURE));
    sotto_write_bytes(&w, sotto_bytes_of(dash, DASH));
    sotto_write_bytes(&w, key->name);
    sotto_write_format(&w, " %s\n", base64);
    return sotto_writer_finish(&w, "signature", err);
}
