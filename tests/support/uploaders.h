/* support/uploaders.h - clients that upload at the same time, each in a thread of its own. */
#ifndef SOTTO_TESTS_SUPPORT_UPLOADERS_H
#define SOTTO_TESTS_SUPPORT_UPLOADERS_H

#include "support/service.h"

#include <pthread.h>

typedef struct sotto_test_uploader {
    sotto_test own;
    sotto_test_service s; /* a copy, with a client of its own */
    sotto_bytes reports;
    pthread_t thread;
    size_t failed; /* reports, once it has ended */
} sotto_test_uploader;

void sotto_test_uploader_start(sotto_test *t, sotto_test_uploader *u, const sotto_test_service *s,
                               sotto_server *leader, sotto_bytes reports);
/* Waits for the answer, which must be 200. */
void sotto_test_uploader_end(sotto_test *t, sotto_test_uploader *u);

/* At the service's leader, and at another one over the same database: how many failed at both. */
size_t sotto_test_upload_at_two(sotto_test *t, const sotto_test_service *s,
                                const sotto_bytes reports[2]);
/* Two reports that only one of may be added: the helper has one, and rejects the leader's. */
void sotto_test_second_is_rejected(sotto_test *t, sotto_test_service *s, sotto_bytes at_helper,
                                   sotto_bytes at_leader);

#endif
