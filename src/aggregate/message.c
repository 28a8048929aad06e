#include "aggregate/message.h"

#include "aggregate/body.h"
#include "aggregate/method.h"
#include "base/rule.h"

#include <string.h>

static const char LABEL[11] = "sotto-msg-2";

static void write_head(sotto_writer *w, const sotto_message *m, size_t body_len)
{
    sotto_write_bytes(w, sotto_bytes_of(m->session, sizeof m->session));
    sotto_write_uint(w, m->epoch, 8);
    sotto_write_uint(w, m->round, 8);
    sotto_write_uint(w, m->kind, 2);
    sotto_write_uint(w, m->from, 4);
    sotto_write_uint(w, m->to, 4);
    sotto_write_bytes(w, sotto_bytes_of(m->bulk, sizeof m->bulk));
    sotto_write_uint(w, m->bulk_len, 8);
    sotto_write_uint(w, body_len, 4);
}

size_t sotto_message_size(const sotto_message *message)
{
    return SOTTO_MESSAGE_HEAD + message->body.len + 1 + message->signature.len;
}

sotto_status sotto_message_encode(sotto_buf *out, const sotto_message *message, sotto_err *err)
{
    return sotto_message_encode_parts(out, message, &message->body, 1, err);
}

sotto_status sotto_message_encode_parts(sotto_buf *out, const sotto_message *message,
                                        const sotto_bytes *parts, size_t count, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    size_t len = 0;

    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    if (len > SOTTO_MESSAGE_MOST_BODY)
        return sotto_fail(err, SOTTO_TOO_LARGE, "message: a body of %zu bytes", len);
    write_head(&w, message, len);
    for (size_t i = 0; i < count; i++)
        sotto_write_bytes(&w, parts[i]);
    sotto_write_opaque8(&w, message->signature);
    return sotto_writer_finish(&w, "message", err);
}

sotto_status sotto_message_decode(sotto_message *m, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    memset(m, 0, sizeof *m);
    sotto_read_fixed(&in, m->session, sizeof m->session);
    m->epoch = sotto_read_uint(&in, 8);
    m->round = sotto_read_uint(&in, 8);
    m->kind = (uint16_t)sotto_read_uint(&in, 2);
    m->from = (uint32_t)sotto_read_uint(&in, 4);
    m->to = (uint32_t)sotto_read_uint(&in, 4);
    sotto_read_fixed(&in, m->bulk, sizeof m->bulk);
    m->bulk_len = sotto_read_uint(&in, 8);
    m->body = sotto_read_opaque32(&in);
    m->signature = sotto_read_opaque8(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "message", err));
    if (m->body.len > SOTTO_MESSAGE_MOST_BODY)
        return sotto_fail(err, SOTTO_MALFORMED, "message: a body of %zu bytes", m->body.len);
    if (m->signature.len != 0 && m->signature.len != SOTTO_SIGNATURE)
        return sotto_fail(err, SOTTO_MALFORMED, "message: a signature of %zu bytes",
                          m->signature.len);
    return SOTTO_OK;
}

/* ---- signatures ------------------------------------------------------------------------------------ */

enum { SIGNED = sizeof LABEL + SOTTO_MESSAGE_HEAD + 32 };

/* Ed25519 reads its text twice, so it is signed as label, head and digest of the body: short, whatever the body. The head has the
 * body's length. */
static sotto_status digest_text(uint8_t out[SIGNED], const sotto_message *m, size_t body_len,
                                const uint8_t digest[32], sotto_err *err)
{
    sotto_buf text = sotto_buf_over(out, SIGNED);
    sotto_writer w = sotto_writer_on(&text);

    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    write_head(&w, m, body_len);
    sotto_write_bytes(&w, sotto_bytes_of(digest, 32));
    return sotto_writer_finish(&w, "message", err);
}

static sotto_status check_length(const sotto_message *m, sotto_err *err)
{
    return m->body.len <= SOTTO_MESSAGE_MOST_BODY
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_TOO_LARGE, "message: a body of %zu bytes", m->body.len);
}

