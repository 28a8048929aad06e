#include "support/ledger.h"

#include "crypto/hash.h"
#include "device/ledger/consent.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#define ONE UINT64_C(1000000000000)

static const sotto_analysis_budget printed_analyses[] = {
    {SOTTO_TEST_ANALYSIS, {ONE / 2}, {ONE / 1000000}, 1}};
static const sotto_field_budget printed_fields[] = {
    {"keyboard_ngrams", "ngram", {5 * ONE}, {ONE}, {ONE / 1000000}, 1, 0, false},
    {"keyboard_ngrams", "age", {2 * ONE}, {3 * ONE / 10}, {ONE / 1000000}, 1, 0, false},
    {"keyboard_ngrams", "perplexity", {8 * ONE}, {ONE}, {ONE / 1000000}, 1, 0, false}};
const sotto_budget_table sotto_test_table1 = {.analyses = printed_analyses,
                                              .analysis_count = 1,
                                              .fields = printed_fields,
                                              .field_count = 3,
                                              .composition = SOTTO_COMPOSITION_BASIC};

static const sotto_analysis_budget wide_analyses[] = {
    {SOTTO_TEST_ANALYSIS, {1000 * ONE}, {ONE / 1000}, 100000}};
static const sotto_field_budget wide_fields[] = {
    {"keyboard_ngrams", "ngram", {5 * ONE}, {1000 * ONE}, {ONE / 1000}, 100000, 0, false},
    {"keyboard_ngrams", "age", {2 * ONE}, {1000 * ONE}, {ONE / 1000}, 100000, 0, false}};
const sotto_budget_table sotto_test_wide = {.analyses = wide_analyses,
                                            .analysis_count = 1,
                                            .fields = wide_fields,
                                            .field_count = 2,
                                            .composition = SOTTO_COMPOSITION_BASIC};

static sotto_status recompute(void *context, const sotto_charge *charge, uint64_t honest,
                              double *epsilon, sotto_err *err)
{
    (void)context, (void)charge;
    if (honest < 100)
        return sotto_fail(err, SOTTO_DENIED, "no theorem for %u reports", (unsigned)honest);
    *epsilon = 42 / sqrt((double)honest);
    return SOTTO_OK;
}
const sotto_recompute sotto_test_recompute = {recompute, NULL};

sotto_decimal sotto_test_decimal(sotto_test *t, const char *text)
{
    sotto_decimal out;

    CHECK_OK(t, sotto_decimal_parse(&out, sotto_bytes_of(text, strlen(text)), SOTTO_DECIMAL_EXACT,
                                    &t->err));
    return out;
}

sotto_charge sotto_test_charge(sotto_test *t, const char *recipe, const char *epsilon)
{
    static const sotto_access fields[] = {{"keyboard_ngrams", "age", true},
                                          {"keyboard_ngrams", "ngram", true}};

    return (sotto_charge){.recipe = recipe,
                          .analysis = SOTTO_TEST_ANALYSIS,
                          .fields = fields,
                          .field_count = 2,
                          .local = {2 * ONE},
                          .local_adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                          .epsilon = sotto_test_decimal(t, epsilon),
                          .delta = {ONE / 10000000},
                          .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                          .min_cohort = 40000,
                          .population = 1000000};
}

sotto_report sotto_test_report(sotto_test *t, uint64_t number)
{
    uint8_t *bytes = sotto_arena_take(&t->arena, 512);
    sotto_report report = {0};

    CHECK(t, bytes != NULL);
    memset(bytes, (int)(number & 0xff), 512);
    memcpy(bytes, &number, sizeof number);
    memcpy(report.id, &number, sizeof number);
    report.id[15] = 1;
    report.destination = sotto_bytes_of("task", 4);
    report.bytes = sotto_bytes_of(bytes, 300);
    report.inputs = sotto_bytes_of(bytes + 4, 200);
    report.randomised = sotto_bytes_of(bytes, 34);
    return report;
}

/* ---- the host --------------------------------------------------------------------------------------- */

static sotto_status read_counter(void *context, uint64_t *generation, sotto_err *err)
{
    (void)err;
    *generation = ((sotto_test_host *)context)->generation;
    return SOTTO_OK;
}

static sotto_status raise_counter(void *context, uint64_t generation, sotto_err *err)
{
    sotto_test_host *host = context;

    if (host->unreachable)
        return sotto_fail(err, SOTTO_IO, "the counter can't be reached");
    host->generation = generation > host->generation ? generation : host->generation;
    return SOTTO_OK;
}

sotto_witness sotto_test_witness(sotto_test_host *host)
{
    return (sotto_witness){read_counter, raise_counter, host};
}

/* ---- the wire --------------------------------------------------------------------------------------- */

static size_t find_sent(const sotto_test_wire *wire, const uint8_t *id)
{
    size_t i = 0;

    while (i < wire->distinct && memcmp(wire->ids[i], id, SOTTO_REPORT_ID_SIZE) != 0)
        i++;
    return i;
}

