/* fleet DIRECTORY DEVICES SEED FIRST_ADDRESS FETCH_SECONDS ANSWERS_AT ANSWER_SECONDS REST
 * fleet DEVICES SEED
 *
 * Many real devices of libsotto-device, in memory, each with an address of its own. Reads policy.json and parties.json in DIRECTORY, or
 * parties-0.json, parties-1.json, ... where there are such files: each device then has the next of them.
 *
 * A device fetches the log's feed through the relay at a moment within FETCH_SECONDS, and learns of recipe and keys by it. It asks the attester for its
 * token at the time that it draws itself. At a moment of its own within ANSWER_SECONDS after ANSWERS_AT it makes its report, if it is drawn, and sends it
 * as the parties file says. Each request is sent from the device's address, over a connection of its own. A REST above 0 makes devices careless: they
 * ask for the token when they answer. Their clock is so many seconds ahead then, so that the token seems to have rested. Of a large fleet a
 * few devices may be silent since their token did not come in time; standard error names them.
 *
 * Prints a line for each report: the device's number, its address, the report's id, and when it was sent and answered (seconds since 1970). The last
 * field is whether the device knows that it was taken. That is the truth which observers look for; nobody but the fleet has it. With two arguments it prints
 * the devices' public keys of enrolment, a line each. */
#define _DEFAULT_SOURCE
#include "base/hex.h"
#include "crypto/hash.h"
#include "device/device_internal.h"
#include "device/ledger/outbox.h"
#include "sotto/random.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 48,
    ANSWER = 1 << 20,
    FILE_MAX_BYTES = 1 << 20,
    PARTIES_MOST = 64,
    TRIES = 60, /* a second apart, or more */
    /* Of a fleet larger than this, one device in so many may be silent since its token did not come in time. */
    LARGE_FLEET = 1000,
    LATE_ONE_IN = 50,
    NAME = 64
};

typedef struct member member;

typedef struct fleet {
    sotto_bytes policy, parties[PARTIES_MOST];
    size_t parties_count;
    uint32_t first; /* address, in the machine's order */
    unsigned seed;
    size_t count;
    member *members;
    double answers_at;
    int64_t rest; /* 0: devices keep to the times that they draw */
    atomic_size_t next, failed, late;
    pthread_mutex_t lock; /* of standard output */
} fleet;

/* What a device does next, and when. */
typedef enum step { FETCH, ASK, REPLY, DONE } step;

/* One device while it lives. */
struct member {
    fleet *f;
    size_t number;
    sotto_device *device;
    step step;
    unsigned tries; /* of this step */
    double due;     /* seconds since 1970 */
    double reply;   /* when it answers    */
    double part;    /* of the second in which it asks: ticks are the host's */
    int64_t ahead;  /* its clock          */
    struct in_addr address;
    char report[2 * SOTTO_REPORT_ID_SIZE + 1];
    bool may_send, late;
    double sent, answered;
};

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- HTTP, from one address ------------------------------------------------------------------------------------------- */

static int connect_from(struct in_addr from, const char *host, unsigned port)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = from};
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const struct timeval patience = {60, 0};
    const int s = socket(AF_INET, SOCK_STREAM, 0);

    if (s < 0)
        return -1;
    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (inet_pton(AF_INET, host, &peer.sin_addr) == 1 &&
        bind(s, (const struct sockaddr *)&own, sizeof own) == 0 &&
        connect(s, (const struct sockaddr *)&peer, sizeof peer) == 0)
        return s;
    (void)close(s);
    return -1;
}

