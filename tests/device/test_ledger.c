/* The ledger: decisions, and when it closes. */
#include "base/alloc.h"
#include "device/ledger/consent.h"
#include "device/ledger/wallet.h"
#include "support/ledger.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOW SOTTO_TEST_NOW

/* ---- decisions -------------------------------------------------------------------------------------------- */

static sotto_status draw_next(void *context, sotto_decision *out, sotto_err *err)
{
    int *drawn = context;

    (void)err;
    out->choice = (*drawn)++ == 0 ? SOTTO_CHOICE_SILENT : SOTTO_CHOICE_TAKE_PART;
    out->slot = (uint64_t)*drawn;
    return SOTTO_OK;
}

static void a_decision_is_drawn_once(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_table1);
    sotto_decision decision;
    int drawn = 0;

    for (int start = 0; start < 3; start++) {
        CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_RECIPE, "50001",
                                        draw_next, &drawn, NOW + start, &t->err));
        CHECK_EQUAL(t, SOTTO_CHOICE_SILENT, decision.choice);
        CHECK_EQUAL(t, 1, decision.slot);
        CHECK_EQUAL(t, NOW, decision.at);
        sotto_ledger_close(ledger);
        ledger = sotto_test_ledger(t, path, NULL, start ? &sotto_test_table1 : &sotto_test_wide);
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
    }
    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_ANALYSIS, "50001", draw_next,
                                    &drawn, NOW, &t->err)); /* another kind of name */
    CHECK_EQUAL(t, SOTTO_CHOICE_TAKE_PART, decision.choice);
    CHECK_EQUAL(t, 2, drawn);
    CHECK_EQUAL(t, 2, sotto_test_recorded(t, ledger, SOTTO_RECORD_DECIDED));
    sotto_ledger_close(ledger);
}

static const sotto_window drawn_from = {
    .law = 5, .rate = 0.25, .slots = 10, .length = 3600, .start = 1795132800};

static sotto_status draw_slot(void *context, sotto_decision *out, sotto_err *err)
{
    (void)context, (void)err;
    *out = (sotto_decision){.choice = SOTTO_CHOICE_TAKE_PART, .slot = 3, .window = drawn_from};
    return SOTTO_OK;
}

static sotto_window window_of(sotto_test *t, sotto_ledger *ledger, const char *analysis)
{
    sotto_decision decision;

    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_ANALYSIS, analysis, draw_slot,
                                    NULL, NOW, &t->err));
    CHECK_EQUAL(t, 3, decision.slot);
    return decision.window;
}

static bool is_drawn_from(const sotto_window *w)
{
    return w->law == drawn_from.law && w->rate == drawn_from.rate && w->slots == drawn_from.slots &&
           w->length == drawn_from.length && w->start == drawn_from.start;
}

static void a_decision_keeps_the_slots_it_was_drawn_from(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");

    for (int start = 0; start < 2; start++) {
        sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_table1);
        sotto_window w = window_of(t, ledger, "a");

        CHECK(t, is_drawn_from(&w));
        sotto_ledger_close(ledger);
    }
    sotto_test_meddle(t, path, "UPDATE windows SET slots=9");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_table1);
    CHECK(t, sotto_ledger_closed(ledger) != NULL); /* they are damage like any other */
    sotto_ledger_close(ledger);
}

/* Adds up the cohorts, of entries that have one. */
static sotto_status count_questions(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    (void)err;
    *(unsigned *)context += entry->asked ? (unsigned)entry->asked->min_cohort : 0;
    return SOTTO_OK;
}

