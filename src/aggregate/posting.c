#include "aggregate/posting.h"

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/flamingo/flamingo.h"
#include "base/rule.h"

#include <string.h>

static const char LABEL[15] = "sotto-posting-1";

/* ---- wire ------------------------------------------------------------------------------------------------ */

static void write_parts(sotto_writer *w, const sotto_beacon_part *parts, uint32_t count)
{
    sotto_write_uint(w, count, 2);
    for (uint32_t i = 0; i < count; i++) {
        sotto_write_uint(w, parts[i].place, 4);
        sotto_write_bytes(w, sotto_bytes_of(parts[i].bytes, SOTTO_BEACON_PART));
    }
}

sotto_status sotto_posting_encode(sotto_buf *out, const sotto_posting *p, sotto_err *err)
{
    const sotto_registry *r = &p->registry;
    sotto_writer w = sotto_writer_on(out);

    if (r->count > SOTTO_POSTING_MOST_REGISTERED || p->part_count > SOTTO_DECRYPTORS_MOST ||
        p->old_part_count > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_TOO_LARGE, "posting: more than %d are registered",
                          SOTTO_POSTING_MOST_REGISTERED);
    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_bytes(&w, sotto_bytes_of(r->server, sizeof r->server));
    sotto_write_uint(&w, r->pair ? 1 : 0, 1);
    sotto_write_uint(&w, r->count, 4);
    for (uint64_t i = 0; i < r->count; i++) {
        sotto_write_bytes(&w, sotto_bytes_of(r->keys[i], SOTTO_SIGN_PUBLIC));
        if (!r->pair)
            continue;
        sotto_write_bytes(&w, sotto_bytes_of(r->pair[i], 32));
        sotto_write_bytes(&w, sotto_bytes_of(r->channel[i], 32));
    }
    write_parts(&w, p->parts, p->part_count);
    sotto_write_opaque32(&w, p->decryptors);
    sotto_write_opaque16(&w, p->round);
    if (p->old_part_count)
        write_parts(&w, p->old_parts, p->old_part_count);
    return sotto_writer_finish(&w, "posting", err);
}

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "posting: no memory");
}