static bool write_all(int s, const void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = write(s, (const char *)data + done, len - done);

        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The whole request in one write, so that its length is what the network sees. */
static bool send_request(int s, const sotto_exchange *e, const char *host, const char *path,
                         const uint8_t *body)
{
    char *text = malloc((size_t)e->body_length + 1024);
    bool good = text != NULL;

    if (good) {
        const int len =
            snprintf(text, 1024,
                     "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n"
                     "Content-Length: %llu\r\nConnection: close\r\n\r\n",
                     e->method, path, host, e->media_type, (unsigned long long)e->body_length);

        memcpy(text + len, body, (size_t)e->body_length);
        good = write_all(s, text, (size_t)len + (size_t)e->body_length);
    }
    free(text);
    return good;
}

static bool field_of(char *out, size_t size, const char *head, const char *name)
{
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        const size_t len = strlen(name);

        if (strncasecmp(line + 2, name, len) == 0 && line[2 + len] == ':') {
            const char *value = line + 3 + len + strspn(line + 3 + len, " ");

            (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\r\n"), value);
            return true;
        }
    }
    return false;
}

static sotto_status hand_over(sotto_exchange *e, char *answer, size_t len)
{
    char *body = strstr(answer, "\r\n\r\n");
    char type[128], retry[32];
    unsigned status = 0;

    if (!body || sscanf(answer, "HTTP/1.1 %u", &status) != 1)
        return SOTTO_IO;
    *body = 0;
    body += 4;
    const sotto_exchange_head head = {
        .size = sizeof head,
        .status = status,
        .media_type = field_of(type, sizeof type, answer, "content-type") ? type : NULL,
        .retry_after = field_of(retry, sizeof retry, answer, "retry-after") ? retry : NULL};
    SOTTO_TRY(e->begin(e, &head));
    return e->take(e, (const uint8_t *)body, len - (size_t)(body - answer));
}

static sotto_status carry(member *m, sotto_exchange *e, const uint8_t *body)
{
    char host[64], path[256] = "/";
    char *answer = calloc(1, ANSWER + 1);
    unsigned port = 80;
    size_t len = 0;
    sotto_status status = SOTTO_IO;
    int s = -1;

    if (answer && sscanf(e->url, "http://%63[^:/]:%u%255s", host, &port, path) >= 2)
        s = connect_from(m->address, host, port);
    m->sent = now();
    if (s >= 0 && send_request(s, e, host, path, body)) {
        ssize_t n;

        while (len < ANSWER && (n = read(s, answer + len, ANSWER - len)) > 0)
            len += (size_t)n;
        m->answered = now();
        status = hand_over(e, answer, len);
    }
    if (s >= 0)
        (void)close(s);
    free(answer);
    return status;
}

/* Until its moment has come, the host has no network. */
static sotto_status exchange(void *context, sotto_exchange *e)
{
    member *m = context;
    uint8_t *body = m->may_send ? malloc((size_t)e->body_length + 1) : NULL;
    sotto_status status = SOTTO_AGAIN;
    size_t len = 1;

    for (size_t at = 0; body && at < e->body_length && len > 0; at += len)
        if (e->read(e, at, body + at, (size_t)e->body_length - at, &len) != SOTTO_OK)
            len = 0;
    if (body)
        status = len > 0 ? carry(m, e, body) : SOTTO_IO;
    free(body);
    return status;
}

/* ---- one device ---------------------------------------------------------------------------------------------------- */

static bool note_report(void *context, const sotto_report *report)
{
    member *m = context;

    sotto_hex_encode(m->report, sotto_bytes_of(report->id, sizeof report->id));
    return false; /* it waits on */
}

static void sleep_until(double moment)
{
    const double left = moment - now();

    if (left > 0)
        (void)nanosleep(
            &(struct timespec){(time_t)left, (long)((left - (double)(time_t)left) * 1e9)}, NULL);
}

static void print_truth(fleet *f, const member *m, size_t number, bool delivered)
{
    char address[INET_ADDRSTRLEN] = "";

    (void)inet_ntop(AF_INET, &m->address, address, sizeof address);
    (void)pthread_mutex_lock(&f->lock);
    (void)printf("%zu,%s,%s,%.6f,%.6f,%d\n", number, address, m->report, m->sent, m->answered,
                 delivered);
    (void)pthread_mutex_unlock(&f->lock);
}

static sotto_status tick(member *m, sotto_tick *out, sotto_err *err)
{
    return sotto_device_tick(m->device, out, (sotto_conditions){true, true, true}, err);
}

typedef struct token_search {
    double answers_at;
    sotto_token_line *least;
} token_search;

/* Its token, or its credentials of ARC: in which state the one is that is furthest behind, and until when it waits there. Of
 * two that are held, the later counts, and of two that are to be asked for, the earlier. Only the collection counts in which
 * the device answers: the list also has the key of a collection that was published too late, and may be over by now. */
static sotto_status note_token(void *context, const sotto_token_line *line, sotto_err *err)
{
    const token_search *search = context;
    sotto_token_line *least = search->least;
    const bool held = line->state == SOTTO_TOKEN_HELD;

    (void)err;
    if ((double)line->opens > search->answers_at || (double)line->closes <= search->answers_at)
        return SOTTO_OK;
    if (!least->state || line->state < least->state ||
        (line->state == least->state && (line->at > least->at) == held))
        *least = *line;
    return SOTTO_OK;
}

static sotto_status look(member *m, sotto_token_line *token, sotto_err *err)
{
    token_search search = {m->f->answers_at, token};

    *token = (sotto_token_line){0};
    return sotto_device_tokens(m->device, note_token, &search, err);
}

/* The same step once more, a second later, or when the token may be asked for again or used. */
static sotto_status again(member *m, const sotto_token_line *token, const char *what,
                          sotto_err *err)
{
    const double waits = (double)(token->at - m->ahead) + m->part, soon = now() + 1;

    m->due = waits > soon ? waits : soon;
    m->late = ++m->tries == TRIES;
    return m->late ? sotto_fail(err, SOTTO_IO, "%s", what) : SOTTO_OK;
}

static void go_on(member *m, step next, double due)
{
    m->step = next;
    m->due = due;
    m->tries = 0;
}

/* The feed brings the recipe and the issuer's keys; with the key the device draws when it will ask. */
static sotto_status fetch(member *m, sotto_err *err)
{
    sotto_token_line token;
    sotto_tick ignored;

    SOTTO_TRY(tick(m, &ignored, err));
    SOTTO_TRY(look(m, &token, err));
    if (!token.state)
        return sotto_fail(err, SOTTO_IO, "the feed brought no key");
    go_on(m, ASK, m->f->rest > 0 ? m->reply : (double)token.at + m->part);
    return SOTTO_OK;
}

static sotto_status ask(member *m, sotto_err *err)
{
    sotto_token_line token;
    sotto_tick ignored;

    SOTTO_TRY(tick(m, &ignored, err));
    SOTTO_TRY(look(m, &token, err));
    if (token.state > SOTTO_TOKEN_HELD)
        return sotto_fail(err, SOTTO_IO, "its token was refused");
    if (token.state != SOTTO_TOKEN_HELD)
        return again(m, &token, "no token came", err);
    m->ahead = m->f->rest;
    go_on(m, REPLY, m->reply);
    return SOTTO_OK;
}

/* Made while the host has no network, so that its id is known; then sent. */
static sotto_status reply(member *m, sotto_err *err)
{
    sotto_token_line token;
    sotto_tick out;

    SOTTO_TRY(look(m, &token, err));
    if (token.state == SOTTO_TOKEN_HELD && token.at > (int64_t)time(NULL) + m->ahead)
        return again(m, &token, "the token rests for too long", err);
    m->may_send = false;
    SOTTO_TRY(tick(m, &out, err));
    go_on(m, DONE, 0);
    if (out.waiting == 0)
        return SOTTO_OK; /* it was not drawn */
    SOTTO_TRY(sotto_outbox_send(m->device->ledger,
                                &(sotto_transport){.ready = note_report, .context = m},
                                (int64_t)time(NULL) + m->ahead, NULL, err));
    m->may_send = true;
    for (int i = 0; i < 3 && out.waiting > 0; i++)
        SOTTO_TRY(tick(m, &out, err));
    print_truth(m->f, m, m->number, out.waiting == 0);
    return SOTTO_OK;
}

/* ---- its life ------------------------------------------------------------------------------------------------------- */

static void enrolment_of(const fleet *f, size_t number, uint8_t seed[SOTTO_DEVICE_ENROLMENT])
{
    char text[NAME];
    const int len = snprintf(text, sizeof text, "fleet %u device %zu", f->seed, number);

    sotto_hash_once(seed, SOTTO_SHA256, sotto_bytes_of(text, (size_t)len));
}

static int64_t clock_of(void *context)
{
    return (int64_t)time(NULL) + ((const member *)context)->ahead;
}

static sotto_status begin(member *m, sotto_device_shared *shared, sotto_err *err)
{
    static const sotto_field field = {"way", SOTTO_TYPE_TEXT};
    static const sotto_stream stream = {"commutes", &field, 1, 86400, 100};
    static const char *const ways[] = {"walking", "bicycle", "bus", "train", "car"};
    const char *way = ways[m->number % 5];
    const sotto_value value = {SOTTO_TYPE_TEXT, {.text = sotto_bytes_of(way, strlen(way))}};
    sotto_event event = {
        .stream = "commutes", .time = (int64_t)time(NULL), .values = &value, .value_count = 1};
    const fleet *f = m->f;
    uint8_t enrolment[SOTTO_DEVICE_ENROLMENT];

    enrolment_of(f, m->number, enrolment);
    SOTTO_TRY(sotto_device_open(
        &m->device,
        &(sotto_device_options){.policy = f->policy,
                                .parties = f->parties[m->number % f->parties_count],
                                .streams = &stream,
                                .stream_count = 1,
                                .host = {.exchange = exchange, .clock = clock_of, .context = m},
                                .shared = shared,
                                .enrolment = enrolment},
        err));
    SOTTO_TRY(sotto_device_consent(m->device, true, err));
    SOTTO_TRY(sotto_random_bytes(event.id, sizeof event.id, err));
    m->may_send = true;
    return sotto_device_donate(m->device, &event, 1, NULL, err);
}

static sotto_status go(member *m, sotto_err *err)
{
    return m->step == FETCH ? fetch(m, err) : m->step == ASK ? ask(m, err) : reply(m, err);
}

/* A device ends with its last step, or with its first failure. One whose token did not come in time is silent, as it is
 * everywhere: that tells nothing about the others. */
static void live(member *m, sotto_device_shared *shared)
{
    sotto_err err = {0};
    sotto_status status = m->device ? SOTTO_OK : begin(m, shared, &err);

    if (status == SOTTO_OK)
        status = go(m, &err);
    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "fleet: device %zu: %s\n", m->number, err.reason);
        atomic_fetch_add(m->late ? &m->f->late : &m->f->failed, 1);
        m->step = DONE;
    }
    if (m->step == DONE) {
        sotto_device_close(m->device);
        m->device = NULL;
    }
}