/* What the first version drew holds for no slots: whoever reads it takes the analysis as over for this device. */
static void a_ledger_of_the_first_version_is_taken_over(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_table1);
    sotto_decision decision;
    int drawn = 0;

    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_ANALYSIS, "old", draw_next,
                                    &drawn, NOW, &t->err));
    sotto_ledger_close(ledger);
    sotto_test_meddle(t, path,
                      "DROP TABLE windows; DROP TABLE asked; DROP TABLE tokens;"
                      " PRAGMA user_version=1");
    for (int start = 0; start < 2; start++) {
        ledger = sotto_test_ledger(t, path, NULL, &sotto_test_table1);
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
        CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_ANALYSIS, "old",
                                        draw_next, &drawn, NOW, &t->err));
        CHECK_EQUAL(t, 1, drawn);
        CHECK_EQUAL(t, 0, decision.window.slots);
        sotto_window w = window_of(t, ledger, "new");
        CHECK(t, is_drawn_from(&w));
        sotto_ledger_close(ledger);
    }
}

/* The second version's record says nothing of questions; what is added to it does. */
static void a_ledger_of_the_second_version_is_taken_over(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    const sotto_asked asked = {.min_cohort = 7};
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    sotto_charge charge = sotto_test_charge(t, "old", "0.3");
    unsigned questions = 0;

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    sotto_ledger_close(ledger);
    sotto_test_meddle(t, path, "DROP TABLE asked; DROP TABLE tokens; PRAGMA user_version=2");
    ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    charge.recipe = "new";
    charge.asked = &asked;
    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 2, NOW));
    CHECK_OK(t, sotto_record_show(ledger, "old", 0, count_questions, &questions, &t->err));
    CHECK_EQUAL(t, 0, questions);
    CHECK_OK(t, sotto_record_show(ledger, "new", 0, count_questions, &questions, &t->err));
    CHECK_EQUAL(t, 7, questions);
    sotto_ledger_close(ledger);
    /* A reset reads a record in any form, and keeps what it says. */
    sotto_test_meddle(t, path, "UPDATE accounts SET epsilon=0");
    ledger = sotto_test_ledger(t, path, NULL, NULL);
    CHECK_OK(t, sotto_ledger_reset(ledger, NOW, &t->err));
    questions = 0;
    CHECK_OK(t, sotto_record_show(ledger, NULL, 0, count_questions, &questions, &t->err));
    CHECK_EQUAL(t, 7, questions);
    sotto_ledger_close(ledger);
    sotto_test_meddle(t, path, "UPDATE asked SET min_cohort=8");
    ledger = sotto_test_ledger(t, path, NULL, NULL);
    CHECK(t, sotto_ledger_closed(ledger) != NULL); /* it is damage like any other */
    sotto_ledger_close(ledger);
}

/* The third version knew of no tokens. */
static void a_ledger_of_the_third_version_is_taken_over(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    sotto_charge charge = sotto_test_charge(t, "old", "0.3");
    sotto_wallet_row row;
    bool found;

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    sotto_ledger_close(ledger);
    sotto_test_meddle(t, path, "DROP TABLE tokens; PRAGMA user_version=3");
    ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    CHECK_OK(t, sotto_wallet_next(ledger, &row, &found, 0, &t->err));
    CHECK(t, !found);
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_SPENT));
    sotto_ledger_close(ledger);
}

static void a_reset_reads_a_record_of_the_second_version(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    sotto_charge charge = sotto_test_charge(t, "old", "0.3");

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    sotto_ledger_close(ledger);
    ledger = sotto_test_ledger(t, path, NULL, NULL);
    sotto_test_meddle(t, path, "DROP TABLE asked; DROP TABLE tokens; PRAGMA user_version=2");
    CHECK_OK(t, sotto_ledger_reset(ledger, NOW, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_SPENT));
    sotto_ledger_close(ledger);
}

/* ---- closed -------------------------------------------------------------------------------------------------- */

static const char *spent_ledger(sotto_test *t, sotto_test_host *host)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, host, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    sotto_ledger_close(ledger);
    return path;
}

static void write_file(sotto_test *t, const char *path, sotto_bytes bytes)
{
    FILE *file = fopen(path, "wb");

    CHECK(t, file && fwrite(bytes.data, 1, bytes.len, file) == bytes.len);
    CHECK(t, fclose(file) == 0);
}