static sotto_status read_registry(sotto_registry *r, sotto_reader *in, sotto_arena *arena,
                                  sotto_err *err)
{
    sotto_read_fixed(in, r->server, sizeof r->server);
    uint64_t agrees = sotto_read_uint(in, 1);
    r->count = sotto_read_uint(in, 4);
    if (agrees > 1 || r->count == 0 || r->count > SOTTO_POSTING_MOST_REGISTERED)
        return sotto_fail(err, SOTTO_MALFORMED, "posting: %llu are registered, 1 to %d can be",
                          (unsigned long long)r->count, SOTTO_POSTING_MOST_REGISTERED);
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] =
        sotto_arena_take_array(arena, (size_t)r->count, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(arena, (size_t)r->count, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(arena, (size_t)r->count, sizeof *channel);
    if (!keys || !pair || !channel)
        return no_memory(err);
    for (uint64_t i = 0; i < r->count; i++) {
        sotto_read_fixed(in, keys[i], SOTTO_SIGN_PUBLIC);
        if (!agrees)
            continue;
        sotto_read_fixed(in, pair[i], 32);
        sotto_read_fixed(in, channel[i], 32);
    }
    r->keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    r->pair = agrees ? (const uint8_t(*)[32])pair : NULL;
    r->channel = agrees ? (const uint8_t(*)[32])channel : NULL;
    return SOTTO_OK;
}

bool sotto_posting_server(uint8_t server[SOTTO_SIGN_PUBLIC], sotto_bytes wire)
{
    if (wire.len < sizeof LABEL + SOTTO_SIGN_PUBLIC || memcmp(wire.data, LABEL, sizeof LABEL) != 0)
        return false;
    memcpy(server, wire.data + sizeof LABEL, SOTTO_SIGN_PUBLIC);
    return true;
}

bool sotto_posting_round(sotto_bytes *round, sotto_bytes wire)
{
    sotto_reader in = sotto_reader_over(wire);

    (void)sotto_read_bytes(&in, sizeof LABEL + SOTTO_SIGN_PUBLIC);
    const size_t each = sotto_read_uint(&in, 1) ? SOTTO_SIGN_PUBLIC + 2 * 32 : SOTTO_SIGN_PUBLIC;
    const uint64_t count = sotto_read_uint(&in, 4);
    if (count > SOTTO_POSTING_MOST_REGISTERED)
        return false;
    (void)sotto_read_bytes(&in, (size_t)count * each);
    (void)sotto_read_bytes(&in, (size_t)sotto_read_uint(&in, 2) * (4 + SOTTO_BEACON_PART));
    (void)sotto_read_opaque32(&in);
    *round = sotto_read_opaque16(&in);
    return round->len > 0;
}

static sotto_status read_parts(sotto_beacon_part **parts, uint32_t *count, sotto_reader *in,
                               sotto_arena *arena, sotto_err *err)
{
    *count = (uint32_t)sotto_read_uint(in, 2);
    if (*count > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "posting: %u parts of a beacon", *count);
    *parts = sotto_arena_take_array(arena, *count + 1, sizeof **parts);
    if (!*parts)
        return no_memory(err);
    for (uint32_t i = 0; i < *count; i++) {
        (*parts)[i].place = (uint32_t)sotto_read_uint(in, 4);
        sotto_read_fixed(in, (*parts)[i].bytes, SOTTO_BEACON_PART);
    }
    return SOTTO_OK;
}

sotto_status sotto_posting_decode(sotto_posting *p, sotto_bytes wire, sotto_arena *arena,
                                  sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    char label[sizeof LABEL] = {0};

    memset(p, 0, sizeof *p);
    sotto_read_fixed(&in, label, sizeof label);
    if (memcmp(label, LABEL, sizeof LABEL) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "posting: not one of version 1");
    SOTTO_TRY(read_registry(&p->registry, &in, arena, err));
    SOTTO_TRY(read_parts(&p->parts, &p->part_count, &in, arena, err));
    p->decryptors = sotto_read_opaque32(&in);
    p->round = sotto_read_opaque16(&in);
    if (sotto_reader_left(&in) > 0) {
        SOTTO_TRY(read_parts(&p->old_parts, &p->old_part_count, &in, arena, err));
        if (p->old_part_count == 0)
            return sotto_fail(err, SOTTO_MALFORMED, "posting: no parts of an older beacon");
    }
    return sotto_reader_finish(&in, "posting", err);
}

/* ---- a round that can be joined --------------------------------------------------------------------------- */

static sotto_status open_committee(sotto_posted_round *out, sotto_arena *arena, sotto_err *err)
{
    sotto_decryptors_record record;

    SOTTO_TRY(sotto_decryptors_decode(&record, out->posting.decryptors, arena, err));
    out->has_decryptors = true;
    SOTTO_TRY(sotto_decryptors_open(&out->decryptors, &record, &out->posting.registry,
                                    out->round.beacon, arena, err));
    out->round.decryptors = &out->decryptors;
    return SOTTO_OK;
}

sotto_status sotto_posted_round_open(sotto_posted_round *out, sotto_bytes wire, sotto_arena *arena,
                                     sotto_err *err)
{
    memset(out, 0, sizeof *out);
    SOTTO_TRY(sotto_posting_decode(&out->posting, wire, arena, err));
    SOTTO_TRY(sotto_round_decode(&out->round, out->posting.round, err));
    out->round.keys = &out->posting.registry;
    out->method = sotto_machine_method(out->round.method);
    if (!out->method)
        return sotto_fail(err, SOTTO_DENIED, "round: this program runs no method %u",
                          out->round.method);
    if (out->posting.decryptors.len)
        SOTTO_TRY(open_committee(out, arena, err));
    SOTTO_TRY(sotto_round_id(&out->round, out->id, err));
    SOTTO_TRY(sotto_method_admit(out->method, &out->round, err));
    if (!out->method->account)
        return SOTTO_OK;
    SOTTO_TRY(out->method->account(&out->account, &out->round, arena, err));
    out->round.account = &out->account;
    return SOTTO_OK;
}

void sotto_posted_round_own(sotto_posted_round *posted, const sotto_aero_account *own)
{
    const sotto_aero_account before = posted->account;

    posted->account = own ? *own : (sotto_aero_account){0};
    posted->account.rho = before.rho;
    posted->account.members = before.members;
}

void sotto_posted_round_close(sotto_posted_round *posted)
{
    if (posted->has_decryptors)
        sotto_decryptors_close(&posted->decryptors);
    memset(posted, 0, sizeof *posted);
}

typedef struct beacon_of {
    uint64_t epoch;
    const uint8_t *value;
    const sotto_beacon_part *parts;
    uint32_t count;
} beacon_of;

static sotto_status check_beacon(const sotto_posted_round *posted, const beacon_of *of,
                                 const uint8_t (*verify)[SOTTO_P256_WIDE], uint32_t witnesses,
                                 sotto_err *err)
{
    sotto_beacon_input input = {.epoch = of->epoch};
    uint8_t value[32] = {0};
    sotto_tdh2 t;
    uint32_t wrong;

    if (of->count == 0 || of->count != sotto_decryptors_threshold(witnesses))
        return sotto_fail(err, SOTTO_REJECTED, "beacon: %u parts of %u witnesses", of->count,
                          witnesses);
    memcpy(input.session, posted->round.session, sizeof input.session);
    memcpy(input.registry, posted->round.registry, sizeof input.registry);
    sotto_status status = sotto_tdh2_init(&t, err);
    if (status == SOTTO_OK)
        status = sotto_beacon_value_vartime(&t, value, &input, verify, witnesses, of->parts,
                                            of->count, &wrong, err);
    sotto_tdh2_clear(&t);
    SOTTO_TRY(status);
    if (SOTTO_RULE(posting_beacon) && memcmp(value, of->value, sizeof value) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "beacon: the round names another value");
    return SOTTO_OK;
}

/* Who hands over a key was drawn in the round before: a server that chose that beacon would choose who has the key. */
static sotto_status check_old_beacon(const sotto_posted_round *posted,
                                     const uint8_t (*verify)[SOTTO_P256_WIDE], uint32_t witnesses,
                                     sotto_err *err)
{
    const sotto_posting *p = &posted->posting;
    sotto_aero_terms terms;

    if (posted->round.method != SOTTO_METHOD_AERO)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_terms_decode(&terms, posted->round.parameters, err));
    if (!terms.handed)
        return SOTTO_OK;
    const beacon_of old = {posted->round.epoch - 1, terms.origin.beacon, p->old_parts,
                           p->old_part_count};
    const sotto_status status = check_beacon(posted, &old, verify, witnesses, err);
    if (SOTTO_RULE(posting_old_beacon) && status != SOTTO_OK)
        return status;
    return SOTTO_OK;
}