/* Each thread has its devices from the beginning to the end: those that share what they read belong to one thread. */
static member *next_of(fleet *f, size_t thread)
{
    member *next = NULL;

    for (size_t i = thread; i < f->count; i += THREADS)
        if (f->members[i].step != DONE && (!next || f->members[i].due < next->due))
            next = &f->members[i];
    return next;
}

static void *work(void *context)
{
    fleet *f = context;
    const size_t thread = atomic_fetch_add(&f->next, 1);
    sotto_device_shared *shared = sotto_device_shared_new();
    member *m;

    while (shared && (m = next_of(f, thread)) != NULL) {
        sleep_until(m->due);
        live(m, shared);
    }
    sotto_device_shared_free(shared);
    return NULL;
}

/* ---- everybody ----------------------------------------------------------------------------------------------------- */

static bool read_file(sotto_bytes *out, const char *directory, const char *name)
{
    char path[4096];
    uint8_t *data = malloc(FILE_MAX_BYTES);
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "rb");
    if (!data || !file) {
        free(data);
        return false;
    }
    *out = sotto_bytes_of(data, fread(data, 1, FILE_MAX_BYTES, file));
    (void)fclose(file);
    return true;
}

static bool read_files(fleet *f, const char *directory)
{
    char name[NAME];
    bool more = true;

    while (more && f->parties_count < PARTIES_MOST) {
        (void)snprintf(name, sizeof name, "parties-%zu.json", f->parties_count);
        more = read_file(&f->parties[f->parties_count], directory, name);
        f->parties_count += more;
    }
    if (f->parties_count == 0)
        f->parties_count = read_file(&f->parties[0], directory, "parties.json");
    return f->parties_count > 0 && read_file(&f->policy, directory, "policy.json");
}