/* Closed, for every verb; and after a reset everything counts as spent. */
static void check_closed(sotto_test *t, const char *path, sotto_test_host *host, const char *why)
{
    sotto_ledger *ledger = sotto_test_ledger(t, path, host, &sotto_test_wide);
    sotto_charge charge = sotto_test_charge(t, "50009", "0.3");
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    const sotto_transport transport = sotto_test_transport(&wire);
    sotto_decision decision;
    int drawn = 0;

    CHECK(t, sotto_ledger_closed(ledger) && strstr(sotto_ledger_closed(ledger), why));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "until it is reset");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &charge, 9, NOW));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_RECIPE, "x", draw_next,
                                     &drawn, NOW, &t->err));
    CHECK_EQUAL(t, 0, wire.calls + (uint64_t)drawn);
    sotto_ledger_close(ledger);

    ledger = sotto_test_ledger(t, path, host, &sotto_test_wide); /* opening again does not help */
    CHECK(t, sotto_ledger_closed(ledger) != NULL);
    sotto_test_reset(t, ledger, NOW);
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    for (int start = 0; start < 2; start++) {
        CHECK_OK(t,
                 sotto_ledger_adopt(ledger, &sotto_test_wide, &sotto_test_recompute, NOW, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_test_spend(t, ledger, &charge, 9, NOW + INT64_C(1000000000)));
        CHECK_REASON(t, "fully spent");
        CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_RESET));
        sotto_ledger_close(ledger);
        ledger = sotto_test_ledger(t, path, host, NULL);
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
    }
    sotto_ledger_close(ledger);
}

static void a_damaged_ledger_closes_the_device(sotto_test *t)
{
    const char *path = spent_ledger(t, NULL);

    write_file(t, path, sotto_bytes_of("this is no database, whatever it is called", 42));
    check_closed(t, path, NULL, "damaged");
}

static void an_amount_changed_in_the_file_closes_the_device(sotto_test *t)
{
    static const char *const changes[] = {
        "UPDATE accounts SET epsilon=0", "DELETE FROM accounts WHERE id=1",
        "UPDATE accounts SET squares=0", "UPDATE meta SET generation=generation+1",
        "UPDATE record SET note='x'",    "DELETE FROM record",
        "UPDATE outbox SET tried=1",     "DROP TABLE decisions"};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *path = spent_ledger(t, NULL);

        sotto_test_meddle(t, path, changes[i]);
        check_closed(t, path, NULL, "damaged");
    }
}

static void a_table_changed_in_the_file_closes_the_device(sotto_test *t)
{
    const char *path = spent_ledger(t, NULL);

    /* No row is another by that, but no statement finds its column. */
    sotto_test_meddle(t, path,
                      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql,"
                      "' local INTEGER',' lokal INTEGER') WHERE name='record'");
    check_closed(t, path, NULL, "damaged");
}

static void a_flipped_byte_closes_the_device_or_changes_nothing(sotto_test *t)
{
    const char *path = spent_ledger(t, NULL);
    sotto_bytes whole = sotto_test_read_file(t, path);
    uint8_t *bytes = sotto_arena_take(&t->arena, whole.len);
    uint64_t closed = 0;

    for (size_t at = 0; at < whole.len; at += 61) {
        sotto_ledger *ledger;

        memcpy(bytes, whole.data, whole.len);
        bytes[at] ^= 0x10;
        write_file(t, path, sotto_bytes_of(bytes, whole.len));
        sotto_status status = sotto_test_open_ledger(&ledger, NULL, path, NULL, NULL, NULL);
        if (status == SOTTO_OK && sotto_ledger_closed(ledger) == NULL)
            CHECK_EQUAL(t, 300000000000, sotto_test_spent(t, ledger, NOW).epsilon.units);
        else
            closed++;
        CHECK(t, status == SOTTO_OK); /* and so it can be reset */
        sotto_ledger_close(ledger);
    }
    CHECK(t, closed > 10);
}