void sotto_message_digest(const sotto_message *message, uint8_t out[32])
{
    if (message->holds_for)
        memcpy(out, message->digest, sizeof message->digest);
    else
        sotto_body_digest(out, message->body);
}

sotto_status sotto_message_sign(sotto_message *message, uint8_t out[SOTTO_SIGNATURE],
                                const sotto_signer *signer, sotto_err *err)
{
    uint8_t digest[32];

    SOTTO_TRY(check_length(message, err));
    sotto_body_digest(digest, message->body);
    return sotto_message_sign_digest(message, out, digest, signer, err);
}

sotto_status sotto_message_sign_digest(sotto_message *message, uint8_t out[SOTTO_SIGNATURE],
                                       const uint8_t digest[32], const sotto_signer *signer,
                                       sotto_err *err)
{
    uint8_t text[SIGNED];

    SOTTO_TRY(check_length(message, err));
    SOTTO_TRY(digest_text(text, message, message->body.len, digest, err));
    SOTTO_TRY(sotto_sign(signer, out, sotto_bytes_of(text, sizeof text), err));
    message->signature = sotto_bytes_of(out, SOTTO_SIGNATURE);
    return SOTTO_OK;
}

sotto_status sotto_message_check(const sotto_message *message, const uint8_t key[SOTTO_SIGN_PUBLIC],
                                 sotto_err *err)
{
    uint8_t text[SIGNED], digest[32];

    if (message->signature.len != SOTTO_SIGNATURE)
        return sotto_fail(err, SOTTO_REJECTED, "message: not signed");
    SOTTO_TRY(check_length(message, err));
    sotto_body_digest(digest, message->body);
    SOTTO_TRY(digest_text(text, message, message->body.len, digest, err));
    return sotto_signature_check(key, message->signature.data, sotto_bytes_of(text, sizeof text),
                                 err);
}

sotto_status sotto_message_check_digest(const sotto_message *message, uint32_t body_len,
                                        const uint8_t digest[32],
                                        const uint8_t key[SOTTO_SIGN_PUBLIC], sotto_err *err)
{
    uint8_t text[SIGNED];

    SOTTO_TRY(digest_text(text, message, body_len, digest, err));
    return sotto_signature_check(key, message->signature.data, sotto_bytes_of(text, sizeof text),
                                 err);
}

/* As many as lanes are filled with at once. */
enum { GROUP = 64 };

/* Whether the claim can be true at all. */
static bool is_signed(const sotto_message_claim *c)
{
    return c->key && c->message->signature.len == SOTTO_SIGNATURE &&
           (c->digest || c->message->body.len <= SOTTO_MESSAGE_MOST_BODY);
}

/* found: the digests of bodies that are here, where a claim can be true. */
static void digest_bodies(uint8_t (*found)[32], const sotto_message_claim *all, size_t count)
{
    uint8_t digests[GROUP][32];
    sotto_bytes bodies[GROUP] = {{NULL, 0}};
    size_t of[GROUP], here = 0;

    for (size_t i = 0; i < count; i++)
        if (is_signed(&all[i]) && !all[i].digest) {
            bodies[here] = all[i].message->body;
            of[here++] = i;
        }
    sotto_bodies_digest(digests, bodies, here);
    for (size_t i = 0; i < here; i++)
        memcpy(found[of[i]], digests[i], sizeof digests[i]);
}

static bool text_of(uint8_t out[SIGNED], const sotto_message_claim *c, const uint8_t found[32])
{
    if (!is_signed(c))
        return false;
    return digest_text(out, c->message, c->digest ? c->body_len : c->message->body.len,
                       c->digest ? c->digest : found, NULL) == SOTTO_OK;
}

static void check_some(sotto_message_claim *all, uint8_t (*found)[32], size_t count)
{
    sotto_signature_claim claims[GROUP];
    uint8_t texts[GROUP][SIGNED];

    digest_bodies(found, all, count);
    for (size_t i = 0; i < count; i++) {
        const bool has_text = text_of(texts[i], &all[i], found[i]);

        claims[i] = (sotto_signature_claim){.public_key = has_text ? all[i].key : NULL,
                                            .signature = all[i].message->signature.data,
                                            .text = sotto_bytes_of(texts[i], SIGNED)};
    }
    sotto_signatures_check(claims, count);
    for (size_t i = 0; i < count; i++)
        all[i].holds = claims[i].holds;
}