static sotto_delivery take_report(void *context, const sotto_report *report)
{
    sotto_test_wire *wire = context;
    bool resealed = report->bytes.data[0] == 'R';
    uint8_t digest[32];

    wire->calls++;
    if (wire->hook)
        wire->hook(wire->context);
    size_t at = find_sent(wire, report->id); /* what is sent by the hook comes first */
    sotto_hash_once(digest, SOTTO_SHA256, report->bytes);
    if (at == wire->distinct && at < SOTTO_TEST_WIRE) {
        memcpy(wire->ids[at], report->id, SOTTO_REPORT_ID_SIZE);
        memcpy(wire->bytes[at], digest, sizeof digest);
        wire->distinct++;
    } else if (at < SOTTO_TEST_WIRE && !resealed && memcmp(wire->bytes[at], digest, 32) != 0) {
        wire->differed = true;
    }
    if (resealed && at < SOTTO_TEST_WIRE) {
        static const uint8_t none[32];

        if (memcmp(wire->again[at], none, 32) != 0 && memcmp(wire->again[at], digest, 32) != 0)
            wire->differed = true;
        memcpy(wire->again[at], digest, 32);
    }
    return wire->outdated_once && !resealed ? SOTTO_DELIVERY_OUTDATED : wire->answer;
}

/* 'R', the number of the seal, and the very shares. */
static sotto_status seal_again(void *context, const sotto_report *report, sotto_buf *sealed,
                               sotto_err *err)
{
    sotto_test_wire *wire = context;
    sotto_writer out = sotto_writer_on(sealed);

    wire->reseals++;
    sotto_write_uint(&out, 'R', 1);
    sotto_write_uint(&out, wire->reseals, 8);
    sotto_write_bytes(&out, report->inputs);
    return sotto_writer_finish(&out, "sealed report", err);
}

sotto_transport sotto_test_transport(sotto_test_wire *wire)
{
    return (sotto_transport){.send = take_report, .reseal = seal_again, .context = wire};
}

/* ---- ledgers ------------------------------------------------------------------------------------------ */

sotto_status sotto_test_open_ledger(sotto_ledger **out, const sotto_storage *storage,
                                    const char *path, sotto_test_host *host,
                                    const sotto_budget_table *table, sotto_err *err)
{
    const sotto_witness witness = sotto_test_witness(host);
    const sotto_ledger_options options = {
        .storage = storage, .path = path, .witnesses = &witness, .witness_count = host ? 1 : 0};

    SOTTO_TRY(sotto_ledger_open(out, &options, err));
    if (sotto_ledger_closed(*out))
        return SOTTO_OK;
    sotto_status status = sotto_consent_set(*out, true, SOTTO_TEST_NOW, err);
    if (status == SOTTO_OK && table)
        status = sotto_ledger_adopt(*out, table, &sotto_test_recompute, SOTTO_TEST_NOW, err);
    if (status != SOTTO_OK) {
        sotto_ledger_close(*out);
        *out = NULL;
    }
    return status;
}

sotto_ledger *sotto_test_ledger(sotto_test *t, const char *path, sotto_test_host *host,
                                const sotto_budget_table *table)
{
    sotto_ledger *ledger;

    CHECK_OK(t, sotto_test_open_ledger(&ledger, NULL, path, host, table, &t->err));
    return ledger;
}

void sotto_test_reset(sotto_test *t, sotto_ledger *ledger, int64_t now)
{
    CHECK_OK(t, sotto_ledger_reset(ledger, now, &t->err));
    CHECK_OK(t, sotto_consent_set(ledger, true, now, &t->err));
}

sotto_ledger *sotto_test_ledger_with_period(sotto_test *t, sotto_budget_table *table,
                                            uint64_t period)
{
    *table = sotto_test_table1;
    table->period = period;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, NULL);
    CHECK_OK(t, sotto_ledger_adopt(ledger, table, &sotto_test_recompute, 0, &t->err));
    return ledger;
}

sotto_status sotto_test_spend(sotto_test *t, sotto_ledger *ledger, const sotto_charge *charge,
                              uint64_t number, int64_t now)
{
    const sotto_report report = sotto_test_report(t, number);

    return sotto_ledger_spend(ledger, charge, &report, now, NULL, &t->err);
}

sotto_spent sotto_test_spent(sotto_test *t, sotto_ledger *ledger, int64_t now)
{
    sotto_spent out;

    CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &out, SOTTO_TEST_ANALYSIS, now, &t->err));
    return out;
}

typedef struct counted {
    sotto_record_kind kind;
    uint64_t count;
} counted;

static sotto_status count_entry(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    counted *c = context;

    (void)err;
    c->count += entry->kind == c->kind;
    return SOTTO_OK;
}

uint64_t sotto_test_recorded(sotto_test *t, sotto_ledger *ledger, sotto_record_kind kind)
{
    counted c = {kind, 0};

    CHECK_OK(t, sotto_record_show(ledger, NULL, 0, count_entry, &c, &t->err));
    return c.count;
}

void sotto_test_meddle(sotto_test *t, const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK(t, sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(t, sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    CHECK(t, sqlite3_close(db) == SQLITE_OK);
}
