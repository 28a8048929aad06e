#define _DEFAULT_SOURCE

#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/random.h"

enum { SAMPLE = 32 };

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

static void random_fills_every_size(sotto_test *t)
{
    static const size_t sizes[] = {16,   17,   1023, 1024,    1025,    3967,
                                   3968, 3969, 4096, 1048576, 1048577, 3000000};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *out = sotto_arena_take(&t->arena, sizes[i] + 1);

        CHECK(t, out != NULL);
        CHECK_OK(t, sotto_random_bytes(out, sizes[i], &t->err));
        /* 16 zeros in a row by chance: 2^-128. */
        CHECK(t, !is_zero(out, 16) && !is_zero(out + sizes[i] - 16, 16));
        CHECK_EQUAL(t, 0, out[sizes[i]]); /* and not one byte further */
    }
    CHECK_OK(t, sotto_random_bytes(NULL, 0, &t->err));
}

static void random_never_repeats_a_sample(sotto_test *t)
{
    enum { COUNT = 600 }; /* several refills of the buffer */
    uint8_t(*seen)[SAMPLE] = sotto_arena_take_array(&t->arena, COUNT, SAMPLE);

    CHECK(t, seen != NULL);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_OK(t, sotto_random_bytes(seen[i], SAMPLE, &t->err));
        for (size_t k = 0; k < i; k++)
            CHECK(t, memcmp(seen[i], seen[k], SAMPLE) != 0);
    }
}

static void random_bits_are_balanced(sotto_test *t)
{
    enum { LEN = 1 << 20 };
    uint8_t *out = sotto_arena_take(&t->arena, LEN);
    uint64_t ones = 0;

    CHECK(t, out != NULL);
    CHECK_OK(t, sotto_random_bytes(out, LEN, &t->err));
    for (size_t i = 0; i < LEN; i++)
        for (unsigned bit = 0; bit < 8; bit++)
            ones += (unsigned)out[i] >> bit & 1U;
    /* Nine standard deviations of 2^23 coins: 13,031. */
    CHECK_NEAR(t, 4.0 * LEN, (double)ones, 13032);
}

/* What a child made, read back through a pipe; false if anything went wrong on the way. */
static bool sample_in_child(pid_t (*start)(void), uint8_t out[SAMPLE])
{
    int ends[2];
    int status = -1;

    if (pipe(ends) != 0)
        return false;
    pid_t child = start();
    if (child == 0) {
        uint8_t made[SAMPLE];
        bool ok = sotto_random_bytes(made, SAMPLE, NULL) == SOTTO_OK &&
                  write(ends[1], made, SAMPLE) == SAMPLE;
        _exit(ok ? 0 : 1);
    }
    bool got = child > 0 && read(ends[0], out, SAMPLE) == SAMPLE;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return waitpid(child, &status, 0) == child && status == 0 && got;
}

static pid_t plain_fork(void)
{
    return fork();
}

static void check_child_goes_its_own_way(sotto_test *t, pid_t (*start)(void))
{
    uint8_t before[SAMPLE], child[SAMPLE], other[SAMPLE], parent[SAMPLE];

    CHECK_OK(t, sotto_random_bytes(before, SAMPLE, &t->err)); /* the buffer is full now */
    CHECK(t, sample_in_child(start, child));
    CHECK(t, sample_in_child(start, other));
    CHECK_OK(t, sotto_random_bytes(parent, SAMPLE, &t->err));
    CHECK(t, memcmp(child, parent, SAMPLE) != 0);
    CHECK(t, memcmp(other, parent, SAMPLE) != 0);
    CHECK(t, memcmp(child, other, SAMPLE) != 0);
}

static void random_in_a_forked_child_goes_its_own_way(sotto_test *t)
{
    check_child_goes_its_own_way(t, plain_fork);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && defined(SYS_fork)
static pid_t fork_behind_the_library(void)
{
    return (pid_t)syscall(SYS_fork); /* no handler of ours runs */
}

static void random_in_a_child_forked_behind_our_back_goes_its_own_way(sotto_test *t)
{
    check_child_goes_its_own_way(t, fork_behind_the_library);
}
#endif

static void random_forgets_what_it_gave(sotto_test *t)
{
    uint8_t made[16];

    for (int i = 0; i < 500; i++) {
        CHECK_OK(t, sotto_random_bytes(made, sizeof made, &t->err));
        CHECK(t, !sotto_random_remembers(made, sizeof made));
    }
    sotto_random_forget();
    CHECK(t, sotto_random_remembers("\0\0\0\0", 4)); /* it can tell */
}

/* The linker sends the library's EVP_EncryptUpdate() here, so that we hold the cipher it used. */
int __real_EVP_EncryptUpdate(EVP_CIPHER_CTX *cipher, unsigned char *out, int *out_len,
                             const unsigned char *in, int in_len);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *cipher, unsigned char *out, int *out_len,
                             const unsigned char *in, int in_len);