sotto_status sotto_messages_check(sotto_message_claim *all, size_t count, sotto_err *err)
{
    uint8_t found[GROUP][32];

    for (size_t at = 0; at < count; at += GROUP)
        check_some(all + at, found, count - at < GROUP ? count - at : GROUP);
    for (size_t i = 0; i < count; i++) {
        const sotto_message_claim *c = &all[i];

        if (!c->holds)
            SOTTO_TRY(c->digest ? sotto_message_check_digest(c->message, c->body_len, c->digest,
                                                             c->key, err)
                                : sotto_message_check(c->message, c->key, err));
    }
    return SOTTO_OK;
}

/* ---- entries of the board ------------------------------------------------------------------------------ */

sotto_status sotto_entry_decode(uint64_t *index, sotto_bytes *record, sotto_bytes body,
                                sotto_err *err)
{
    sotto_reader in = sotto_reader_over(body);

    *index = sotto_read_uint(&in, 8);
    *record = sotto_read_opaque32(&in);
    return sotto_reader_finish(&in, "entry", err);
}

sotto_status sotto_entry_encode(sotto_buf *out, uint64_t index, sotto_bytes record, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, index, 8);
    sotto_write_opaque32(&w, record);
    return sotto_writer_finish(&w, "entry", err);
}

/* ---- of this round, from somebody who may say so ---------------------------------------------------- */

static bool is_part(sotto_part part, uint32_t index, const sotto_round *round,
                    const sotto_method *method)
{
    if (part == SOTTO_PART_SERVER || part == SOTTO_PART_LEADER)
        return index == SOTTO_TO_SERVER;
    if (part == SOTTO_PART_BOARD)
        return index == SOTTO_TO_BOARD;
    if (part == SOTTO_PART_EVERYBODY)
        return index == SOTTO_TO_EVERYBODY;
    return index < round->registered && index < SOTTO_MOST_INDEX &&
           (!method->takes_part || method->takes_part(round, part, index));
}

static sotto_status judge_form(const sotto_message *m, size_t body_len, const sotto_round *round,
                               const sotto_kind *kind, sotto_err *err)
{
    static const uint8_t none[32];
    uint64_t bulk = kind->has_bulk ? round->length * sotto_ring_width(round->ring) : 0;

    if (body_len > kind->most)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %zu bytes, at most %zu", kind->name, body_len,
                          kind->most);
    if (m->bulk_len != bulk || memcmp(m->bulk, none, sizeof none) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a bulk of %llu bytes, wanted %llu", kind->name,
                          (unsigned long long)m->bulk_len, (unsigned long long)bulk);
    if ((m->signature.len != 0) != kind->is_signed)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %s", kind->name,
                          kind->is_signed ? "not signed" : "signed, which it never is");
    return SOTTO_OK;
}

/* All but the signature. *key: of its sender, NULL if it is not registered; then whose signature is wanted, NULL for none. */
static sotto_status judge_envelope(const sotto_message *m, size_t body_len,
                                   const sotto_round *round, const sotto_method *method,
                                   const uint8_t **key, sotto_err *err)
{
    const sotto_kind *kind = sotto_method_kind(method, m->kind);

    if (!kind)
        return sotto_fail(err, SOTTO_MALFORMED, "message: unknown kind %u", m->kind);
    SOTTO_TRY(judge_form(m, body_len, round, kind, err));
    if (SOTTO_RULE(message_of_round) &&
        (memcmp(m->session, round->session, sizeof m->session) != 0 || m->epoch != round->epoch ||
         m->round != round->number))
        return sotto_fail(err, SOTTO_STALE, "%s: of another session, epoch or round", kind->name);
    if (SOTTO_RULE(message_addresses) &&
        (!is_part(kind->from, m->from, round, method) || !is_part(kind->to, m->to, round, method)))
        return sotto_fail(err, SOTTO_REJECTED, "%s: from or to whom it can't be", kind->name);
    if (kind->is_signed && !*key)
        return sotto_fail(err, SOTTO_REJECTED, "%s: from somebody who is not registered",
                          kind->name);
    if (!kind->is_signed)
        *key = NULL;
    return SOTTO_OK;
}

