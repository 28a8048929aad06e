#include "aggregate/aero/aero.h"

#include "aggregate/machine.h"
#include "base/rule.h"

#include <string.h>

#define CLIENT    SOTTO_PART_CLIENT
#define SERVER    SOTTO_PART_SERVER
#define DECRYPTOR SOTTO_PART_DECRYPTOR
#define BOARD     SOTTO_PART_BOARD

/* A group and its proof, or shares for a whole committee. */
#define LONG      ((size_t)SOTTO_AERO_LONG)
#define LONG_SIDE (LONG + 65536) /* the same with an envelope around it */

enum {
    MOST_PROBE = SOTTO_AERO_MOST_COMMITTEE * (1 + SOTTO_AERO_PROBES * (8 + 8)),
    MOST_KEY = SOTTO_AERO_A_SEED + SOTTO_AERO_N * (8 + 8),
    MOST_KEYED = SOTTO_AERO_MOST_COMMITTEES * (1 + SOTTO_AERO_N * (8 + 8)),
};

static const sotto_kind KINDS[] = {
    {SOTTO_AERO_ENTRY, "entry", BOARD, SOTTO_PART_EVERYBODY, false, false, LONG_SIDE + 65536},
    {SOTTO_AERO_SEAL, "seal", DECRYPTOR, BOARD, true, false, SOTTO_AERO_SEAL_SIZE},
    {SOTTO_AERO_SEALED, "sealed", SERVER, BOARD, true, false, 0},
    {SOTTO_AERO_KEY, "key", DECRYPTOR, BOARD, true, false, LONG},
    {SOTTO_AERO_KEYED, "keyed", SERVER, BOARD, true, false, MOST_KEYED},
    {SOTTO_AERO_CERTIFY, "certify", DECRYPTOR, BOARD, true, false, SOTTO_AERO_CERTIFICATE},
    {SOTTO_AERO_COMMITTED, "committed", SERVER, BOARD, true, false, 4 + 32},
    {SOTTO_AERO_ADDED, "added", SERVER, BOARD, true, false, 4 + 64 * SOTTO_AERO_MOST_GROUPS},
    {SOTTO_AERO_VALUE, "value", DECRYPTOR, BOARD, true, false, 64},
    {SOTTO_AERO_SUMMED, "summed", SERVER, BOARD, true, false,
     8 + (32 + 8 * SOTTO_AERO_VALUES) * SOTTO_AERO_MOST_GROUPS},
    {SOTTO_AERO_COMPLAINT, "complaint", CLIENT, BOARD, true, false, LONG_SIDE},
    {SOTTO_AERO_ANSWER, "answer", SERVER, BOARD, true, false, LONG},
    {SOTTO_AERO_VERDICT, "verdict", DECRYPTOR, BOARD, true, false, 32},
    {SOTTO_AERO_COMMIT, "commit", CLIENT, SERVER, true, false, 33},
    {SOTTO_AERO_REVEAL, "reveal", CLIENT, SERVER, true, false, LONG},
    {SOTTO_AERO_ASK, "ask", CLIENT, SERVER, true, false, 5},
    {SOTTO_AERO_SAMPLE, "sample", SERVER, CLIENT, true, false, LONG},
    {SOTTO_AERO_ROOTS, "roots", SERVER, DECRYPTOR, true, false, LONG},
    {SOTTO_AERO_OPEN, "open", SERVER, DECRYPTOR, true, false, 1 + SOTTO_AERO_MOST_COMMITTEE},
    {SOTTO_AERO_PART, "part", DECRYPTOR, SERVER, true, false, LONG},
    {SOTTO_AERO_DEALERS, "dealers", SERVER, BOARD, true, false, 1 + SOTTO_AERO_MOST_COMMITTEE},
    {SOTTO_AERO_NOISES, "noises", DECRYPTOR, SERVER, true, false, LONG},
    {SOTTO_AERO_DEALT, "dealt", SERVER, BOARD, true, false, 1 + 32 * SOTTO_AERO_MOST_COMMITTEE},
    {SOTTO_AERO_SHARES, "shares", SERVER, DECRYPTOR, true, false, LONG},
    {SOTTO_AERO_POINT, "point", DECRYPTOR, SERVER, true, false, LONG},
    {SOTTO_AERO_HAND, "hand", DECRYPTOR, BOARD, true, false, LONG},
    {SOTTO_AERO_HANDED, "handed", SERVER, BOARD, true, false, 0},
    {SOTTO_AERO_PROBE, "probe", DECRYPTOR, BOARD, true, false, MOST_PROBE},
    {SOTTO_AERO_TAKEN, "taken", SERVER, BOARD, true, false, MOST_KEY},
    {SOTTO_AERO_CLEAR, "clear", CLIENT, BOARD, true, false, 32},
};

/* ---- messages ------------------------------------------------------------------------------------------ */