static _Thread_local EVP_CIPHER_CTX *used;

int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *cipher, unsigned char *out, int *out_len,
                             const unsigned char *in, int in_len)
{
    used = cipher;
    return __real_EVP_EncryptUpdate(cipher, out, out_len, in, in_len);
}

/* A cipher keeps its expanded key. Whoever finds the generator's must find one that never made a byte for
 * anybody: AES-256 under zeros, whose first block is known (FIPS 197's cipher, GCM's H for that key). */
static void random_leaves_no_key_in_its_cipher(sotto_test *t)
{
    static const uint8_t under_zeros[16] = {0xdc, 0x95, 0xc0, 0x78, 0xa2, 0x40, 0x89, 0x89,
                                            0xad, 0x48, 0xa2, 0x14, 0x92, 0x84, 0x20, 0x87};
    static const uint8_t zeros[16];
    static const size_t sizes[] = {16, 5000, 3000000}; /* buffered, streamed, in parts */
    uint8_t *made = sotto_arena_take(&t->arena, 3000000);

    CHECK(t, made != NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t first[16];
        int len = 0;

        sotto_random_forget(); /* so that the small one isn't served from what is left */
        used = NULL;
        CHECK_OK(t, sotto_random_bytes(made, sizes[i], &t->err));
        CHECK(t, used != NULL);
        CHECK(t, __real_EVP_EncryptUpdate(used, first, &len, zeros, sizeof first) == 1);
        CHECK_BYTES(t, under_zeros, first, sizeof first);
    }
}

/* A kernel that does not wipe pages in the child: the linker sends madvise() here. */
int __real_madvise(void *address, size_t len, int advice);
int __wrap_madvise(void *address, size_t len, int advice);

static atomic_bool old_kernel;

int __wrap_madvise(void *address, size_t len, int advice)
{
    return atomic_load(&old_kernel) ? -1 : __real_madvise(address, len, advice);
}

/* A new thread, so that its page is made under that kernel. */
static void *fork_on_an_old_kernel(void *differs)
{
    uint8_t before[SAMPLE], child[SAMPLE], parent[SAMPLE];

    *(bool *)differs = sotto_random_bytes(before, SAMPLE, NULL) == SOTTO_OK &&
                       sample_in_child(plain_fork, child) &&
                       sotto_random_bytes(parent, SAMPLE, NULL) == SOTTO_OK &&
                       memcmp(child, parent, SAMPLE) != 0;
    return NULL;
}

static void random_in_a_forked_child_goes_its_own_way_on_an_old_kernel(sotto_test *t)
{
    bool differs = false;
    pthread_t thread;

    atomic_store(&old_kernel, true);
    CHECK(t, pthread_create(&thread, NULL, fork_on_an_old_kernel, &differs) == 0);
    CHECK(t, pthread_join(thread, NULL) == 0);
    atomic_store(&old_kernel, false);
    CHECK(t, differs);
}

static void *sample_in_thread(void *out)
{
    return sotto_random_bytes(out, SAMPLE, NULL) == SOTTO_OK ? out : NULL;
}

/* The linker sends the library's munmap() here, so that we see a page at the moment it goes back. */
int __real_munmap(void *address, size_t len);
int __wrap_munmap(void *address, size_t len);

static atomic_int clean_pages;
static atomic_int dirty_pages;

int __wrap_munmap(void *address, size_t len)
{
    atomic_fetch_add(is_zero(address, len) ? &clean_pages : &dirty_pages, 1);
    return __real_munmap(address, len);
}