static const uint8_t *key_of(const sotto_message *m, const sotto_round *round)
{
    return round->keys ? sotto_registry_key(round->keys, m->from) : NULL;
}

sotto_status sotto_message_judge(const sotto_message *m, const sotto_round *round,
                                 const sotto_method *method, sotto_err *err)
{
    return sotto_message_judge_by(m, round, method, key_of(m, round), err);
}

sotto_status sotto_message_judge_by(const sotto_message *m, const sotto_round *round,
                                    const sotto_method *method,
                                    const uint8_t key[SOTTO_SIGN_PUBLIC], sotto_err *err)
{
    SOTTO_TRY(judge_envelope(m, m->body.len, round, method, &key, err));
    if (SOTTO_RULE(message_signature) && key && m->holds_for != key)
        return sotto_message_check(m, key, err);
    return SOTTO_OK;
}

sotto_status sotto_message_judge_digest(const sotto_message *m, uint32_t body_len,
                                        const uint8_t digest[32], const sotto_round *round,
                                        const sotto_method *method, sotto_err *err)
{
    const uint8_t *key = key_of(m, round);

    SOTTO_TRY(judge_envelope(m, body_len, round, method, &key, err));
    if (SOTTO_RULE(message_signature) && key)
        return sotto_message_check_digest(m, body_len, digest, key, err);
    return SOTTO_OK;
}

void sotto_messages_vouch(sotto_message *all, size_t count, const sotto_round *round,
                          const sotto_method *method)
{
    sotto_message_claim claims[GROUP];
    uint8_t found[GROUP][32];

    for (size_t at = 0; at < count; at += GROUP) {
        const size_t some = count - at < GROUP ? count - at : GROUP;

        for (size_t i = 0; i < some; i++) {
            sotto_message *m = &all[at + i];

            m->holds_for = NULL;
            claims[i] = (sotto_message_claim){.message = m, .key = key_of(m, round)};
            if (judge_envelope(m, m->body.len, round, method, &claims[i].key, NULL) != SOTTO_OK)
                claims[i].key = NULL;
        }
        check_some(claims, found, some);
        for (size_t i = 0; i < some; i++) {
            if (SOTTO_RULE(message_vouched_holds) && !claims[i].holds)
                continue;
            memcpy(all[at + i].digest, found[i], sizeof found[i]);
            all[at + i].holds_for = claims[i].key;
        }
    }
}

/* ---- methods --------------------------------------------------------------------------------------- */

const sotto_kind *sotto_method_kind(const sotto_method *method, unsigned kind)
{
    for (size_t i = 0; i < method->kind_count; i++)
        if (method->kinds[i].kind == kind)
            return &method->kinds[i];
    return NULL;
}

const sotto_kind *sotto_method_entry(const sotto_method *method)
{
    for (size_t i = 0; i < method->kind_count; i++)
        if (method->kinds[i].from == SOTTO_PART_BOARD)
            return &method->kinds[i];
    return NULL;
}

sotto_status sotto_method_admit(const sotto_method *method, const sotto_round *round,
                                sotto_err *err)
{
    uint8_t root[32];

    SOTTO_TRY(sotto_round_check(round, err));
    if (round->method != method->id)
        return sotto_fail(err, SOTTO_DENIED, "round: of method %u, this is %s", round->method,
                          method->name);
    SOTTO_TRY(method->check(round, err));
    if (!round->keys || round->keys->count != round->registered)
        return sotto_fail(err, SOTTO_DENIED, "round: its registry is not here");
    sotto_registry_root(round->keys, root);
    if (SOTTO_RULE(round_registry) && memcmp(root, round->registry, sizeof root) != 0)
        return sotto_fail(err, SOTTO_DENIED, "round: names another registry than this one");
    return SOTTO_OK;
}
