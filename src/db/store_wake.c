/* Channels: counters that only grow, so that a wake-up between looking and waiting is not lost. */
#define _POSIX_C_SOURCE 200809L

#include "base/clock.h"
#include "base/log.h"
#include "base/wait.h"
#include "db/store_internal.h"

#include <string.h>
#include <time.h>

bool sotto_channels_init(sotto_channels *channels)
{
    if (pthread_mutex_init(&channels->lock, NULL) != 0)
        return false;
    if (sotto_wait_init(&channels->woken))
        return true;
    (void)pthread_mutex_destroy(&channels->lock);
    return false;
}

void sotto_channels_clear(sotto_channels *channels)
{
    (void)pthread_cond_destroy(&channels->woken);
    (void)pthread_mutex_destroy(&channels->lock);
}

void sotto_channels_end(sotto_channels *channels)
{
    (void)pthread_mutex_lock(&channels->lock);
    channels->closing = true;
    (void)pthread_cond_broadcast(&channels->woken);
    (void)pthread_mutex_unlock(&channels->lock);
}

/* Under the lock. Names beyond the table share its last place: they are hints, and one too many does no harm. */
static size_t place(sotto_channels *channels, const char *name)
{
    for (size_t i = 0; i < channels->used; i++) {
        if (strcmp(channels->names[i], name) == 0)
            return i;
    }
    if (channels->used == SOTTO_DB_CHANNELS - 1 || strlen(name) >= SOTTO_DB_CHANNEL_NAME)
        return SOTTO_DB_CHANNELS - 1;
    memcpy(channels->names[channels->used], name, strlen(name) + 1);
    return channels->used++;
}

uint32_t sotto_channels_bits(sotto_channels *channels, const sotto_conn *conn)
{
    uint32_t bits = 0;

    if (conn->wake_count == 0)
        return 0;
    (void)pthread_mutex_lock(&channels->lock);
    for (size_t i = 0; i < conn->wake_count; i++)
        bits |= (uint32_t)1 << place(channels, conn->wakes[i]);
    (void)pthread_mutex_unlock(&channels->lock);
    return bits;
}

void sotto_channels_wake(sotto_channels *channels, uint32_t bits)
{
    if (bits == 0)
        return;
    (void)pthread_mutex_lock(&channels->lock);
    for (size_t i = 0; i < SOTTO_DB_CHANNELS; i++)
        channels->counts[i] += bits >> i & 1;
    (void)pthread_cond_broadcast(&channels->woken);
    (void)pthread_mutex_unlock(&channels->lock);
}

static bool is_channel(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return len > 0 && len < SOTTO_DB_CHANNEL_NAME && name[len] == 0;
}

sotto_status sotto_tx_wake(sotto_tx *tx, const char *channel, sotto_err *err)
{
    sotto_conn *conn = sotto_tx_conn(tx);

    for (size_t i = 0; i < conn->wake_count; i++) {
        if (strcmp(conn->wakes[i], channel) == 0)
            return SOTTO_OK;
    }
    if (!is_channel(channel) || conn->wake_count == SOTTO_TX_WAKES)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG,
                               "a channel too many, or not a channel: %.40s", channel);
    memcpy(conn->wakes[conn->wake_count++], channel, strlen(channel) + 1);
    return conn->driver->notify ? conn->driver->notify(conn, channel, err) : SOTTO_OK;
}

uint64_t sotto_db_woken(sotto_db *db, const char *channel)
{
    (void)pthread_mutex_lock(&db->channels.lock);
    uint64_t count = db->channels.counts[place(&db->channels, channel)];
    (void)pthread_mutex_unlock(&db->channels.lock);
    return count;
}

bool sotto_db_wait(sotto_db *db, const char *channel, uint64_t seen, unsigned timeout_ms)
{
    sotto_channels *channels = &db->channels;
    const struct timespec until = sotto_wait_until(timeout_ms);
    int code = 0;

    (void)pthread_mutex_lock(&channels->lock);
    size_t at = place(channels, channel);
    while (channels->counts[at] <= seen && !channels->closing && code == 0)
        code = pthread_cond_timedwait(&channels->woken, &channels->lock, &until);
    bool woken = channels->counts[at] > seen;
    (void)pthread_mutex_unlock(&channels->lock);
    return woken;
}

/* A listener has just begun to listen: what was sent before is lost to it, so everybody looks. */
static void wake_all(sotto_channels *channels)
{
    sotto_channels_wake(channels, ((uint32_t)1 << SOTTO_DB_CHANNELS) - 1);
}

static void wake_by_name(void *context, const char *channel)
{
    sotto_channels *channels = &((sotto_db *)context)->channels;

    if (!channel) {
        wake_all(channels);
        return;
    }
    (void)pthread_mutex_lock(&channels->lock);
    uint32_t bits = (uint32_t)1 << place(channels, channel);
    (void)pthread_mutex_unlock(&channels->lock);
    sotto_channels_wake(channels, bits);
}

void sotto_db_wake(sotto_db *db, const char *channel)
{
    wake_by_name(db, channel);
}

static bool told_to_stop(sotto_db *db)
{
    (void)pthread_mutex_lock(&db->channels.lock);
    bool closing = db->channels.closing;
    (void)pthread_mutex_unlock(&db->channels.lock);
    return closing;
}

typedef struct listener {
    sotto_db *db;
    bool lost;      /* and said so: the log tells of changes, not of every try */
    uint64_t since; /* by the monotonic clock */
} listener;

static uint64_t monotonic(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

static void hear(void *context, const char *channel)
{
    listener *l = context;

    if (!channel && l->lost) {
        sotto_log(l->db->options.log, SOTTO_LOG_INFO, "db.listener_back",
                  sotto_log_uint("milliseconds", (monotonic() - l->since) / 1000000));
        l->lost = false;
    }
    wake_by_name(l->db, channel);
}

void *sotto_listener_main(void *context)
{
    sotto_db *db = context;
    listener l = {.db = db};
    sotto_err err = {0};

    while (!told_to_stop(db)) {
        if (db->driver->listen(db->listener_conn, db->stop[0], hear, &l, &err) == SOTTO_OK)
            break;
        if (!l.lost) {
            sotto_log(db->options.log, SOTTO_LOG_WARNING, "db.listener_lost",
                      sotto_log_text("reason", err.reason));
            l.lost = true;
            l.since = monotonic();
        }
        err = (sotto_err){0};
        /* Waiting on a channel that nobody wakes but the end is a sleep that the end cuts short. */
        (void)sotto_db_wait(db, "listener", UINT64_MAX, 500);
        sotto_conn_refresh(db->listener_conn);
        (void)db->driver->reconnect(db->listener_conn, NULL); /* if it fails, listening fails too */
    }
    return NULL;
}