sotto_status sotto_aero_send(sotto_effects *effects, const sotto_round *round,
                             const sotto_self *self, uint32_t to, unsigned kind, sotto_bytes body,
                             sotto_err *err)
{
    return sotto_machine_send(effects, round, self, to, kind, body, NULL, err);
}

sotto_status sotto_aero_check(const sotto_round *round, const sotto_message *message,
                              sotto_arena *scratch, sotto_err *err)
{
    const sotto_kind *kind = sotto_method_kind(&sotto_method_aero, message->kind);
    sotto_bytes record;
    uint64_t index;

    (void)scratch;
    if (kind && kind->to == SOTTO_PART_BOARD)
        return sotto_fail(err, SOTTO_REJECTED, "%s: comes as an entry of the board alone",
                          kind->name);
    SOTTO_TRY(sotto_message_judge(message, round, &sotto_method_aero, err));
    if (message->kind != SOTTO_AERO_ENTRY)
        return SOTTO_OK;
    /* Whoever delivers it has checked that the log holds it at this index. What it says is judged when its turn comes. */
    return sotto_entry_decode(&index, &record, message->body, err);
}

/* ---- the table's row ------------------------------------------------------------------------------------- */

static bool takes_part(const sotto_round *round, sotto_part part, uint32_t index)
{
    sotto_aero_terms t;
    uint32_t room[SOTTO_AERO_MOST_SPEAKERS];

    if (part != DECRYPTOR)
        return true;
    const uint32_t *members = sotto_aero_members_of(round, &t, room);
    return members && sotto_aero_place_of(members, t.committee * t.committees * (t.handed ? 2 : 1),
                                          index) >= 0;
}

/* A promise hides it, and a share of noise is nobody's data. */
static bool carries(const sotto_message *m)
{
    return m->kind == SOTTO_AERO_REVEAL && m->body.len && m->body.data[0] == SOTTO_AERO_CONTRIBUTOR;
}

/* The sum is the server machine's opening: ciphertexts are added up in its trees, where they are checked, and nowhere else. */
static size_t tally_size(const sotto_round *round)
{
    (void)round;
    return 1;
}

static sotto_status tally_init(sotto_tally *tally, const sotto_round *round, sotto_arena *arena,
                               sotto_err *err)
{
    (void)round;
    (void)arena;
    (void)err;
    *tally = (sotto_tally){0};
    return SOTTO_OK;
}

static sotto_status tally_encode(const sotto_tally *tally, sotto_buf *out, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    (void)tally;
    sotto_write_uint(&w, 0, 1);
    return sotto_writer_finish(&w, "tally", err);
}

static sotto_status tally_decode(sotto_tally *tally, sotto_bytes wire, uint64_t contributions,
                                 sotto_err *err)
{
    if (wire.len != 1 || wire.data[0] != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "tally: nothing is in it");
    tally->contributions = contributions;
    return SOTTO_OK;
}

static sotto_status tally_open(sotto_vector *sum, const sotto_round *round,
                               const sotto_bytes *parts, size_t count, uint64_t contributions,
                               sotto_arena *arena, sotto_err *err)
{
    size_t width = sotto_ring_width(round->ring);

    if (count != 2 || parts[1].len != round->length * 8)
        return sotto_fail(err, SOTTO_MALFORMED, "aero: an opened sum is wanted");
    if (contributions < round->least)
        return sotto_fail(err, SOTTO_DENIED, "aero: too few contributions");
    void *entries = sotto_arena_take_array(arena, round->length, width);
    if (!entries)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    *sum = (sotto_vector){.ring = round->ring, .length = round->length};
    if (round->ring == SOTTO_RING_Z32)
        sum->of.z32 = entries;
    else
        sum->of.z64 = entries;
    for (size_t i = 0; i < round->length; i++) {
        uint64_t x = sotto_load64(parts[1].data + 8 * i);

        if (round->ring == SOTTO_RING_Z32)
            sum->of.z32[i] = (uint32_t)x;
        else
            sum->of.z64[i] = x;
    }
    return SOTTO_OK;
}

static const sotto_tally_ops tally = {
    .size = tally_size,
    .init = tally_init,
    .encode = tally_encode,
    .decode = tally_decode,
    .open = tally_open,
};

const sotto_method sotto_method_aero = {
    .name = "aero",
    .id = SOTTO_METHOD_AERO,
    .kinds = KINDS,
    .kind_count = sizeof KINDS / sizeof KINDS[0],
    .parts = {[CLIENT] = &sotto_aero_client,
              [SERVER] = SOTTO_SERVER_OPS(&sotto_aero_server),
              [DECRYPTOR] = &sotto_aero_member_ops},
    .tally = &tally,
    .takes_part = takes_part,
    .check = sotto_aero_check_round,
    .contributes = sotto_aero_contributes,
    .question = SOTTO_AERO_ASK,
    .complaint = SOTTO_AERO_COMPLAINT,
    .carries = carries,
    .needed = sotto_aero_needed,
    .account = sotto_aero_count,
};