static void a_missing_ledger_closes_the_device(sotto_test *t)
{
    sotto_test_host host = {0};
    const char *path = spent_ledger(t, &host);

    CHECK(t, host.generation > 1);
    CHECK(t, unlink(path) == 0);
    check_closed(t, path, &host, "missing");
    path = spent_ledger(t, &(sotto_test_host){0});
    write_file(t, path, sotto_bytes_of("", 0));
    check_closed(t, path, &host, "missing");
}

static void the_event_file_remembers_that_there_was_a_ledger(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_store *store = sotto_test_store(t, sotto_test_temp(t, "events.db"));
    const sotto_witness mark = sotto_store_witness(store);
    const sotto_ledger_options options = {.path = path, .witnesses = &mark, .witness_count = 1};
    sotto_ledger *ledger;

    for (int start = 0; start < 2; start++) {
        CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
        sotto_ledger_close(ledger);
        CHECK_OK(t, sotto_store_forget(store, NULL, &t->err)); /* forgets events, not that */
    }
    CHECK(t, unlink(path) == 0);
    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    CHECK(t, sotto_ledger_closed(ledger) && strstr(sotto_ledger_closed(ledger), "missing"));
    sotto_ledger_close(ledger);
    sotto_store_close(store);
}

static void a_ledger_put_back_from_a_copy_closes_the_device(sotto_test *t)
{
    sotto_test_host host = {0};
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    sotto_ledger_close(sotto_test_ledger(t, path, &host, &sotto_test_table1));
    sotto_bytes copy = sotto_test_read_file(t, path);
    sotto_ledger *ledger = sotto_test_ledger(t, path, &host, &sotto_test_table1);
    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    sotto_ledger_close(ledger);
    write_file(t, path, copy);
    check_closed(t, path, &host, "older than it once was");
}

/* Not a promise but its limit, which docs/device.md states: hosts without a counter must keep copies from being made. */
static void without_a_counter_an_older_ledger_is_not_noticed(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_store *store = sotto_test_store(t, sotto_test_temp(t, "events.db"));
    const sotto_witness mark = sotto_store_witness(store);
    const sotto_ledger_options options = {.path = path, .witnesses = &mark, .witness_count = 1};
    sotto_ledger *ledger;

    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    sotto_ledger_close(ledger);
    sotto_bytes copy = sotto_test_read_file(t, path);
    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    CHECK_OK(t, sotto_consent_set(ledger, true, NOW, &t->err));
    sotto_ledger_close(ledger);
    write_file(t, path, copy);
    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    sotto_ledger_close(ledger);
    sotto_store_close(store);
}

static void two_processes_share_one_ledger(sotto_test *t)
{
    sotto_test_host host = {0};
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *both[] = {sotto_test_ledger(t, path, &host, &sotto_test_wide),
                            sotto_test_ledger(t, path, &host, &sotto_test_wide)};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    const sotto_transport transport = sotto_test_transport(&wire);

    for (uint64_t i = 1; i <= 6; i++) {
        char recipe[16];

        (void)snprintf(recipe, sizeof recipe, "r%d", (int)i);
        const sotto_charge charge = sotto_test_charge(t, recipe, "0.3");
        CHECK_OK(t, sotto_test_spend(t, both[i % 2], &charge, i, NOW));
        CHECK_STATUS(t, SOTTO_STALE, sotto_test_spend(t, both[(i + 1) % 2], &charge, i + 100, NOW));
        CHECK_EQUAL(t, i, sotto_test_spent(t, both[(i + 1) % 2], NOW).reports);
        CHECK_OK(t, sotto_outbox_send(both[(i / 2) % 2], &transport, NOW, NULL, &t->err));
    }
    CHECK_EQUAL(t, 6, wire.distinct);
    CHECK_OK(
        t, sotto_ledger_reset(both[0], NOW, &t->err)); /* a mistake, which the other one notices */
    const sotto_charge late = sotto_test_charge(t, "late", "0.3");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, both[1], &late, 50, NOW));
    CHECK(t, sotto_ledger_closed(both[1]) != NULL);
    sotto_ledger_close(both[0]);
    sotto_ledger_close(both[1]);
    sotto_ledger *ledger = sotto_test_ledger(t, path, &host, &sotto_test_wide);
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    sotto_ledger_close(ledger);
}

