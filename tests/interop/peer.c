#include "interop/peer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that kept our ends of its pipes would never see the end of its input. */
static void run_child(const char *program, const int to[2], const int from[2])
{
    if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0)
        _exit(126);
    close(to[0]);
    close(to[1]);
    close(from[0]);
    close(from[1]);
    execl(program, program, (char *)NULL);
    _exit(127);
}

bool sotto_peer_open(sotto_peer *p, const char *program)
{
    int to[2], from[2];

    *p = (sotto_peer){0};
    if (access(program, X_OK) != 0 || pipe(to) != 0 || pipe(from) != 0) {
        fprintf(stderr, "cannot start %s\n", program);
        return false;
    }
    /* A peer that died should be an empty answer with a sentence, not a signal. */
    signal(SIGPIPE, SIG_IGN);
    p->pid = fork();
    if (p->pid == 0)
        run_child(program, to, from);
    close(to[0]);
    close(from[1]);
    p->to = fdopen(to[1], "w");
    p->from = fdopen(from[0], "r");
    return p->pid > 0 && p->to && p->from;
}

bool sotto_peer_close(sotto_peer *p)
{
    int status = 1;

    fclose(p->to);
    fclose(p->from);
    free(p->answer);
    return waitpid(p->pid, &status, 0) == p->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void sotto_peer_begin(sotto_peer *p, const char *verb)
{
    fputs(verb, p->to);
}

void sotto_peer_add_text(sotto_peer *p, const char *key, const char *text)
{
    fprintf(p->to, " %s=%s", key, text);
}

void sotto_peer_add_number(sotto_peer *p, const char *key, uint64_t number)
{
    sotto_peer_add_numbers(p, key, &number, 1);
}

void sotto_peer_add_numbers(sotto_peer *p, const char *key, const uint64_t *numbers, size_t count)
{
    fprintf(p->to, " %s=", key);
    for (size_t i = 0; i < count; i++)
        fprintf(p->to, i ? ",%llu" : "%llu", (unsigned long long)numbers[i]);
}

void sotto_peer_add_bytes(sotto_peer *p, const char *key, sotto_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";

    fprintf(p->to, " %s=", key);
    for (size_t i = 0; i < bytes.len; i++) {
        fputc(digits[bytes.data[i] >> 4], p->to);
        fputc(digits[bytes.data[i] & 15], p->to);
    }
}

bool sotto_peer_accepts(sotto_test *t, sotto_peer *p)
{
    bool ended, understood;
    ssize_t len = -1;

    if (fputc('\n', p->to) != EOF && fflush(p->to) == 0)
        len = getline(&p->answer, &p->answer_cap, p->from);
    ended = len <= 0 || p->answer[len - 1] != '\n';
    CHECK(t, !ended);
    p->answer[len - 1] = '\0';
    if (strcmp(p->answer, "reject") == 0)
        return false;
    understood = strcmp(p->answer, "ok") == 0 || strncmp(p->answer, "ok ", 3) == 0;
    if (!understood)
        fprintf(stderr, "the peer says: %s\n", p->answer);
    CHECK(t, understood);
    return true;
}

void sotto_peer_obeys(sotto_test *t, sotto_peer *p)
{
    bool accepted = sotto_peer_accepts(t, p);

    CHECK(t, accepted);
}

/* The value of a key and where it ends; NULL if the answer has no such word. */
static const char *find_word(const sotto_peer *p, const char *key, size_t *len)
{
    size_t key_len = strlen(key);

    for (const char *at = strchr(p->answer, ' '); at; at = strchr(at + 1, ' ')) {
        if (strncmp(at + 1, key, key_len) != 0 || at[1 + key_len] != '=')
            continue;
        at += 2 + key_len;
        *len = strcspn(at, " ");
        return at;
    }
    return NULL;
}

const char *sotto_peer_text(sotto_test *t, const sotto_peer *p, const char *key)
{
    size_t len = 0;
    const char *word = find_word(p, key, &len);
    char *copy;

    CHECK(t, word != NULL);
    copy = sotto_arena_take(&t->arena, len + 1);
    CHECK(t, copy != NULL);
    memcpy(copy, word, len);
    return copy;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

sotto_bytes sotto_peer_bytes(sotto_test *t, const sotto_peer *p, const char *key)
{
    size_t len = 0;
    const char *word = find_word(p, key, &len);
    uint8_t *out;

    CHECK(t, word != NULL && len % 2 == 0);
    out = sotto_arena_take(&t->arena, len / 2 + 1);
    CHECK(t, out != NULL);
    for (size_t i = 0; i < len / 2; i++) {
        int high = digit(word[2 * i]), low = digit(word[2 * i + 1]);

        CHECK(t, high >= 0 && low >= 0);
        out[i] = (uint8_t)(high << 4 | low);
    }
    return sotto_bytes_of(out, len / 2);
}
