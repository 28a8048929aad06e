#include "aggregate/bbglr/bbglr.h"

#include "base/rule.h"

sotto_status sotto_bbglr_parameters_encode(sotto_buf *out, const sotto_bbglr_parameters *p,
                                           sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, p->degree, 2);
    sotto_write_uint(&w, p->threshold, 2);
    sotto_write_uint(&w, p->quorum, 4);
    sotto_write_uint(&w, p->corrupt, 4);
    sotto_write_uint(&w, p->keys_by, 8);
    return sotto_writer_finish(&w, "bbglr parameters", err);
}

sotto_status sotto_bbglr_parameters_decode(sotto_bbglr_parameters *p, sotto_bytes wire,
                                           sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    p->degree = (uint16_t)sotto_read_uint(&in, 2);
    p->threshold = (uint16_t)sotto_read_uint(&in, 2);
    p->quorum = (uint32_t)sotto_read_uint(&in, 4);
    p->corrupt = (uint32_t)sotto_read_uint(&in, 4);
    p->keys_by = sotto_read_uint(&in, 8);
    return sotto_reader_finish(&in, "bbglr parameters", err);
}

sotto_status sotto_bbglr_check_round(const sotto_round *round, sotto_err *err)
{
    unsigned long long clients = round->registered;
    sotto_bbglr_parameters p;

    SOTTO_TRY(sotto_bbglr_parameters_decode(&p, round->parameters, err));
    if (sotto_ring_width(round->ring) == 0)
        return sotto_fail(err, SOTTO_DENIED, "bbglr: adds modulo 2^32 or 2^64 only");
    if (clients < 3 || clients > SOTTO_BBGLR_MOST_CLIENTS)
        return sotto_fail(err, SOTTO_DENIED, "bbglr: %llu clients; 3 to %d can take part", clients,
                          SOTTO_BBGLR_MOST_CLIENTS);
    if (p.degree < 2 || p.degree % 2 || p.degree >= clients || p.degree > SOTTO_BBGLR_MOST_DEGREE)
        return sotto_fail(err, SOTTO_DENIED,
                          "bbglr: degree %u; an even number below %llu clients, at most %d",
                          p.degree, clients, SOTTO_BBGLR_MOST_DEGREE);
    if (p.threshold < 2 || p.threshold > p.degree)
        return sotto_fail(err, SOTTO_DENIED, "bbglr: threshold %u; 2 to degree %u", p.threshold,
                          p.degree);
    /* Two quorums share more clients than the server may own, and an honest one votes once: there is one view. */
    if (SOTTO_RULE(bbglr_quorums_meet) && 2 * (uint64_t)p.quorum <= clients + p.corrupt)
        return sotto_fail(err, SOTTO_DENIED,
                          "bbglr: 2 * quorum = %llu is not above %llu clients + %u",
                          2 * (unsigned long long)p.quorum, clients, p.corrupt);
    if (p.quorum > round->least)
        return sotto_fail(err, SOTTO_DENIED, "bbglr: quorum %u is above least = %llu", p.quorum,
                          (unsigned long long)round->least);
    if (p.keys_by <= round->opens || p.keys_by >= round->commit_by)
        return sotto_fail(err, SOTTO_DENIED, "bbglr: opens < keys_by < commit_by fails");
    return SOTTO_OK;
}

sotto_status sotto_bbglr_read_round(const sotto_round *round, sotto_bbglr_parameters *parameters,
                                    sotto_bbglr_graph *graph, uint8_t id[SOTTO_ROUND_ID],
                                    sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(sotto_method_admit(&sotto_method_bbglr, round, err));
    SOTTO_TRY(sotto_bbglr_parameters_decode(parameters, round->parameters, err));
    SOTTO_TRY(sotto_round_id(round, id, err));
    return sotto_bbglr_graph_init(graph, round, parameters->degree, arena, err);
}
