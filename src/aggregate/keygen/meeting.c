#include "aggregate/keygen/meeting.h"

#include "base/rule.h"

#include <string.h>

static const char WHAT[] = "meeting";
static const char LABEL[15] = "sotto-meeting-1";
static const char SEAT[20] = "sotto-meeting-seat-1";
enum { TEXT = sizeof SEAT + 32 + 8 + 32 };

/* ---- a member's channel key -------------------------------------------------------------------------------------- */

static void seat_text(uint8_t out[TEXT], const sotto_meeting_seat *seat, const uint8_t session[32],
                      uint64_t epoch)
{
    sotto_buf written = sotto_buf_over(out, TEXT);
    sotto_writer w = sotto_writer_on(&written);

    sotto_write_bytes(&w, sotto_bytes_of(SEAT, sizeof SEAT));
    sotto_write_bytes(&w, sotto_bytes_of(session, 32));
    sotto_write_uint(&w, epoch, 8);
    sotto_write_bytes(&w, sotto_bytes_of(seat->channel, sizeof seat->channel));
}

sotto_status sotto_meeting_seat_sign(sotto_meeting_seat *seat, const uint8_t session[32],
                                     uint64_t epoch, const sotto_signer *signer, sotto_err *err)
{
    uint8_t text[TEXT];

    seat_text(text, seat, session, epoch);
    return sotto_sign(signer, seat->signature, sotto_bytes_of(text, sizeof text), err);
}

sotto_status sotto_meeting_seat_check(const sotto_meeting_seat *seat, const uint8_t session[32],
                                      uint64_t epoch, const uint8_t key[SOTTO_SIGN_PUBLIC],
                                      sotto_err *err)
{
    uint8_t text[TEXT];

    seat_text(text, seat, session, epoch);
    return sotto_signature_check(key, seat->signature, sotto_bytes_of(text, sizeof text), err);
}

sotto_status sotto_meeting_seat_decode(sotto_meeting_seat *seat, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_read_fixed(&in, seat->channel, sizeof seat->channel);
    sotto_read_fixed(&in, seat->signature, sizeof seat->signature);
    return sotto_reader_finish(&in, WHAT, err);
}

/* ---- wire ---------------------------------------------------------------------------------------------------------- */

sotto_status sotto_meeting_encode(sotto_buf *out, const sotto_meeting *m, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_opaque32(&w, m->call);
    sotto_write_uint(&w, m->count, 2);
    sotto_write_bytes(&w, sotto_bytes_of(m->signatures, (size_t)m->count * SOTTO_SIGNATURE));
    sotto_write_uint(&w, m->step, 1);
    sotto_write_opaque32(&w, m->posts);
    return sotto_writer_finish(&w, WHAT, err);
}

sotto_status sotto_meeting_decode(sotto_meeting *m, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    char label[sizeof LABEL] = {0};

    memset(m, 0, sizeof *m);
    sotto_read_fixed(&in, label, sizeof label);
    m->call = sotto_read_opaque32(&in);
    m->count = (uint32_t)sotto_read_uint(&in, 2);
    m->signatures = sotto_read_bytes(&in, (size_t)m->count * SOTTO_SIGNATURE).data;
    m->step = (unsigned)sotto_read_uint(&in, 1);
    m->posts = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, WHAT, err));
    if (memcmp(label, LABEL, sizeof LABEL) != 0 || m->count > SOTTO_DECRYPTORS_MOST ||
        m->step < SOTTO_KEYGEN_DEAL || m->step >= SOTTO_KEYGEN_OVER)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not one of version 1", WHAT);
    return SOTTO_OK;
}

bool sotto_meeting_next(sotto_bytes *posts, sotto_bytes *post)
{
    sotto_reader in = sotto_reader_over(*posts);
    const uint64_t len = sotto_read_uint(&in, 4);

    if (posts->len < 4 || len > posts->len - 4)
        return false;
    *post = sotto_bytes_of(posts->data + 4, (size_t)len);
    *posts = sotto_bytes_of(posts->data + 4 + len, posts->len - 4 - (size_t)len);
    return true;
}

/* ---- who meets ------------------------------------------------------------------------------------------------------ */

sotto_status sotto_meeting_open(sotto_keygen *k, const sotto_meeting *m,
                                const uint8_t (*keys)[SOTTO_SIGN_PUBLIC], uint32_t count,
                                sotto_arena *arena, sotto_err *err)
{
    sotto_meeting_seat seat;

    SOTTO_TRY(sotto_keygen_open(k, m->call, arena, err));
    const sotto_registry *r = &k->posting.registry;
    if (k->hands_on || k->count != r->count || m->count != k->count)
        return sotto_fail(err, SOTTO_REJECTED, "%s: not one of everybody", WHAT);
    /* Whoever carries the posts would else meet with members of its own. */
    if (SOTTO_RULE(meeting_listed) &&
        (r->count != count || memcmp(r->keys[0], keys[0], (size_t)count * sizeof *keys) != 0))
        return sotto_fail(err, SOTTO_REJECTED, "%s: not of those who are listed", WHAT);
    for (uint32_t i = 0; i < k->count; i++) {
        memcpy(seat.channel, r->channel[i], sizeof seat.channel);
        memcpy(seat.signature, m->signatures + (size_t)i * SOTTO_SIGNATURE, SOTTO_SIGNATURE);
        const sotto_status status =
            sotto_meeting_seat_check(&seat, k->session, k->epoch, r->keys[i], NULL);
        /* Values are sealed to it: whoever puts in its own key reads them all, and has the key that is made. */
        if (SOTTO_RULE(meeting_channels_signed) && status != SOTTO_OK)
            return sotto_fail(err, SOTTO_REJECTED, "%s: member %u did not sign its channel key",
                              WHAT, i);
    }
    return SOTTO_OK;
}

sotto_status sotto_meeting_check_record(const sotto_decryptors_record *r,
                                        const uint8_t (*keys)[SOTTO_SIGN_PUBLIC], uint32_t count,
                                        sotto_err *err)
{
    uint8_t digest[32];
    uint32_t valid = 0;

    if (r->count != count)
        return sotto_fail(err, SOTTO_REJECTED, "%s: the key of %u members, not %u", WHAT, r->count,
                          count);
    sotto_decryptors_digest(r, digest);
    for (uint32_t i = 0; i < count; i++)
        valid += r->members[i] == i && r->is_signed[i] &&
                 sotto_decryptors_is_signed(digest, keys[i], r->signatures[i]);
    if (SOTTO_RULE(meeting_quorum) && valid < sotto_decryptors_quorum(count))
        return sotto_fail(err, SOTTO_REJECTED, "%s: %u of %u members signed for the key", WHAT,
                          valid, count);
    return SOTTO_OK;
}
