/* support/devices.h - a whole device with the keyboard example, the other side of its transport, and the two servers.
 *
 * The clock stands an hour behind the opening of the example recipe until a test moves it. Randomness is the
 * simulation's where stores are in memory.
 */
#ifndef SOTTO_TESTS_SUPPORT_DEVICES_H
#define SOTTO_TESTS_SUPPORT_DEVICES_H

#include "device/answer/delivery.h"
#include "sotto/device.h"
#include "sotto/seal.h"
#include "support/events.h"
#include "support/prio3.h"
#include "support/recipes.h"

#define SOTTO_TEST_OPENS  INT64_C(1795132800)
#define SOTTO_TEST_CLOSES (SOTTO_TEST_OPENS + 7 * 86400)

enum { SOTTO_TEST_UPLOADS = 512 };

typedef struct sotto_test_upload {
    char recipe[64];
    char url[64];
    uint8_t task[SOTTO_TASK_ID_SIZE];
    sotto_bytes body; /* in the test's arena */
} sotto_test_upload;

typedef struct sotto_test_phone {
    sotto_test *t;
    sotto_device *device;
    sotto_device_options options; /* for the next opening */
    int64_t now;
    sotto_delivery answer;
    bool outdated_first; /* reports to the first keys are outdated */
    uint64_t sends;
    size_t uploads;
    sotto_test_upload uploaded[SOTTO_TEST_UPLOADS];
    sotto_buf room;   /* for bodies; what does not fit is taken from the test's arena */
    uint64_t counter; /* of the platform */
    sotto_sim_random random;
    sotto_device_simulation simulation;
    void (*hook)(void *context); /* before an upload is looked at */
    void *hook_context;
    void (*raised)(struct sotto_test_phone *phone); /* when the counter was told of a transaction */
} sotto_test_phone;

/* Answers an upload of the report with this id as a leader would that means this. */
sotto_status sotto_test_answer(sotto_exchange *exchange, sotto_delivery meant, const uint8_t *id);

/* In memory, with the example policy (NULL) or another, its locale told; not open yet. */
void sotto_test_phone_init(sotto_test *t, sotto_test_phone *phone, const char *policy);
/* The same in files of this test's own, unless the options name some. */
void sotto_test_phone_in_files(sotto_test_phone *phone);
/* Opens, closing what is open, and tells its locale. */
void sotto_test_phone_open(sotto_test_phone *phone);
/* All of it: in memory, open, with consent. */
void sotto_test_phone_start(sotto_test *t, sotto_test_phone *phone, const char *policy);
void sotto_test_phone_close(sotto_test_phone *phone);

/* An event of keyboard_ngrams at the phone's time. */
sotto_status sotto_test_phone_type(sotto_test_phone *phone, uint64_t id, int64_t age,
                                   const char *ngram);
/* The example with chance 1 to take part; then with another name, and the first `old` replaced. */
sotto_bytes sotto_test_sure_recipe(sotto_test *t, const char *name, const char *old,
                                   const char *new);
/* A policy with room for a hundred reports of any epsilon, over the same analysis and fields. */
extern const char sotto_test_generous_policy[];
/* A recipe for it whose reports say their bin, and no other, but for one in 11,000: each of 272 bits flips once in e^14.95. A
 * phone in memory draws from a fixed seed; only phones in files roll dice. */
sotto_bytes sotto_test_clear_recipe(sotto_test *t, const char *name, const char *old,
                                    const char *new);
/* A good time: everything must succeed. */
sotto_tick sotto_test_tick(sotto_test_phone *phone);
sotto_why sotto_test_why(sotto_test_phone *phone, const char *recipe);
/* How many lines of a kind the record has, of one recipe or with NULL of all. */
uint64_t sotto_test_lines(sotto_test_phone *phone, const char *recipe, sotto_record_kind kind);
/* Reports that the ledger has charged the example's analysis for. */
uint64_t sotto_test_charged(sotto_test_phone *phone);

/* ---- the servers ---- */

/* Key pairs that tests know; generation 2 comes after 1. */
sotto_hpke_key sotto_test_server_key(sotto_test *t, sotto_party_role role, unsigned generation);
/* The example parties with these keys: generation 1, or 1 and 2. */
sotto_bytes sotto_test_server_parties(sotto_test *t, unsigned generations);

/* Whose keys an upload is opened with, and the parties file by which its task is compiled. */
typedef struct sotto_test_openers {
    sotto_bytes parties;
    sotto_hpke_key key[2]; /* leader's, helper's            */
    uint8_t id[2];         /* of their HPKE configurations  */
} sotto_test_openers;
/* Keys of these generations, and the parties file of the leader's. */
sotto_test_openers sotto_test_openers_of(sotto_test *t, unsigned leader, unsigned helper);
/* Opens both shares of an upload to a task that was compiled. SOTTO_REJECTED: a share does not open. */
sotto_status sotto_test_open_upload(sotto_test *t, sotto_test_report *out, const sotto_task *task,
                                    const sotto_test_upload *upload,
                                    const sotto_test_openers *openers);
/* Opens both shares of an upload.
 *   SOTTO_REJECTED  a share does not open: another key, another task, other bytes */
sotto_status sotto_test_receive_as(sotto_test *t, sotto_test_report *out, sotto_task *task,
                                   const sotto_test_upload *upload, sotto_bytes recipe,
                                   size_t cohort, const sotto_test_openers *openers);
/* ... as leader and helper would, with keys of this generation. */
sotto_status sotto_test_receive(sotto_test *t, sotto_test_report *out, sotto_task *task,
                                const sotto_test_upload *upload, sotto_bytes recipe, size_t cohort,
                                unsigned generation);
/* The bin that the upload of a clear recipe tells; SOTTO_NO_VALUE if none or several. */
uint64_t sotto_test_told(sotto_test *t, const sotto_test_upload *upload, sotto_bytes recipe);
/* Verifies and adds up what was received under one task; all must be valid. `sum` has task->bins entries or more. */
void sotto_test_add_up(sotto_test *t, sotto_uint128 *sum, const sotto_task *task,
                       const sotto_test_report *reports, size_t count);

#endif
