#define _POSIX_C_SOURCE 200809L
#include "support/oblivious.h"

#include "seal/ohttp/date.h"
#include "serve/gateway/gateway_service.h"
#include "serve/host/options.h"
#include "support/directory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_file(sotto_test *t, const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(t, file != NULL);
    CHECK(t, fputs(text, file) >= 0);
    CHECK_EQUAL(t, 0, fclose(file));
}

/* Of the relay and of the gateway that are open: what they point to lives here. */
static sotto_serve_config held[2];

void sotto_test_oblivious_forget(void)
{
    for (size_t i = 0; i < 2; i++)
        sotto_serve_config_clear(&held[i]);
}

sotto_status sotto_test_host_open(sotto_test *t, sotto_host **out, const char *directory,
                                  const char *section, const char *table, const char *more,
                                  const sotto_clock *clock, sotto_log_sink log)
{
    const bool gateway = strcmp(section, "gateway") == 0;
    sotto_serve_config *config = &held[gateway];
    char path[400], text[1200];

    (void)snprintf(path, sizeof path, "%s/%s.txt", directory, section);
    write_file(t, path, table);
    (void)snprintf(text, sizeof text,
                   "[%s]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\ndatabase = sqlite:%s.db\n"
                   "datastore_key = %s.key\n%s = %s.txt\n%s%s",
                   section, section, section, gateway ? "targets" : "gateways", section,
                   strstr(more, "peer_check") ? "" : "peer_check = 0\n", more);
    (void)snprintf(path, sizeof path, "%s/%s.ini", directory, section);
    write_file(t, path, text);
    sotto_serve_config_clear(config);
    CHECK_OK(t, sotto_serve_config_read(config, &(sotto_config_sources){.file = path}, &t->err));
    config->host.clock = clock;
    config->host.log = log;
    return sotto_host_open(out, config->service, &config->host, config->own, &t->err);
}

void sotto_test_gateway_again(sotto_test *t, sotto_test_gateway *g, unsigned target,
                              const char *more)
{
    char table[200];

    sotto_host_close(g->host);
    g->host = NULL;
    (void)snprintf(table, sizeof table,
                   "# behind it\n\nhttps://target.example/ http://127.0.0.1:%u/\n", target);
    CHECK_OK(t, sotto_test_host_open(t, &g->host, g->directory, "gateway", table, more, &g->clock,
                                     (sotto_log_sink){0}));
}

void sotto_test_gateway_open(sotto_test *t, sotto_test_gateway *g, unsigned target,
                             const char *more)
{
    memset(g, 0, sizeof *g);
    g->directory = sotto_test_directory(t);
    g->time.wall = (uint64_t)1800000000 * 1000000000;
    g->clock = sotto_sim_clock_of(&g->time);
    sotto_test_gateway_again(t, g, target, more);
}

int64_t sotto_test_gateway_now(const sotto_test_gateway *g)
{
    return sotto_host_seconds(g->host);
}

sotto_hpke_config sotto_test_gateway_key(sotto_test *t, unsigned port)
{
    const sotto_test_answer answer = sotto_test_ask(
        t, (uint16_t)port,
        "GET /" SOTTO_GATEWAY_PATH " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    uint8_t *kept = sotto_arena_take(&t->arena, answer.body_len + 1);
    sotto_hpke_config configs[8];
    size_t count;

    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.head, "Content-Type: application/ohttp-keys\r\n") != NULL);
    memcpy(kept, answer.body, answer.body_len);
    CHECK_OK(t, sotto_ohttp_keys_decode(configs, 8, &count, sotto_bytes_of(kept, answer.body_len),
                                        &t->err));
    CHECK(t, configs[0].supported);
    return configs[0];
}

sotto_test_sealed sotto_test_seal_message(sotto_test *t, const sotto_hpke_config *to,
                                          const sotto_bhttp *message, uint32_t seed)
{
    uint8_t ikm[32] = {(uint8_t)seed, (uint8_t)(seed >> 8), (uint8_t)(seed >> 16), 99};
    const size_t room = 4096 + message->content.len;
    sotto_buf plain = sotto_buf_over(sotto_arena_take(&t->arena, room), room);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, room + 200), room + 200);
    sotto_test_sealed sealed;

    CHECK_OK(t, sotto_bhttp_encode(&plain, message, 0, &t->err));
    CHECK_OK(t, sotto_ohttp_request_seal(&sealed.exchange, &out, to, sotto_bytes_of(ikm, 32),
                                         sotto_buf_bytes(&plain), &t->err));
    sealed.wire = sotto_buf_bytes(&out);
    return sealed;
}

sotto_test_sealed sotto_test_seal(sotto_test *t, const sotto_hpke_config *to, const char *path,
                                  const char *content, int64_t date, uint32_t seed)
{
    uint8_t lines[128];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);
    char text[SOTTO_HTTP_DATE];
    sotto_bhttp m = {.method = sotto_bytes_of("POST", 4),
                     .scheme = sotto_bytes_of("https", 5),
                     .authority = sotto_bytes_of("target.example", 14),
                     .path = sotto_bytes_of(path, strlen(path)),
                     .content = sotto_bytes_of(content, strlen(content))};

    sotto_http_date_write(text, date);
    if (date != 0)
        sotto_bhttp_field_write(&w, "date", sotto_bytes_of(text, sizeof text));
    sotto_bhttp_field_write(&w, "content-type", sotto_bytes_of("text/plain", 10));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    m.fields = sotto_buf_bytes(&fields);
    return sotto_test_seal_message(t, to, &m, seed);
}

int sotto_test_post_begin(sotto_test *t, unsigned port, const char *path, const char *type,
                          const char *more_fields, sotto_bytes body)
{
    char head[800];
    const int fd = sotto_test_dial(t, (uint16_t)port);

    (void)snprintf(head, sizeof head,
                   "POST /%s HTTP/1.1\r\nHost: h\r\nContent-Type: %s\r\n%sContent-Length: "
                   "%zu\r\nConnection: close\r\n\r\n",
                   path ? path : SOTTO_GATEWAY_PATH, type, more_fields, body.len);
    sotto_test_send_text(t, fd, head);
    sotto_test_send(t, fd, body.data, body.len);
    return fd;
}

sotto_test_answer sotto_test_post(sotto_test *t, unsigned port, const char *path, const char *type,
                                  sotto_bytes body)
{
    const int fd = sotto_test_post_begin(t, port, path, type, "", body);
    const sotto_test_answer answer = sotto_test_hear(t, fd);

    (void)close(fd);
    return answer;
}

sotto_bhttp sotto_test_unseal(sotto_test *t, const sotto_test_sealed *sealed,
                              const sotto_test_answer *answer)
{
    sotto_buf plain =
        sotto_buf_over(sotto_arena_take(&t->arena, answer->body_len + 1), answer->body_len + 1);
    sotto_bhttp m;

    CHECK_EQUAL(t, 200, answer->status);
    CHECK(t, strstr(answer->head, "Content-Type: message/ohttp-res\r\n") != NULL);
    CHECK_OK(t,
             sotto_ohttp_response_unseal(&sealed->exchange, &plain,
                                         sotto_bytes_of(answer->body, answer->body_len), &t->err));
    CHECK_OK(t, sotto_bhttp_decode(&m, plain.data, plain.len, &t->err));
    CHECK(t, m.response);
    return m;
}