static void a_file_taken_away_while_it_is_open_closes_the_device(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    CHECK(t, unlink(path) == 0);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &charge, 1, NOW));
    CHECK_REASON(t, "moved or replaced");
    CHECK(t, sotto_ledger_closed(ledger) != NULL);
    sotto_ledger_close(ledger);
}

static void an_interrupted_reset_leaves_the_device_closed(sotto_test *t)
{
    const char *path = spent_ledger(t, NULL);
    char marker[SOTTO_VFS_PATH];

    (void)snprintf(marker, sizeof marker, "%s.reset", path);
    write_file(t, marker, sotto_bytes_of("x", 1));
    check_closed(t, path, NULL, "interrupted");
    CHECK(t, access(marker, F_OK) != 0);
}

/* What the record says of one report. */
typedef struct told {
    uint64_t spent, given_up;
    uint8_t bits[64];
    size_t len;
} told;

static sotto_status look_up(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    told *out = context;

    (void)err;
    out->given_up += entry->kind == SOTTO_RECORD_GIVEN_UP;
    if (entry->kind == SOTTO_RECORD_SPENT) {
        out->spent++;
        out->len = entry->randomised.len;
        memcpy(out->bits, entry->randomised.data, out->len < 64 ? out->len : 64);
    }
    return SOTTO_OK;
}

/* Resets the ledger at path twice; each time the record is as it was, and has grown. */
static void check_record_kept(sotto_test *t, const char *path, sotto_test_host *host)
{
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    const sotto_report report = sotto_test_report(t, 1);
    sotto_ledger *ledger = sotto_test_ledger(t, path, host, NULL);

    for (uint64_t resets = 1; resets <= 2; resets++) {
        told found = {0};

        CHECK_OK(t, sotto_ledger_reset(ledger, NOW + 9, &t->err));
        CHECK_OK(t, sotto_record_show(ledger, "50001", 0, look_up, &found, &t->err));
        CHECK_EQUAL(t, 1, found.spent);
        CHECK_EQUAL(t, 1, found.given_up); /* it waited */
        CHECK_EQUAL(t, report.randomised.len, found.len);
        CHECK_BYTES(t, report.randomised.data, found.bits, found.len);
        CHECK_EQUAL(t, resets, sotto_test_recorded(t, ledger, SOTTO_RECORD_RESET));
        sotto_ledger_close(ledger);
        ledger = sotto_test_ledger(t, path, host, &sotto_test_wide);
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
        /* So what was answered is not answered again, whenever budgets are new. */
        CHECK_STATUS(t, SOTTO_STALE, sotto_test_spend(t, ledger, &charge, 2, NOW + 10));
    }
    sotto_ledger_close(ledger);
}

static void a_reset_keeps_the_record(sotto_test *t)
{
    sotto_test_host host = {0};
    const char *path = spent_ledger(t, &host);

    host.generation += 5; /* an old copy, every row of which is right */
    check_record_kept(t, path, &host);
}

static void a_reset_keeps_what_can_be_read_of_a_damaged_record(sotto_test *t)
{
    const char *path = spent_ledger(t, NULL);

    sotto_test_meddle(t, path, "UPDATE accounts SET epsilon=0");
    sotto_test_meddle(t, path,
                      "INSERT INTO record SELECT NULL,at,77,recipe,analysis,fields,note,round,"
                      "report,randomised,epsilon,delta,local,bytes FROM record");
    check_record_kept(t, path, NULL);
}

