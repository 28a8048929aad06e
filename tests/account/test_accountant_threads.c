/* Threads that ask at the same time, each with an accountant of its own or with none, get the answers that one thread
 * alone gets. A call fits the stack that the header states. The tsan preset looks at the same run for races. */
#include "question_support.h"
#include "support/test.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, MOST = 16 };
/* What sotto/privacy.h promises; sanitizers put more between variables. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK ((size_t)8 << 20)
#else
#define STACK ((size_t)2 << 20)
#endif

typedef struct asker {
    pthread_t thread;
    bool keeps; /* an accountant */
    size_t first;
    sotto_status status;
    sotto_answer answers[MOST];
} asker;

static sotto_status ask_all(asker *a, const sotto_question *each, size_t n)
{
    sotto_accountant *tables = NULL;
    sotto_status status = SOTTO_OK;

    if (a->keeps)
        SOTTO_TRY(sotto_accountant_new(&tables, NULL));
    for (size_t i = 0; i < n && status == SOTTO_OK; i++) {
        size_t k = (a->first + i) % n; /* not all the same one at once */
        status = sotto_privacy_epsilon(&a->answers[k], &each[k], tables, NULL);
    }
    sotto_accountant_free(tables);
    return status;
}

static void *run(void *self)
{
    asker *a = self;
    sotto_question each[MOST];

    a->status = ask_all(a, each, questions_of_each(each));
    return NULL;
}

static void threads_that_ask_at_once_are_answered_as_one_alone(sotto_test *t)
{
    static asker askers[THREADS], alone;
    sotto_question each[MOST];
    size_t n = questions_of_each(each);
    pthread_attr_t small;

    CHECK_OK(t, ask_all(&alone, each, n));
    CHECK(t, pthread_attr_init(&small) == 0);
    CHECK(t, pthread_attr_setstacksize(&small, STACK) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        askers[i].keeps = i % 2 == 0;
        askers[i].first = 3 * i;
        CHECK(t, pthread_create(&askers[i].thread, &small, run, &askers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(t, pthread_join(askers[i].thread, NULL) == 0);
        CHECK_OK(t, askers[i].status);
        for (size_t k = 0; k < n; k++) {
            CHECK(t, askers[i].answers[k].low == alone.answers[k].low);
            CHECK(t, askers[i].answers[k].high == alone.answers[k].high);
            CHECK(t, strcmp(askers[i].answers[k].route, alone.answers[k].route) == 0);
        }
    }
    CHECK(t, pthread_attr_destroy(&small) == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(threads_that_ask_at_once_are_answered_as_one_alone),
    };

    return RUN_TESTS(argc, argv, cases);
}
