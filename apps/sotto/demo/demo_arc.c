/* Leader and helper as issuers of ARC: each makes a key for the epoch of this collection, and signs its list. */
#include "demo.h"

#include "base/arena.h"
#include "crypto/hash.h"
#include "db/store.h"
#include "serve/host/bearer.h"
#include "serve/tasks/arc_keys.h"

#include <stdio.h>

enum { LIST = 1 << 16 };

void demo_arc_lines(const demo *d, char *out, size_t size)
{
    (void)snprintf(out, size,
                   "leader = http://127.0.0.1:%u/\nleader_token = shared.token\n"
                   "helper = http://127.0.0.1:%u/\nhelper_token = shared.token\n",
                   d->leader.port, d->helper.port);
}

/* The epoch is the recipe's schedule. */
static sotto_status make_key(const demo *d, const demo_server *s, const uint8_t attester[32],
                             sotto_buf *list, sotto_err *err)
{
    sotto_column_keys columns;
    sotto_arc_key key;
    sotto_db *db = NULL;
    bool made;

    SOTTO_TRY(demo_columns(&columns, s, err));
    sotto_status status = sotto_db_open(&db, &(sotto_db_options){.address = s->database}, err);
    if (status == SOTTO_OK)
        status = sotto_arc_key_add(db, &key, &made, (uint64_t)d->opens, (uint64_t)d->closes,
                                   attester, &columns, err);
    if (status == SOTTO_OK)
        status = sotto_arc_keys_list(db, list, 0, err);
    sotto_db_close(db);
    sotto_wipe(&columns, sizeof columns);
    return status;
}

sotto_status demo_arc_list(demo *d, sotto_err *err)
{
    const struct {
        const demo_server *server;
        const sotto_signer *signer;
        sotto_bytes *out;
    } both[] = {{&d->leader, &d->issuer_signer, &d->token_keys},
                {&d->helper, &d->helper_signer, &d->helper_keys}};
    char path[DEMO_FILE];
    uint8_t attester[32];
    sotto_bearer bearer;
    sotto_buf list;

    (void)snprintf(path, sizeof path, "%s/shared.token", d->folder);
    SOTTO_TRY(sotto_bearer_read(&bearer, path, err));
    sotto_hash_once(attester, SOTTO_SHA256, sotto_bytes_of(bearer.text, bearer.len));
    sotto_wipe(&bearer, sizeof bearer);
    for (unsigned i = 0; i < 2; i++) {
        SOTTO_TRY(sotto_buf_take(&list, &d->arena, LIST, err));
        SOTTO_TRY(make_key(d, both[i].server, attester, &list, err));
        SOTTO_TRY(demo_sign_list(d, both[i].out, both[i].signer, sotto_buf_bytes(&list), err));
    }
    return SOTTO_OK;
}