static void after_a_reset_large_reports_fit_as_before(sotto_test *t)
{
    enum { LARGE = 200000 };
    const char *const paths[] = {NULL, sotto_test_temp(t, "ledger.db")};
    const sotto_dummy dummy = {.recipe = "a", .analysis = ""};
    uint8_t *bytes = sotto_arena_take(&t->arena, LARGE);

    CHECK(t, bytes != NULL);
    memset(bytes, 1, LARGE);
    for (size_t i = 0; i < 2; i++) {
        sotto_ledger *ledger = sotto_test_ledger(t, paths[i], NULL, &sotto_test_wide);
        sotto_report report = sotto_test_report(t, 1);

        report.bytes = sotto_bytes_of(bytes, LARGE);
        sotto_test_reset(t, ledger, NOW);
        CHECK_OK(t, sotto_outbox_put_dummy(ledger, &dummy, &report, NOW, &t->err));
        sotto_ledger_close(ledger);
    }
}

static void after_a_reset_a_period_must_pass(sotto_test *t)
{
    sotto_budget_table table;
    sotto_ledger *ledger = sotto_test_ledger_with_period(t, &table, 100);
    sotto_charge charge = sotto_test_charge(t, "a", "0.3");

    sotto_test_reset(t, ledger, 1010);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &charge, 1, 1099));
    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, 1100));
    sotto_ledger_close(ledger);
}

static void running_out_of_memory_is_an_error_at_every_allocation(sotto_test *t)
{
    const sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    const sotto_report report = sotto_test_report(t, 1);

    for (long n = 0; n < 50; n++) {
        sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
        const sotto_transport transport = sotto_test_transport(&wire);
        sotto_ledger *ledger = NULL;

        sotto_alloc_fail_after(n);
        sotto_status status =
            sotto_test_open_ledger(&ledger, NULL, NULL, NULL, &sotto_test_table1, NULL);
        if (status == SOTTO_OK)
            status = sotto_ledger_spend(ledger, &charge, &report, NOW, NULL, NULL);
        if (status == SOTTO_OK)
            status = sotto_outbox_send(ledger, &transport, NOW, NULL, NULL);
        sotto_alloc_fail_after(-1);
        sotto_ledger_close(ledger);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        if (status == SOTTO_OK)
            return;
    }
    const bool it_succeeds = false;
    CHECK(t, it_succeeds);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_decision_is_drawn_once),
        CASE(a_decision_keeps_the_slots_it_was_drawn_from),
        CASE(a_ledger_of_the_first_version_is_taken_over),
        CASE(a_ledger_of_the_second_version_is_taken_over),
        CASE(a_ledger_of_the_third_version_is_taken_over),
        CASE(a_reset_reads_a_record_of_the_second_version),
        CASE(a_damaged_ledger_closes_the_device),
        CASE(an_amount_changed_in_the_file_closes_the_device),
        CASE(a_table_changed_in_the_file_closes_the_device),
        CASE(a_flipped_byte_closes_the_device_or_changes_nothing),
        CASE(a_missing_ledger_closes_the_device),
        CASE(the_event_file_remembers_that_there_was_a_ledger),
        CASE(a_ledger_put_back_from_a_copy_closes_the_device),
        CASE(without_a_counter_an_older_ledger_is_not_noticed),
        CASE(two_processes_share_one_ledger),
        CASE(a_file_taken_away_while_it_is_open_closes_the_device),
        CASE(an_interrupted_reset_leaves_the_device_closed),
        CASE(a_reset_keeps_the_record),
        CASE(a_reset_keeps_what_can_be_read_of_a_damaged_record),
        CASE(after_a_reset_large_reports_fit_as_before),
        CASE(after_a_reset_a_period_must_pass),
        CASE(running_out_of_memory_is_an_error_at_every_allocation),
    };
    return RUN_TESTS(argc, argv, cases);
}
