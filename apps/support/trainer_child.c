#define _POSIX_C_SOURCE 200809L
#include "support/trainer_child.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "support/trainer_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct sotto_child_trainer {
    const char *const *command;
    unsigned seconds;
    pid_t pid; /* 0: not running */
    int end;   /* of a socket pair: a write to a trainer that ended raises no signal */
    char hello[SOTTO_TRAINER_HELLO];
    size_t hello_len;
};

static int64_t milliseconds(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- starting and ending --------------------------------------------------------------------------------------- */

/* dup2 onto itself does nothing: the descriptor would be closed as the trainer starts. */
static bool put_at(int end, int place)
{
    return end == place ? fcntl(end, F_SETFD, 0) == 0 : dup2(end, place) >= 0;
}

static void run(int end, const char *const *command)
{
    (void)setpgid(0, 0); /* so that what it starts ends with it */
    if (put_at(end, STDIN_FILENO) && put_at(end, STDOUT_FILENO)) {
        if (end > STDERR_FILENO)
            (void)close(end);
        (void)execvp(command[0], (char *const *)command);
    }
    _exit(127);
}

static sotto_status start(sotto_child_trainer *c, sotto_err *err)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return sotto_fail(err, SOTTO_IO, "trainer: no pipe: %s", strerror(errno));
    c->pid = fork();
    if (c->pid == 0)
        run(ends[1], c->command);
    (void)close(ends[1]);
    if (c->pid > 0)
        (void)setpgid(c->pid, c->pid); /* whoever comes first */
    if (c->pid < 0) {
        c->pid = 0;
        (void)close(ends[0]);
        return sotto_fail(err, SOTTO_IO, "trainer: it could not be started: %s", strerror(errno));
    }
    c->end = ends[0];
    c->hello_len = 0;
    return SOTTO_OK;
}

static void end_now(sotto_child_trainer *c)
{
    if (c->pid <= 0)
        return;
    (void)close(c->end);
    (void)kill(-c->pid, SIGKILL);
    (void)kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    c->pid = 0;
}

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static sotto_status check_time(const sotto_child_trainer *c, int64_t until, sotto_err *err)
{
    if (SOTTO_RULE(trainer_deadline) && milliseconds() >= until)
        return sotto_fail(err, SOTTO_STALE, "trainer: it took more than %u seconds", c->seconds);
    return SOTTO_OK;
}

static sotto_status wait_for(const sotto_child_trainer *c, short events, int64_t until,
                             sotto_err *err)
{
    struct pollfd fd = {.fd = c->end, .events = events};
    const int64_t left = until - milliseconds();

    if (poll(&fd, 1, left < 1000 && left > 0 ? (int)left : 1000) < 0 && errno != EINTR)
        return sotto_fail(err, SOTTO_IO, "trainer: %s", strerror(errno));
    return SOTTO_OK;
}

static sotto_status put(const sotto_child_trainer *c, sotto_bytes bytes, int64_t until,
                        sotto_err *err)
{
    while (bytes.len > 0) {
        SOTTO_TRY(check_time(c, until, err));
        const ssize_t sent = send(c->end, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent > 0)
            bytes = sotto_bytes_of(bytes.data + sent, bytes.len - (size_t)sent);
        else if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return sotto_fail(err, SOTTO_IO, "trainer: it ended");
        else
            SOTTO_TRY(wait_for(c, POLLOUT, until, err));
    }
    return SOTTO_OK;
}

