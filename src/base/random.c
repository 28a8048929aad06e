/* Fast key erasure: from the key, AES-256-CTR makes a stream; its first 32 bytes become the next key and
 * the rest is output. The old key is gone before anything is handed out. Small requests are served from
 * a buffer and wiped from it; large ones are streamed straight into the caller's memory. */
#define _DEFAULT_SOURCE

#include "base/random.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <openssl/evp.h>

#include "base/clock.h"

enum {
    KEY_SIZE = 32,
    PAGE = 4096,
    BUFFER = 3968,        /* the rest of the page, in whole AES blocks         */
    DIRECT = 1024,        /* from here on a request does not pass the buffer  */
    LONGEST = 1024 * 1024 /* bytes that one key may make                      */
};

static const uint64_t RESEED_BYTES = (uint64_t)64 << 20;
static const uint64_t RESEED_NANOSECONDS = (uint64_t)300 * 1000000000U;

/* Lives in a page of its own that the kernel zeroes in a forked child and leaves out of core dumps. A
 * zeroed page is a generator without a seed. */
typedef struct generator {
    uint8_t key[KEY_SIZE];
    uint64_t seeded; /* 0: no seed yet              */
    uint64_t forks;  /* value of fork_count, then   */
    uint64_t since;  /* monotonic time of the seed  */
    uint64_t made;   /* bytes made from this seed   */
    size_t at;       /* start of what is still left */
    uint8_t buffer[BUFFER];
} generator;

_Static_assert(sizeof(generator) <= PAGE, "a generator must fit its page");

typedef struct thread_state {
    generator *gen;
    EVP_CIPHER_CTX *cipher; /* holds no key between calls */
} thread_state;

static _Thread_local thread_state mine;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit_key;
static bool at_exit_ready;
static _Atomic uint64_t fork_count;
static _Atomic uint64_t seedings;
static atomic_bool told_to_fail;

static void drop_thread_state(void *unused)
{
    (void)unused;
    if (mine.gen) {
        sotto_wipe(mine.gen, PAGE);
        (void)munmap(mine.gen, PAGE);
    }
    EVP_CIPHER_CTX_free(mine.cipher);
    mine = (thread_state){NULL, NULL};
}

static void note_fork(void)
{
    atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
}

static void prepare_process(void)
{
    /* Old kernels don't wipe pages in the child; the count of forks serves there. */
    int failed = pthread_atfork(NULL, NULL, note_fork);

    at_exit_ready = pthread_key_create(&at_exit_key, drop_thread_state) == 0 && !failed;
}

static EVP_CIPHER_CTX *new_cipher(void)
{
    static const uint8_t zeros[KEY_SIZE];
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();

    if (cipher && EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), NULL, zeros, zeros) == 1)
        return cipher;
    EVP_CIPHER_CTX_free(cipher);
    return NULL;
}

static sotto_status open_thread_state(sotto_err *err)
{
    if (mine.gen)
        return SOTTO_OK;
    (void)pthread_once(&once, prepare_process);
    /* The value only has to be non-NULL, so that the destructor runs when the thread ends. */
    if (!at_exit_ready || pthread_setspecific(at_exit_key, &mine) != 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "random: no room for this thread's generator");

    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return sotto_fail(err, SOTTO_NO_MEMORY, "random: no room for this thread's generator");
#ifdef MADV_WIPEONFORK
    (void)madvise(page, PAGE, MADV_WIPEONFORK);
#endif
#ifdef MADV_DONTDUMP
    (void)madvise(page, PAGE, MADV_DONTDUMP);
#endif
    mine.gen = page;
    mine.cipher = new_cipher();
    if (mine.cipher)
        return SOTTO_OK;
    drop_thread_state(NULL);
    return sotto_fail(err, SOTTO_NO_MEMORY, "random: no cipher");
}

