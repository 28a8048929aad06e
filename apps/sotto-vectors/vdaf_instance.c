/* Which Prio3 a file of a given kind describes. */
#include "replay.h"

#include <string.h>

#include "higher_degree.h"

enum { MULTIPROOF_PROOFS = 3 /* unless the file says otherwise; the published ones say nothing */ };

typedef struct kind_entry {
    const char *name;
    const char *max_key; /* where the file keeps config.max, or NULL */
    sotto_prio3_type type;
    bool is_vector;        /* has length and chunk_length */
    bool is_higher_degree; /* the test-only circuit       */
} kind_entry;

static const kind_entry kinds[] = {
    {"Prio3Count", NULL, SOTTO_PRIO3_COUNT, false, false},
    {"Prio3Sum", "max_measurement", SOTTO_PRIO3_SUM, false, false},
    {"Prio3SumVec", "max_measurement", SOTTO_PRIO3_SUM_VEC, true, false},
    {"Prio3Histogram", NULL, SOTTO_PRIO3_HISTOGRAM, true, false},
    {"Prio3MultihotCountVec", "max_weight", SOTTO_PRIO3_MULTIHOT_COUNT_VEC, true, false},
    {"Prio3L1BoundSum", "max_value", SOTTO_PRIO3_L1_BOUND_SUM, true, false},
    {"Prio3SumVecWithMultiproof", "max_measurement", SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF, true,
     false},
    {"Prio3HigherDegree", NULL, SOTTO_PRIO3_COUNT, false, true},
};

static const kind_entry *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

bool sotto_vectors_vdaf_knows(const char *kind)
{
    return find_kind(kind) != NULL;
}

static sotto_status read_shares(unsigned *out, const json_t *root, sotto_err *err)
{
    uint64_t shares;

    SOTTO_TRY(sotto_json_get_uint(&shares, root, "shares", err));
    if (shares < 2 || shares > 255)
        return sotto_fail(err, SOTTO_MALFORMED, "shares: not 2 to 255");
    *out = (unsigned)shares;
    return SOTTO_OK;
}

static sotto_status read_proofs(unsigned *out, const json_t *root, sotto_err *err)
{
    uint64_t proofs = MULTIPROOF_PROOFS;

    if (json_object_get(root, "proofs") != NULL)
        SOTTO_TRY(sotto_json_get_uint(&proofs, root, "proofs", err));
    if (proofs > 255)
        return sotto_fail(err, SOTTO_MALFORMED, "proofs: more than 255");
    *out = (unsigned)proofs;
    return SOTTO_OK;
}

sotto_status sotto_replay_instance(sotto_prio3 *out, const char *kind, const json_t *root,
                                   sotto_arena *arena, sotto_err *err)
{
    const kind_entry *entry = find_kind(kind);
    sotto_prio3_config config = {0};

    if (entry == NULL)
        return sotto_fail(err, SOTTO_BUG, "no such kind of file");
    config.type = entry->type;
    SOTTO_TRY(read_shares(&config.shares, root, err));
    if (entry->is_higher_degree)
        return sotto_higher_degree_init(out, arena, config.shares, err);
    if (entry->type == SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF)
        SOTTO_TRY(read_proofs(&config.proofs, root, err));
    if (entry->max_key != NULL)
        SOTTO_TRY(sotto_json_get_uint(&config.max, root, entry->max_key, err));
    if (entry->is_vector) {
        SOTTO_TRY(sotto_json_get_uint(&config.length, root, "length", err));
        SOTTO_TRY(sotto_json_get_uint(&config.chunk_length, root, "chunk_length", err));
    }
    return sotto_prio3_init(out, arena, &config, err);
}