static void random_wipes_its_page_when_the_thread_ends(sotto_test *t)
{
    uint8_t made[SAMPLE];
    pthread_t thread;
    int clean = atomic_load(&clean_pages);

    CHECK(t, pthread_create(&thread, NULL, sample_in_thread, made) == 0);
    CHECK(t, pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(t, clean + 1, atomic_load(&clean_pages));
    CHECK_EQUAL(t, 0, atomic_load(&dirty_pages));
}

static void random_differs_between_threads(sotto_test *t)
{
    enum { THREADS = 8 };
    uint8_t made[THREADS][SAMPLE];
    pthread_t threads[THREADS];
    uint64_t before = sotto_random_seedings();

    for (size_t i = 0; i < THREADS; i++)
        CHECK(t, pthread_create(&threads[i], NULL, sample_in_thread, made[i]) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        CHECK(t, pthread_join(threads[i], &result) == 0);
        CHECK(t, result == made[i]);
    }
    CHECK_EQUAL(t, THREADS, sotto_random_seedings() - before);
    for (size_t i = 0; i < THREADS; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(t, memcmp(made[i], made[k], SAMPLE) != 0);
}

static void check_refused(sotto_test *t, uint8_t *out, size_t len)
{
    memset(out, 0xaa, len);
    CHECK_STATUS(t, SOTTO_IO, sotto_random_bytes(out, len, &t->err));
    CHECK_REASON(t, "random: the kernel gave no seed");
    CHECK(t, is_zero(out, len));
}

static void random_without_a_seed_gives_no_bytes(sotto_test *t)
{
    uint8_t small[SAMPLE], large[5000];

    sotto_random_forget();
    sotto_random_fail_seeding(true);
    check_refused(t, small, sizeof small);
    check_refused(t, large, sizeof large);
    check_refused(t, small, sizeof small); /* it does not get over it by itself */
    sotto_random_fail_seeding(false);
    CHECK_OK(t, sotto_random_bytes(small, sizeof small, &t->err));
    CHECK(t, !is_zero(small, sizeof small));
}

static void random_seeds_again_after_a_while(sotto_test *t)
{
    const uint64_t minute = UINT64_C(60) * 1000000000U;
    uint8_t out[16]; /* small enough to come from the buffer */

    CHECK_OK(t, sotto_random_bytes(out, sizeof out, &t->err));
    sotto_random_forget();
    CHECK_OK(t, sotto_random_bytes(out, sizeof out, &t->err));
    uint64_t before = sotto_random_seedings();
    sotto_random_age(3 * minute);
    CHECK_OK(t, sotto_random_bytes(out, sizeof out, &t->err));
    CHECK_EQUAL(t, before, sotto_random_seedings());
    sotto_random_age(3 * minute);
    CHECK_OK(t, sotto_random_bytes(out, sizeof out, &t->err));
    CHECK_EQUAL(t, before + 1, sotto_random_seedings());
}

static void random_seeds_again_after_many_bytes_or_fails(sotto_test *t)
{
    enum { PART = 8 << 20, PARTS = 8 };
    uint8_t *out = sotto_arena_take(&t->arena, PART);

    CHECK(t, out != NULL);
    sotto_random_forget();
    CHECK_OK(t, sotto_random_bytes(out, 1, &t->err));
    uint64_t before = sotto_random_seedings();
    for (int i = 0; i < PARTS; i++)
        CHECK_OK(t, sotto_random_bytes(out, PART, &t->err));
    CHECK_OK(t, sotto_random_bytes(out, PART, &t->err));
    CHECK_EQUAL(t, 1, sotto_random_seedings() - before);

    sotto_random_fail_seeding(true);
    sotto_status status = SOTTO_OK;
    for (int i = 0; i <= PARTS && status == SOTTO_OK; i++)
        status = sotto_random_bytes(out, PART, NULL);
    sotto_random_fail_seeding(false);
    CHECK_EQUAL(t, SOTTO_IO, status);
    CHECK(t, is_zero(out, PART)); /* also the part that was made before the failure */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(random_fills_every_size),
        CASE(random_never_repeats_a_sample),
        CASE(random_bits_are_balanced),
        CASE(random_in_a_forked_child_goes_its_own_way),
        CASE(random_in_a_forked_child_goes_its_own_way_on_an_old_kernel),
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && defined(SYS_fork)
        CASE(random_in_a_child_forked_behind_our_back_goes_its_own_way),
#endif
        CASE(random_forgets_what_it_gave),
        CASE(random_leaves_no_key_in_its_cipher),
        CASE(random_wipes_its_page_when_the_thread_ends),
        CASE(random_differs_between_threads),
        CASE(random_seeds_again_after_a_while),
        CASE(random_without_a_seed_gives_no_bytes),
        CASE(random_seeds_again_after_many_bytes_or_fails),
    };
    return RUN_TESTS(argc, argv, cases);
}