static double drawn(double seconds)
{
    return seconds * (double)random() / (double)RAND_MAX;
}

/* Which device does what when: a fixed draw for each seed. */
static void draw(fleet *f, double fetch_seconds, double reply_seconds)
{
    const double began = now() + 0.5;

    srandom(f->seed);
    for (size_t i = 0; i < f->count; i++) {
        member *m = &f->members[i];

        *m = (member){.f = f, .number = i, .address = {htonl(f->first + (uint32_t)i)}};
        m->due = began + drawn(fetch_seconds);
        m->reply = f->answers_at + drawn(reply_seconds);
        m->part = drawn(1);
    }
}

static int print_enrolments(const fleet *f)
{
    uint8_t seed[SOTTO_DEVICE_ENROLMENT], key[SOTTO_DEVICE_ENROLMENT];
    char hex[2 * sizeof key + 1];

    for (size_t i = 0; i < f->count; i++) {
        enrolment_of(f, i, seed);
        if (sotto_device_enrolment_key(key, seed, NULL) != SOTTO_OK)
            return 1;
        sotto_hex_encode(hex, sotto_bytes_of(key, sizeof key));
        (void)printf("%s\n", hex);
    }
    return 0;
}

static int run(fleet *f)
{
    pthread_t threads[THREADS];
    size_t started = 0;

    (void)pthread_mutex_init(&f->lock, NULL);
    while (started < THREADS && pthread_create(&threads[started], NULL, work, f) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    const size_t late = atomic_load(&f->late);
    const size_t allowed = f->count > LARGE_FLEET ? f->count / LATE_ONE_IN : 0;
    return atomic_load(&f->failed) > 0 || late > allowed || started < THREADS;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: fleet DIRECTORY DEVICES SEED FIRST_ADDRESS FETCH_SECONDS "
                          "ANSWERS_AT ANSWER_SECONDS REST\n       fleet DEVICES SEED\n");
    return 2;
}

int main(int argc, char **argv)
{
    static fleet f;
    struct in_addr first;

    if ((argc != 3 && argc != 9) || sotto_device_count_memory(NULL) != SOTTO_OK)
        return usage();
    const char *const *words = (const char *const *)argv + (argc == 9);
    f.count = strtoul(words[1], NULL, 10);
    f.seed = (unsigned)strtoul(words[2], NULL, 10);
    if (argc == 3)
        return print_enrolments(&f);
    if (inet_pton(AF_INET, words[3], &first) != 1 || !read_files(&f, argv[1]))
        return usage();
    f.first = ntohl(first.s_addr);
    f.answers_at = strtod(words[5], NULL);
    f.rest = strtol(words[7], NULL, 10);
    f.members = calloc(f.count + 1, sizeof *f.members);
    if (!f.members)
        return 1;
    draw(&f, strtod(words[4], NULL), strtod(words[6], NULL));
    const int code = run(&f);
    free(f.members);
    return code;
}