static sotto_status get(const sotto_child_trainer *c, uint8_t *out, size_t len, int64_t until,
                        sotto_err *err)
{
    while (len > 0) {
        SOTTO_TRY(check_time(c, until, err));
        const ssize_t got = recv(c->end, out, len, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return sotto_fail(err, SOTTO_IO, "trainer: it ended, or could not be started");
        if (got < 0) {
            SOTTO_TRY(wait_for(c, POLLIN, until, err));
            continue;
        }
        out += got;
        len -= (size_t)got;
    }
    return SOTTO_OK;
}

static sotto_status get_frame(const sotto_child_trainer *c, sotto_frame_kind *kind,
                              sotto_bytes *body, size_t most_update, int64_t until,
                              sotto_arena *arena, sotto_err *err)
{
    uint8_t head[SOTTO_FRAME_HEAD];
    size_t len;

    SOTTO_TRY(get(c, head, sizeof head, until, err));
    SOTTO_TRY(sotto_frame_head_decode(kind, &len, head, most_update, err));
    uint8_t *bytes = sotto_arena_take(arena, len + 1);
    if (!bytes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "trainer: no memory for a frame");
    *body = sotto_bytes_of(bytes, len);
    return get(c, bytes, len, until, err);
}

/* ---- one update ------------------------------------------------------------------------------------------------ */

static sotto_status greet(sotto_child_trainer *c, int64_t until, sotto_arena *arena, sotto_err *err)
{
    sotto_frame_kind kind;
    sotto_bytes body;

    if (c->pid > 0)
        return SOTTO_OK;
    SOTTO_TRY(start(c, err));
    SOTTO_TRY(get_frame(c, &kind, &body, 0, until, arena, err));
    if (kind != SOTTO_FRAME_HELLO)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: its first frame is no greeting");
    memcpy(c->hello, body.data, body.len);
    c->hello_len = body.len;
    return SOTTO_OK;
}

static sotto_status put_job(const sotto_child_trainer *c, const sotto_trainer_input *in,
                            int64_t until, sotto_arena *arena, sotto_err *err)
{
    uint8_t head[SOTTO_FRAME_HEAD];
    sotto_bytes job;

    SOTTO_TRY(sotto_trainer_job_encode(&job, in, arena, err));
    sotto_frame_head_encode(head, SOTTO_FRAME_TRAIN, job.len + in->file.len);
    SOTTO_TRY(put(c, sotto_bytes_of(head, sizeof head), until, err));
    SOTTO_TRY(put(c, job, until, err));
    return put(c, in->file, until, err);
}

static sotto_status train(sotto_child_trainer *c, const sotto_trainer_input *in, float *update,
                          sotto_arena *arena, sotto_err *err)
{
    const int64_t until = milliseconds() + (int64_t)c->seconds * 1000;
    sotto_frame_kind kind;
    sotto_bytes body;

    SOTTO_TRY(greet(c, until, arena, err));
    SOTTO_TRY(sotto_trainer_hello_check(sotto_bytes_of(c->hello, c->hello_len), in->model, err));
    SOTTO_TRY(put_job(c, in, until, arena, err));
    SOTTO_TRY(
        get_frame(c, &kind, &body, sotto_trainer_update_most(in->parameters), until, arena, err));
    if (kind == SOTTO_FRAME_FAILED)
        return sotto_fail(err, SOTTO_DENIED, "trainer: %.*s",
                          (int)(body.len < 100 ? body.len : 100), (const char *)body.data);
    if (kind != SOTTO_FRAME_UPDATE)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: an update was wanted");
    return sotto_trainer_update_decode(update, in->parameters, body, in->file, err);
}

sotto_status sotto_child_train(void *context, const sotto_trainer_input *input, float *update,
                               sotto_err *err)
{
    sotto_child_trainer *c = context;
    sotto_arena arena;

    sotto_err_clear(err);
    sotto_arena_init(&arena, (size_t)1 << 30);
    const sotto_status status = train(c, input, update, &arena, err);
    sotto_arena_clear(&arena);
    if (status != SOTTO_OK) {
        /* What it still writes would be taken for an answer to the next job. */
        end_now(c);
        memset(update, 0, input->parameters * sizeof *update);
    }
    return status;
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

sotto_status sotto_child_trainer_open(sotto_child_trainer **out, const char *const *command,
                                      unsigned seconds, sotto_err *err)
{
    sotto_err_clear(err);

    *out = NULL;
    if (!command[0] || seconds == 0 || seconds > 86400)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: a command, and 1 to 86400 seconds");
    sotto_child_trainer *c = sotto_alloc(sizeof *c);
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "trainer");
    c->command = command;
    c->seconds = seconds;
    *out = c;
    return SOTTO_OK;
}

static bool has_ended(sotto_child_trainer *c, int64_t until)
{
    const struct timespec pause = {0, 5000000};

    while (milliseconds() < until) {
        const pid_t ended = waitpid(c->pid, NULL, WNOHANG);

        if (ended == c->pid || (ended < 0 && errno == ECHILD)) /* the host waited for it */
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

void sotto_child_trainer_close(sotto_child_trainer *c)
{
    uint8_t head[SOTTO_FRAME_HEAD];

    if (!c)
        return;
    if (c->pid > 0) {
        sotto_frame_head_encode(head, SOTTO_FRAME_BYE, 0);
        (void)!put(c, sotto_bytes_of(head, sizeof head), milliseconds() + 1000, NULL);
        (void)shutdown(c->end, SHUT_WR);
        if (has_ended(c, milliseconds() + 1000)) {
            (void)close(c->end);
            c->pid = 0;
        }
    }
    end_now(c);
    sotto_release(c, sizeof *c);
}
