/* What must have come of a run: the load generator's own record, compared with what was collected and with both databases. */
#define _GNU_SOURCE
#include "chaos_run.h"
#include "dap/dap.h"
#include "serve/tasks/batches.h"

#include <stdio.h>
#include <string.h>

typedef struct truth {
    uint64_t sound, sums[BINS];
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];
    uint64_t flawed[SOTTO_FLAWS];          /* acknowledged, by flaw */
    uint64_t refused[SOTTO_REPORT_ERRORS]; /* for good, by cause */
    uint64_t wronged;                      /* refused for good, and not for what is wrong with it */
    uint64_t replayed, early, unsure;      /* called so, or perhaps; refused for good or not */
    uint64_t unanswered;
} truth;

/* What its leader rejects a report for; 0: it acknowledges it. */
static unsigned cause_of(sotto_flaw flaw)
{
    return flaw == SOTTO_FLAW_LEADER_SEAL ? SOTTO_REPORT_HPKE_DECRYPT_ERROR
           : flaw == SOTTO_FLAW_LENGTH    ? SOTTO_REPORT_INVALID_MESSAGE
                                          : 0;
}

static truth truth_of(const sotto_chaos_run *r)
{
    truth t = {0};

    for (uint64_t i = 0; i < r->made; i++) {
        uint8_t id[SOTTO_REPORT_ID_SIZE];
        unsigned fate = r->fates[i] & SOTTO_FATE;

        t.unanswered += fate == SOTTO_FATE_UNKNOWN;
        t.replayed += (r->fates[i] & SOTTO_FATE_REPLAYED) != 0;
        t.early += (r->fates[i] & SOTTO_FATE_EARLY) != 0;
        t.unsure +=
            (r->fates[i] & SOTTO_FATE_UNSURE) != 0 || atomic_load(&r->repeated[i / A_REQUEST]);
        if (fate > SOTTO_FATE_REFUSED && fate < SOTTO_FATE_REFUSED + SOTTO_REPORT_ERRORS)
            t.refused[fate - SOTTO_FATE_REFUSED]++;
        t.wronged +=
            fate > SOTTO_FATE_REFUSED && fate != SOTTO_FATE_REFUSED + cause_of(sotto_chaos_flaw(i));
        if (fate != SOTTO_FATE_ACKNOWLEDGED)
            continue;
        t.flawed[sotto_chaos_flaw(i)]++;
        if (sotto_chaos_flaw(i) != SOTTO_SOUND)
            continue;
        t.sound++;
        sotto_maker_measure(r->maker, t.sums, i);
        sotto_maker_id(id, r->seed, i);
        sotto_dap_checksum_add(t.checksum, id);
    }
    return t;
}

static bool same(const char *what, uint64_t wanted, uint64_t got)
{
    printf("  %-58s %10llu %10llu%s\n", what, (unsigned long long)wanted, (unsigned long long)got,
           wanted == got ? "" : "   WRONG");
    return wanted == got;
}

static bool within(const char *what, uint64_t low, uint64_t got, uint64_t high)
{
    bool good = low <= got && got <= high;

    printf("  %-58s %10llu %10llu%s\n", what, (unsigned long long)low, (unsigned long long)got,
           good ? "" : "   WRONG");
    return good;
}

static uint64_t count_of(const sotto_rejections *rejections, const char *cause)
{
    for (size_t i = 0; i < rejections->count; i++)
        if (strcmp(rejections->items[i].cause, cause) == 0)
            return rejections->items[i].reports;
    return 0;
}

typedef struct checksum {
    uint8_t bytes[SOTTO_CHECKSUM_SIZE];
} checksum;

static sotto_status add_checksums(sotto_tx *tx, void *context, sotto_err *err)
{
    checksum *out = context;
    sotto_sql q;
    bool row;

    memset(out, 0, sizeof *out);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT checksum FROM sub_aggregate", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint8_t one[SOTTO_CHECKSUM_SIZE];

        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, one, sizeof one, err));
        sotto_dap_checksum_merge(out->bytes, one);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* What this server added up, from its own tables. */
static bool checksum_is(const sotto_chaos_run *r, size_t side, const truth *t)
{
    sotto_deployment_store store = {0};
    checksum got = {{0}};
    bool good = sotto_deployment_open_store(&store, &r->d, side, NULL) == SOTTO_OK &&
                sotto_db_read(store.db, add_checksums, &got, NULL) == SOTTO_OK;

    sotto_deployment_close_store(&store);
    good = good && memcmp(got.bytes, t->checksum, sizeof got.bytes) == 0;
    return same(side == 0 ? "checksum of the ids, leader" : "checksum of the ids, helper", 1, good);
}