sotto_status sotto_posted_round_check_beacon(const sotto_posted_round *posted,
                                             const uint8_t (*verify)[SOTTO_P256_WIDE],
                                             uint32_t witnesses, sotto_err *err)
{
    const beacon_of now = {posted->round.epoch, posted->round.beacon, posted->posting.parts,
                           posted->posting.part_count};

    SOTTO_TRY(check_beacon(posted, &now, verify, witnesses, err));
    return check_old_beacon(posted, verify, witnesses, err);
}

sotto_status sotto_posted_round_strength(const sotto_posted_round *posted,
                                         sotto_round_strength *out, sotto_err *err)
{
    const sotto_bytes parameters = posted->round.parameters;
    sotto_flamingo_parameters f;
    sotto_bbglr_parameters b;
    sotto_aero_terms a;

    switch (posted->round.method) {
    case SOTTO_METHOD_FLAMINGO:
        SOTTO_TRY(sotto_flamingo_parameters_decode(&f, parameters, err));
        *out = (sotto_round_strength){posted->has_decryptors ? posted->decryptors.record.count : 0,
                                      f.neighbours, f.edge};
        return SOTTO_OK;
    case SOTTO_METHOD_BBGLR:
        SOTTO_TRY(sotto_bbglr_parameters_decode(&b, parameters, err));
        *out = (sotto_round_strength){b.quorum, b.threshold, UINT64_MAX};
        return SOTTO_OK;
    case SOTTO_METHOD_AERO:
        /* Nobody masks with anybody: members open what everybody checks. */
        SOTTO_TRY(sotto_aero_terms_decode(&a, parameters, err));
        *out = (sotto_round_strength){a.committee, UINT32_MAX, UINT64_MAX};
        return SOTTO_OK;
    default:
        return sotto_fail(err, SOTTO_DENIED, "round: method %u is not known well enough",
                          posted->round.method);
    }
}
