#include "aggregate/flamingo/flamingo.h"

#include "base/rule.h"

#include <string.h>

sotto_status sotto_flamingo_parameters_encode(sotto_buf *out, const sotto_flamingo_parameters *p,
                                              sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, p->cohort, 4);
    sotto_write_uint(&w, p->neighbours, 4);
    sotto_write_uint(&w, p->edge, 8);
    sotto_write_bytes(&w, sotto_bytes_of(p->decryptors, sizeof p->decryptors));
    return sotto_writer_finish(&w, "flamingo parameters", err);
}

sotto_status sotto_flamingo_parameters_decode(sotto_flamingo_parameters *p, sotto_bytes wire,
                                              sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    p->cohort = (uint32_t)sotto_read_uint(&in, 4);
    p->neighbours = (uint32_t)sotto_read_uint(&in, 4);
    p->edge = sotto_read_uint(&in, 8);
    sotto_read_fixed(&in, p->decryptors, sizeof p->decryptors);
    return sotto_reader_finish(&in, "flamingo parameters", err);
}

static sotto_status check_committee(const sotto_round *round, const sotto_flamingo_parameters *p,
                                    sotto_err *err)
{
    const sotto_decryptors *d = round->decryptors;

    if (!d || !d->key)
        return sotto_fail(err, SOTTO_DENIED, "flamingo: the round's decryptors are not here");
    if (SOTTO_RULE(flamingo_committee_named) &&
        (memcmp(d->digest, p->decryptors, sizeof d->digest) != 0 ||
         d->record.epoch != round->epoch ||
         memcmp(d->record.session, round->session, sizeof round->session) != 0))
        return sotto_fail(err, SOTTO_DENIED, "flamingo: the round names other decryptors");
    return SOTTO_OK;
}

sotto_status sotto_flamingo_check_round(const sotto_round *round, sotto_err *err)
{
    sotto_flamingo_parameters p;

    SOTTO_TRY(sotto_flamingo_parameters_decode(&p, round->parameters, err));
    if (sotto_ring_width(round->ring) == 0)
        return sotto_fail(err, SOTTO_DENIED, "flamingo: adds modulo 2^32 or 2^64 only");
    if (p.cohort < 3 || p.cohort > SOTTO_FLAMINGO_MOST_COHORT || p.cohort > round->registered)
        return sotto_fail(err, SOTTO_DENIED,
                          "flamingo: a cohort of %u; 3 to %d of those registered can take part",
                          p.cohort, SOTTO_FLAMINGO_MOST_COHORT);
    if (round->largest != p.cohort)
        return sotto_fail(err, SOTTO_DENIED, "flamingo: largest is not the cohort of %u", p.cohort);
    if (p.neighbours < 1 || p.neighbours >= round->least)
        return sotto_fail(err, SOTTO_DENIED,
                          "flamingo: %u online neighbours wanted; 1 to less than least",
                          p.neighbours);
    return check_committee(round, &p, err);
}

sotto_status sotto_flamingo_read_round(const sotto_round *round,
                                       sotto_flamingo_parameters *parameters,
                                       sotto_flamingo_graph *graph, uint8_t id[SOTTO_ROUND_ID],
                                       sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(sotto_method_admit(&sotto_method_flamingo, round, err));
    if (!round->keys->pair || !round->keys->channel)
        return sotto_fail(err, SOTTO_DENIED, "flamingo: the registry has no X25519 keys");
    SOTTO_TRY(sotto_flamingo_parameters_decode(parameters, round->parameters, err));
    SOTTO_TRY(sotto_round_id(round, id, err));
    return sotto_flamingo_graph_init(graph, round, parameters, arena, err);
}
