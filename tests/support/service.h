/* support/service.h - a leader and a helper in this process, over loopback, and clients that upload to them.
 *
 * Memory:   everything lives in the test's arena or the deployment.
 */
#ifndef SOTTO_TESTS_SUPPORT_SERVICE_H
#define SOTTO_TESTS_SUPPORT_SERVICE_H

#include "dap/dap.h"
#include "serve/tasks/server.h"
#include "sim/random.h"
#include "support/test.h"
#include "transport/http_client.h"

typedef struct sotto_test_service {
    sotto_server *leader, *helper;
    sotto_server_options leader_options, helper_options;
    sotto_pairing pairing;
    sotto_hpke_key collector;
    const sotto_recipe *recipe;
    const char *recipe_text, *parties_text;
    sotto_task task;
    sotto_prio3 vdaf;         /* unless the options name a trust */
    const sotto_vdaf *opened; /* of a task of the test's own that is not Prio3 */
    sotto_http_client *client;
    sotto_sim_random random;
    sotto_hpke_config leader_hpke, helper_hpke;
    unsigned patience; /* of sotto_test_collect: polls, 50 ms apart; sotto_test_patience at first */
    unsigned call_ms;  /* that it waits for an answer; 0: the client's default      */
    uint64_t bucket;   /* the time of reports that are made now */
    sotto_bytes answer; /* what sotto_test_collect got last      */
    int kept[2];        /* the sockets that keep both ports      */
    /* What a device does to a report before it is sealed; NULL: nothing. */
    void (*admit)(sotto_test *t, void *context, sotto_report_draft *draft, sotto_arena *arena);
    void *admit_context;
    const char *fold; /* that sotto_test_send_job names; NULL: none */
} sotto_test_service;

typedef struct sotto_test_service_options {
    bool leader_selected;
    unsigned min_cohort; /* 0: 20 */
    uint64_t job_delay_ms;
    size_t job_reports;
    bool closed;               /* the task closed a day ago               */
    uint64_t late_seconds;     /* 0: the server's default                 */
    const sotto_clock *clock;  /* of the servers' keys; NULL: the system's */
    unsigned categories;       /* 0: 4; one more bin is for all others */
    const char *participation; /* NULL: everybody, at any time         */
    const char *sigma;         /* of the servers' noise; NULL: none    */
    const char
        *asks; /* query, statistic, encode and randomizer, with commas; NULL: what people like */
    const char *noise; /* behind min_cohort of privacy, with a comma; NULL: as sigma says */
    const char
        *trust; /* NULL: split; else nothing below that makes or opens shares may be called */
    const sotto_log_sink *log; /* of both servers; NULL: none */
} sotto_test_service_options;

/* Opens both, pairs them, provisions one task of a small recipe on each. */
void sotto_test_service_open(sotto_test *t, sotto_test_service *s,
                             const sotto_test_service_options *options);
void sotto_test_service_close(sotto_test_service *s);
/* Closes and opens again over the same database. */
void sotto_test_leader_restart(sotto_test *t, sotto_test_service *s);
void sotto_test_helper_restart(sotto_test *t, sotto_test_service *s);

/* A helper over an empty database that has the HPKE keys of the service's own, so that the same parties file is right for both. */
sotto_server *sotto_test_helper_twin(sotto_test *t, sotto_test_service *s);

/* A report of this bin (one bit set), sealed to both; what is wrong with it, if anything. */
typedef enum sotto_test_flaw {
    SOTTO_TEST_SOUND,
    SOTTO_TEST_BAD_PROOF, /* the helper finds it               */
    SOTTO_TEST_BAD_LEADER_SEAL,
    SOTTO_TEST_BAD_HELPER_SEAL,
    SOTTO_TEST_UNKNOWN_KEY,
    SOTTO_TEST_TOO_EARLY,
    SOTTO_TEST_EXTENSION,         /* a public one that nobody knows        */
    SOTTO_TEST_PRIVATE_EXTENSION, /* in the helper's share alone           */
    SOTTO_TEST_SHORT_SHARE        /* the helper's, by one byte             */
} sotto_test_flaw;
sotto_bytes sotto_test_sealed_report(sotto_test *t, sotto_test_service *s, uint64_t bin,
                                     sotto_test_flaw flaw);
/* The body of an upload of so many. */
sotto_bytes sotto_test_sealed_reports(sotto_test *t, sotto_test_service *s, size_t count,
                                      uint64_t bin, sotto_test_flaw flaw);

/* What one of them opens in a report that was sealed to it. */
sotto_bytes sotto_test_opened_share(sotto_test *t, sotto_test_service *s, bool leader,
                                    const sotto_dap_report *report);

/* ---- a leader of the test's own: what the real one would never send --------------------------------------- */

typedef struct sotto_test_job {
    sotto_bytes request; /* an AggregationJobInitReq */
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];
    size_t count;
} sotto_test_job;

/* The verification key of the task. */
void sotto_test_verify_key(sotto_test *t, const sotto_test_service *s,
                           uint8_t key[SOTTO_PRIO3_VERIFY_KEY_SIZE]);
/* A job of these reports (as sotto_test_sealed_report made them), proofs and all. batch_id: NULL, or 32 bytes. */
sotto_test_job sotto_test_job_of(sotto_test *t, sotto_test_service *s, const sotto_bytes *reports,
                                 size_t count, const uint8_t *batch_id);
sotto_http_response sotto_test_send_job(sotto_test *t, sotto_test_service *s, sotto_bytes request);
/* The report error of each answer; 0: it was accepted. Fails the test unless there are `count` of them. */
void sotto_test_job_errors(sotto_test *t, sotto_bytes answer, uint8_t *errors, size_t count);
/* Asks the helper for the share of `buckets` buckets from s->bucket. */
sotto_http_response sotto_test_ask_share(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                                         uint64_t reports,
                                         const uint8_t checksum[SOTTO_CHECKSUM_SIZE]);

/* Whether its body holds this text. */
bool sotto_test_says(const sotto_http_response *response, const char *text);
/* Whether a problem document is of this type. */
bool sotto_test_is_problem(const sotto_http_response *response, sotto_dap_problem problem);

/* Asks for /tasks/{task}/{place}. message: SOTTO_DAP_MESSAGES: no type is named. The answer lives in the test's arena. */
sotto_http_response sotto_test_request(sotto_test *t, sotto_test_service *s, bool to_leader,
                                       sotto_http_method method, const char *place,
                                       sotto_dap_message message, const char *token,
                                       sotto_bytes body);
/* Posts a body to /tasks/{task}/{collection}. */
sotto_http_response sotto_test_post(sotto_test *t, sotto_test_service *s, bool to_leader,
                                    const char *collection, sotto_dap_message message,
                                    const char *token, sotto_bytes body);
sotto_http_response sotto_test_upload(sotto_test *t, sotto_test_service *s, sotto_bytes reports);

/* Polls for a minute, which a busy machine may need; for ten seconds where a rule is off, since the test is to fail. */
unsigned sotto_test_patience(void);
/* Asks for the batch of `buckets` buckets from s->bucket, or the next one; waits as long as s->patience.
 * counts: s->task.bins entries; with noise, in two's complement. Returns the HTTP status; 200 with the answer. */
unsigned sotto_test_collect(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                            uint64_t *reports, uint64_t *counts);

#endif