typedef struct early {
    uint64_t counted, noted;
} early;

static sotto_status read_early(sotto_tx *tx, void *context, sotto_err *err)
{
    early *out = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT (SELECT CAST(coalesce(sum(reports), 0) AS BIGINT)"
                                " FROM rejection WHERE cause = ?1),"
                                " (SELECT count(*) FROM refused WHERE cause = ?1)",
                                err));
    sotto_sql_int(&q, 1, SOTTO_REPORT_TOO_EARLY);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    out->counted = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    out->noted = row ? (uint64_t)sotto_sql_column_int(&q, 1) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* Counted at the time of the server's own clock, in whatever bucket that was; and nobody can ask again how early it had
 * been. */
static bool early_is(const sotto_chaos_run *r, const truth *t)
{
    sotto_deployment_store store = {0};
    early got = {0};
    bool good = sotto_deployment_open_store(&store, &r->d, 0, NULL) == SOTTO_OK &&
                sotto_db_read(store.db, read_early, &got, NULL) == SOTTO_OK;

    sotto_deployment_close_store(&store);
    good &= within("too early, leader: at least", t->early, got.counted, t->early + t->unsure);
    good &= same("too early, reports that were and were counted", got.noted, got.counted);
    return good;
}

/* Each report once, however often it was refused. */
static bool refusals_are(const sotto_chaos_run *r, const truth *t, const sotto_collection *got)
{
    bool good = true;

    good &=
        same("sealed wrongly for the leader, leader", t->refused[SOTTO_REPORT_HPKE_DECRYPT_ERROR],
             count_of(&got->leader, "hpke_decrypt_error"));
    good &= same("of a wrong length, leader", t->refused[SOTTO_REPORT_INVALID_MESSAGE],
                 count_of(&got->leader, "invalid_message"));
    good &= same("came again after they were taken, leader", t->replayed,
                 count_of(&got->leader, "report_replayed"));
    good &= early_is(r, t);
    return good;
}

bool sotto_chaos_compare(sotto_chaos_run *r, const sotto_traffic *sent, const sotto_traffic *after,
                         const sotto_collection *got)
{
    truth t = truth_of(r);
    bool good = true;

    printf("  %-58s %10s %10s\n", "", "record", "servers");
    good &= same("reports without an answer", 0, t.unanswered);
    good &= same("sound reports, acknowledged and counted", t.sound, got->reports);
    for (size_t i = 0; i < BINS; i++) {
        char line[32];

        (void)snprintf(line, sizeof line, "sum, bin %zu", i);
        good &= same(line, t.sums[i], got->sums[i].low);
    }
    good &= checksum_is(r, 0, &t);
    good &= checksum_is(r, 1, &t);
    good &= same("malformed for the leader, acknowledged", 0,
                 t.flawed[SOTTO_FLAW_LEADER_SEAL] + t.flawed[SOTTO_FLAW_LENGTH]);
    good &= same("refused for what is not wrong with them", 0, t.wronged);
    good &= same("proofs that don't hold, helper", t.flawed[SOTTO_FLAW_PROOF],
                 count_of(&got->helper, "vdaf_verify_error"));
    good &= same("proofs that don't hold, in the leader's table", t.flawed[SOTTO_FLAW_PROOF],
                 count_of(&got->leader, "helper_vdaf_verify_error"));
    good &= same("sealed wrongly for the helper, helper", t.flawed[SOTTO_FLAW_HELPER_SEAL],
                 count_of(&got->helper, "hpke_decrypt_error"));
    good &=
        same("sealed wrongly for the helper, in the leader's table",
             t.flawed[SOTTO_FLAW_HELPER_SEAL], count_of(&got->leader, "helper_hpke_decrypt_error"));
    good &= same("replayed to the helper", 0, count_of(&got->helper, "report_replayed"));
    good &= refusals_are(r, &t, got);
    good &= same("replays that were taken as new", 0, sent->taken_twice + after->taken_twice);
    good &= same("called replayed at their first sending", 0, sent->kept_unsaid);
    good &= same("invalid answers", 0, sent->wrong + after->wrong);
    good &= same("reports in abandoned jobs", 0, count_of(&got->leader, "abandoned"));
    return good;
}
