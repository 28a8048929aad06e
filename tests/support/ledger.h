/* support/ledger.h - budgets, charges, a host and a wire: the same for every test of the ledger.
 *
 * The keyboard example: Table 1 as printed, and a recipe on age and ngram whose claim of 0.3 is true of 40,000
 * reports of which half are honest.
 */
#ifndef SOTTO_TESTS_SUPPORT_LEDGER_H
#define SOTTO_TESTS_SUPPORT_LEDGER_H

#include "device/ledger/ledger.h"
#include "device/ledger/record.h"
#include "support/events.h"

#define SOTTO_TEST_ANALYSIS "com.example.keyboard"

extern const sotto_budget_table sotto_test_table1; /* one report */
extern const sotto_budget_table sotto_test_wide;   /* the same names with room for hundreds */
/* epsilon is 42 / sqrt(honest), whatever the charge: 0.297 for 20,000; none below 100. */
extern const sotto_recompute sotto_test_recompute;

sotto_decimal sotto_test_decimal(sotto_test *t, const char *text);
/* On age and ngram, in the replacement model, local 2, delta 1e-7. */
sotto_charge sotto_test_charge(sotto_test *t, const char *recipe, const char *epsilon);
/* A report whose id and bytes follow from the number. Lives in the test's arena. */
sotto_report sotto_test_report(sotto_test *t, uint64_t number);

/* A platform's counter: survives whatever happens to files. */
typedef struct sotto_test_host {
    uint64_t generation;
    bool unreachable;
} sotto_test_host;
sotto_witness sotto_test_witness(sotto_test_host *host);

/* The other side: what it got, and whether a report ever came with other bytes than before. */
enum { SOTTO_TEST_WIRE = 512 };
typedef struct sotto_test_wire {
    sotto_delivery answer;
    uint64_t calls;
    size_t distinct;
    uint8_t ids[SOTTO_TEST_WIRE][SOTTO_REPORT_ID_SIZE];
    uint8_t bytes[SOTTO_TEST_WIRE][32]; /* digests */
    uint8_t again[SOTTO_TEST_WIRE][32]; /* of those sealed again */
    bool differed;
    uint64_t reseals;
    bool outdated_once; /* reports of the first seal are outdated */
    void (*hook)(void *context);
    void *context;
} sotto_test_wire;
sotto_transport sotto_test_transport(sotto_test_wire *wire);

/* Opens; unless the ledger is closed, consent is given and the policy adopted, if there is one. */
sotto_status sotto_test_open_ledger(sotto_ledger **out, const sotto_storage *storage,
                                    const char *path, sotto_test_host *host,
                                    const sotto_budget_table *table, sotto_err *err);
sotto_ledger *sotto_test_ledger(sotto_test *t, const char *path, sotto_test_host *host,
                                const sotto_budget_table *table);
/* In memory, with Table 1 renewed each period; the table is the caller's. */
sotto_ledger *sotto_test_ledger_with_period(sotto_test *t, sotto_budget_table *table,
                                            uint64_t period);
/* Resets it, and gives consent again. */
void sotto_test_reset(sotto_test *t, sotto_ledger *ledger, int64_t now);
/* Spends on the report with this number. */
sotto_status sotto_test_spend(sotto_test *t, sotto_ledger *ledger, const sotto_charge *charge,
                              uint64_t number, int64_t now);
/* What SOTTO_TEST_ANALYSIS has spent. */
sotto_spent sotto_test_spent(sotto_test *t, sotto_ledger *ledger, int64_t now);
/* How many entries of a kind the record has. */
uint64_t sotto_test_recorded(sotto_test *t, sotto_ledger *ledger, sotto_record_kind kind);
/* Another program's hand in the file. */
void sotto_test_meddle(sotto_test *t, const char *path, const char *sql);

#endif
