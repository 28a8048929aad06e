/* fleet DIRECTORY DEVICES SECONDS SEED FIRST_ADDRESS: many real devices of libsotto-device, in memory, each with an address of its own.
 *
 * Reads recipe.json, policy.json and parties.json in DIRECTORY. Each device that is drawn makes its report and waits until its moment
 * within SECONDS. It sends the report as the parties file says, from its own address, over a connection of its own. Prints a line for
 * each report: the device's number, its address, the report's id, and when it was sent and answered (seconds since 1970). The last
 * field is whether the device knows that it was taken. That is the truth which observers look for; nobody but the fleet has it. */
#define _DEFAULT_SOURCE
#include "base/hex.h"
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

enum { THREADS = 48, ANSWER = 1 << 16, FILE_MAX_BYTES = 1 << 20, TRIES = 3 };

typedef struct fleet {
    sotto_bytes recipe, policy, parties;
    uint32_t first; /* address, in the machine's order */
    size_t count;
    size_t *order;   /* device numbers, by the moment at which they send */
    double *moments; /* in that order, seconds after `began`             */
    double began;
    atomic_size_t next, failed;
    pthread_mutex_t lock; /* of standard output */
} fleet;

/* One device while it lives. */
typedef struct member {
    const fleet *f;
    struct in_addr address;
    char report[2 * SOTTO_REPORT_ID_SIZE + 1];
    bool may_send;
    double sent, answered;
} member;

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

static sotto_status live(fleet *f, sotto_device *device, member *m, size_t place, sotto_err *err)
{
    static const char *const ways[] = {"walking", "bicycle", "bus", "train", "car"};
    const size_t number = f->order[place];
    const char *way = ways[number % 5];
    const sotto_value value = {SOTTO_TYPE_TEXT, {.text = sotto_bytes_of(way, strlen(way))}};
    const sotto_conditions good = {true, true, true};
    sotto_event event = {
        .stream = "commutes", .time = (int64_t)time(NULL), .values = &value, .value_count = 1};
    sotto_tick tick;

    SOTTO_TRY(sotto_random_bytes(event.id, sizeof event.id, err));
    SOTTO_TRY(sotto_device_donate(device, &event, 1, NULL, err));
    SOTTO_TRY(sotto_device_consent(device, true, err));
    SOTTO_TRY(sotto_device_offer(device, f->recipe, err));
    SOTTO_TRY(sotto_device_tick(device, &tick, good, err));
    if (tick.waiting == 0)
        return SOTTO_OK; /* it was not drawn */
    SOTTO_TRY(sotto_outbox_send(device->ledger,
                                &(sotto_transport){.ready = note_report, .context = m},
                                (int64_t)time(NULL), NULL, err));
    sleep_until(f->began + f->moments[place]);
    m->may_send = true;
    for (int i = 0; i < TRIES && tick.waiting > 0; i++)
        SOTTO_TRY(sotto_device_tick(device, &tick, good, err));
    print_truth(f, m, number, tick.waiting == 0);
    return SOTTO_OK;
}

static sotto_status run_device(fleet *f, sotto_device_shared *shared, size_t place, sotto_err *err)
{
    static const sotto_field field = {"way", SOTTO_TYPE_TEXT};
    static const sotto_stream stream = {"commutes", &field, 1, 86400, 100};
    member m = {.f = f, .address = {htonl(f->first + (uint32_t)f->order[place])}};
    sotto_device *device;

    SOTTO_TRY(
        sotto_device_open(&device,
                          &(sotto_device_options){.policy = f->policy,
                                                  .parties = f->parties,
                                                  .streams = &stream,
                                                  .stream_count = 1,
                                                  .host = {.exchange = exchange, .context = &m},
                                                  .shared = shared},
                          err));
    const sotto_status status = live(f, device, &m, place, err);
    sotto_device_close(device);
    return status;
}

static void *work(void *context)
{
    fleet *f = context;
    sotto_device_shared *shared = sotto_device_shared_new();
    size_t place;

    while (shared && (place = atomic_fetch_add(&f->next, 1)) < f->count) {
        sotto_err err = {0};

        if (run_device(f, shared, place, &err) != SOTTO_OK) {
            (void)fprintf(stderr, "fleet: device %zu: %s\n", f->order[place], err.reason);
            atomic_fetch_add(&f->failed, 1);
        }
    }
    sotto_device_shared_free(shared);
    return NULL;
}

/* ---- everybody ----------------------------------------------------------------------------------------------------- */

static sotto_bytes read_file(const char *directory, const char *name)
{
    char path[4096];
    uint8_t *data = malloc(FILE_MAX_BYTES);
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "rb");
    if (!data || !file) {
        perror(path);
        exit(1);
    }
    const size_t len = fread(data, 1, FILE_MAX_BYTES, file);
    (void)fclose(file);
    return sotto_bytes_of(data, len);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Which device sends when: a fixed draw for each seed. */
static void draw(fleet *f, double seconds, unsigned seed)
{
    srandom(seed);
    for (size_t i = 0; i < f->count; i++) {
        f->order[i] = i;
        f->moments[i] = seconds * (double)random() / (double)RAND_MAX;
    }
    qsort(f->moments, f->count, sizeof *f->moments, by_size);
    for (size_t left = f->count; left > 1; left--) {
        const size_t other = (size_t)random() % left, last = f->order[left - 1];

        f->order[left - 1] = f->order[other];
        f->order[other] = last;
    }
}

int main(int argc, char **argv)
{
    static fleet f;
    pthread_t threads[THREADS];
    struct in_addr first;
    size_t started = 0;

    if (argc != 6 || inet_pton(AF_INET, argv[5], &first) != 1 ||
        sotto_device_count_memory(NULL) != SOTTO_OK) {
        (void)fprintf(stderr, "usage: fleet DIRECTORY DEVICES SECONDS SEED FIRST_ADDRESS\n");
        return 2;
    }
    f.first = ntohl(first.s_addr);
    f.count = strtoul(argv[2], NULL, 10);
    f.recipe = read_file(argv[1], "recipe.json");
    f.policy = read_file(argv[1], "policy.json");
    f.parties = read_file(argv[1], "parties.json");
    f.order = calloc(f.count + 1, sizeof *f.order);
    f.moments = calloc(f.count + 1, sizeof *f.moments);
    if (!f.order || !f.moments)
        return 1;
    draw(&f, strtod(argv[3], NULL), (unsigned)strtoul(argv[4], NULL, 10));
    (void)pthread_mutex_init(&f.lock, NULL);
    f.began = now() + 2; /* the first devices are made meanwhile */
    while (started < THREADS && pthread_create(&threads[started], NULL, work, &f) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    free(f.order);
    free(f.moments);
    return atomic_load(&f.failed) > 0 || started == 0;
}
