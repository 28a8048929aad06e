/* The checkpoint, the tiles and the feed, as files. A tile is served once a checkpoint was signed that has it, and not before. */
#include "serve/log/log.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "serve/host/router.h"
#include "tlog/files.h"

#include <string.h>

enum { LARGEST = 4 << 20, SEGMENTS = 8 };

typedef struct fetch {
    sotto_log_server *log;
    sotto_http_request *request;
    bool tile;
    char path[SOTTO_TILE_PATH];
} fetch;

static void send(void *context, sotto_worker *worker)
{
    static const sotto_http_field mutable_fields[] = {{"Content-Type", "text/plain; charset=utf-8"},
                                                      {"Cache-Control", "no-cache"}},
                                  fixed[] = {{"Content-Type", "application/octet-stream"},
                                             {"Cache-Control", "max-age=31536000, immutable"}};
    fetch *f = context;
    sotto_buf file = {0};
    sotto_status status = SOTTO_NO_MEMORY;

    file.data = sotto_arena_take(worker->arena, LARGEST);
    file.cap = file.data ? LARGEST : 0;
    if (file.data)
        status = sotto_log_file_read(&file, f->log->config.directory, f->path, NULL);
    if (status == SOTTO_OK)
        sotto_http_answer(f->request, &(sotto_http_reply){200, f->tile ? fixed : mutable_fields, 2,
                                                          sotto_buf_bytes(&file)});
    else
        (void)sotto_http_refuse(
            f->request, &(sotto_http_problem){.status = status == SOTTO_MISSING ? 404 : 503});
    sotto_release(f, sizeof *f);
}

/* "checkpoint", "feed", or the path of a tile of the tree that was signed last. */
static bool find(fetch *f, const sotto_http_request *request)
{
    char path[SOTTO_TILE_PATH];
    size_t len = 0;
    sotto_tile tile;

    for (size_t i = 0; i < SEGMENTS; i++) {
        const sotto_bytes segment = sotto_route_segment(f->log->host, request, i);

        if (segment.len == 0)
            break;
        if (len + segment.len + 2 > sizeof path)
            return false;
        if (len > 0)
            path[len++] = '/';
        memcpy(path + len, segment.data, segment.len);
        len += segment.len;
    }
    path[len] = 0;
    memcpy(f->path, path, sizeof path);
    f->tile = strcmp(path, "checkpoint") != 0 && strcmp(path, "feed") != 0;
    if (!f->tile)
        return true;
    if (sotto_tile_path_decode(&tile, sotto_bytes_of(path, len), NULL) != SOTTO_OK)
        return false;
    if (SOTTO_RULE(only_signed_tiles_are_served) &&
        sotto_tile_width(tile.level, tile.index, atomic_load(&f->log->size)) < tile.width)
        return false;
    return true;
}

void sotto_log_get(void *state, const sotto_route *route, sotto_http_request *request)
{
    sotto_log_server *log = state;
    fetch *f = sotto_alloc(sizeof *f);
    unsigned refusal = 503;

    (void)route;
    if (f) {
        f->log = log;
        f->request = request;
        refusal = find(f, request) ? 0 : 404;
    }
    if (refusal == 0 && sotto_pool_post(log->host->pool, send, f, NULL) != SOTTO_OK)
        refusal = 503;
    if (refusal != 0) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = refusal});
        sotto_release(f, f ? sizeof *f : 0);
    }
}