static bool get_seed(uint8_t seed[KEY_SIZE])
{
    size_t got = 0;

    if (atomic_load_explicit(&told_to_fail, memory_order_relaxed))
        return false;
    while (got < KEY_SIZE) {
        ssize_t n = getrandom(seed + got, KEY_SIZE - got, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static sotto_status reseed(generator *gen, sotto_err *err)
{
    uint8_t seed[KEY_SIZE];

    if (!get_seed(seed)) {
        /* Forget the old key too: a generator whose seed is overdue yields nothing more. */
        sotto_wipe(gen, sizeof *gen);
        sotto_wipe(seed, sizeof seed);
        return sotto_fail(err, SOTTO_IO, "random: the kernel gave no seed");
    }
    /* Added to the old key: neither source alone has to be good. */
    for (size_t i = 0; i < KEY_SIZE; i++)
        gen->key[i] ^= seed[i];
    sotto_wipe(seed, sizeof seed);
    sotto_wipe(gen->buffer, sizeof gen->buffer);
    gen->at = BUFFER;
    gen->made = 0;
    gen->seeded = 1;
    gen->since = sotto_clock_monotonic(&sotto_clock_system);
    gen->forks = atomic_load_explicit(&fork_count, memory_order_relaxed);
    atomic_fetch_add_explicit(&seedings, 1, memory_order_relaxed);
    return SOTTO_OK;
}

static bool is_ours(const generator *gen)
{
    return gen->seeded && gen->forks == atomic_load_explicit(&fork_count, memory_order_relaxed);
}

static bool is_worn(const generator *gen)
{
    return gen->made >= RESEED_BYTES ||
           sotto_clock_monotonic(&sotto_clock_system) - gen->since >= RESEED_NANOSECONDS;
}

/* Makes len bytes, at most LONGEST, and replaces the key. */
static bool stream(generator *gen, EVP_CIPHER_CTX *cipher, uint8_t *out, size_t len)
{
    static const uint8_t zeros[KEY_SIZE];
    uint8_t next[KEY_SIZE] = {0};
    int n = 0;

    memset(out, 0, len);
    bool made = EVP_EncryptInit_ex(cipher, NULL, NULL, gen->key, zeros) == 1 &&
                EVP_EncryptUpdate(cipher, next, &n, next, KEY_SIZE) == 1 && n == KEY_SIZE &&
                EVP_EncryptUpdate(cipher, out, &n, out, (int)len) == 1 && (size_t)n == len;
    /* The cipher keeps its expanded key, so a public one takes its place. */
    made = EVP_EncryptInit_ex(cipher, NULL, NULL, zeros, zeros) == 1 && made;
    if (made) {
        memcpy(gen->key, next, KEY_SIZE);
        gen->made += len;
    }
    sotto_wipe(next, sizeof next);
    return made;
}

static sotto_status make(generator *gen, uint8_t *out, size_t len, sotto_err *err)
{
    if (is_worn(gen))
        SOTTO_TRY(reseed(gen, err));
    if (stream(gen, mine.cipher, out, len))
        return SOTTO_OK;
    sotto_wipe(gen, sizeof *gen);
    return sotto_fail(err, SOTTO_IO, "random: the cipher failed");
}

static sotto_status serve_small(generator *gen, uint8_t *out, size_t len, sotto_err *err)
{
    if (len > BUFFER - gen->at) {
        SOTTO_TRY(make(gen, gen->buffer, BUFFER, err));
        gen->at = 0;
    }
    memcpy(out, gen->buffer + gen->at, len);
    sotto_wipe(gen->buffer + gen->at, len);
    gen->at += len;
    return SOTTO_OK;
}

static sotto_status fill(uint8_t *out, size_t len, sotto_err *err)
{
    SOTTO_TRY(open_thread_state(err));
    /* Also for small requests: what waits in the buffer of a machine that was asleep, or copied while it
     * ran, is as old as its key. */
    if (!is_ours(mine.gen) || is_worn(mine.gen))
        SOTTO_TRY(reseed(mine.gen, err));
    if (len < DIRECT)
        return serve_small(mine.gen, out, len, err);
    while (len) {
        size_t part = len < LONGEST ? len : LONGEST;

        SOTTO_TRY(make(mine.gen, out, part, err));
        out += part;
        len -= part;
    }
    return SOTTO_OK;
}

sotto_status sotto_random_bytes(void *out, size_t len, sotto_err *err)
{
    sotto_status status = len ? fill(out, len, err) : SOTTO_OK;

    if (status != SOTTO_OK)
        sotto_wipe(out, len);
    return status;
}

void sotto_random_fail_seeding(bool fail)
{
    atomic_store(&told_to_fail, fail);
}

void sotto_random_forget(void)
{
    if (mine.gen)
        sotto_wipe(mine.gen, sizeof *mine.gen);
}

void sotto_random_age(uint64_t nanoseconds)
{
    if (mine.gen)
        mine.gen->since -= nanoseconds;
}

bool sotto_random_remembers(const void *bytes, size_t len)
{
    const uint8_t *page = (const uint8_t *)mine.gen;

    for (size_t at = 0; page && at + len <= PAGE; at++)
        if (memcmp(page + at, bytes, len) == 0)
            return true;
    return false;
}

uint64_t sotto_random_seedings(void)
{
    return atomic_load(&seedings);
}
