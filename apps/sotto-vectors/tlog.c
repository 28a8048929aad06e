/* Vectors of transparency logs: proofs (transparency-dev/merkle), trees (RFC 6962), notes and keys (golang.org/x/mod), tile paths
 * (C2SP tlog-tiles), and whole logs (transparency-dev/tessera). */
#include "families.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "crypto/hash.h"
#include "subtree.h"
#include "tlog/checkpoint.h"
#include "tlog/prover.h"

static bool has(const json_t *item, const char *key)
{
    return json_object_get(item, key) != NULL;
}

static sotto_bytes bytes_of(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

typedef sotto_status check_function(const json_t *item, sotto_arena *arena, sotto_err *err);

/* ---- proofs --------------------------------------------------------------------------------------------------- */

/* A few vectors have a text of another length in a hash's place, to see what is made of it. A digest of it stands for it: it is
 * equal to itself alone, as the text is.
 *   SOTTO_DENIED  no hash at all, which a proof that is to be refused may have
 */
static sotto_status get_hash(sotto_merkle_hash *out, const json_t *item, const char *key,
                             sotto_err *err)
{
    uint8_t bytes[256];
    const char *text;
    size_t len;

    SOTTO_TRY(sotto_json_get_text(&text, item, key, err));
    len = sotto_base64_decoded(SOTTO_BASE64_STANDARD, bytes_of(text));
    if (len > sizeof bytes ||
        !sotto_base64_decode(bytes, len, SOTTO_BASE64_STANDARD, bytes_of(text)))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not base64", key);
    if (len == 0)
        return sotto_fail(err, SOTTO_DENIED, "%s: empty", key);
    if (len == sizeof out->bytes)
        memcpy(out->bytes, bytes, len);
    else
        sotto_hash_once(out->bytes, SOTTO_SHA256, sotto_bytes_of(bytes, len));
    return SOTTO_OK;
}

static sotto_status get_proof(sotto_merkle_proof *out, const json_t *item, sotto_err *err)
{
    const json_t *list = json_object_get(item, "proof");

    out->count = 0;
    if (list == NULL || (!json_is_null(list) && !json_is_array(list)))
        return sotto_fail(err, SOTTO_MALFORMED, "proof: neither a list nor null");
    if (json_array_size(list) > SOTTO_MERKLE_PROOF)
        return sotto_fail(err, SOTTO_DENIED, "proof: too long");
    for (; out->count < json_array_size(list); out->count++) {
        const char *text = json_string_value(json_array_get(list, out->count));

        if (text == NULL)
            return sotto_fail(err, SOTTO_MALFORMED, "proof: not a list of texts");
        if (!sotto_base64_decode(out->hashes[out->count].bytes, SOTTO_MERKLE_HASH,
                                 SOTTO_BASE64_STANDARD, bytes_of(text)))
            return sotto_fail(err, SOTTO_DENIED, "proof: no hash in base64");
    }
    return SOTTO_OK;
}

static sotto_status get_subtree(sotto_subtree *out, const json_t *item, const char *root,
                                sotto_err *err)
{
    SOTTO_TRY(sotto_json_get_uint(&out->start, item, "start", err));
    SOTTO_TRY(sotto_json_get_uint(&out->end, item, "end", err));
    return get_hash(&out->root, item, root, err);
}

static sotto_status run_subtree_inclusion(const json_t *item, sotto_err *err)
{
    sotto_subtree subtree;
    sotto_merkle_hash leaf;
    sotto_merkle_proof proof;
    uint64_t index;

    SOTTO_TRY(sotto_json_get_uint(&index, item, "leafIdx", err));
    SOTTO_TRY(get_subtree(&subtree, item, "root", err));
    SOTTO_TRY(get_hash(&leaf, item, "leafHash", err));
    SOTTO_TRY(get_proof(&proof, item, err));
    return sotto_subtree_check_inclusion(&proof, &leaf, index, &subtree, err);
}

static sotto_status run_subtree_consistency(const json_t *item, sotto_err *err)
{
    sotto_subtree subtree;
    sotto_merkle_hash root;
    sotto_merkle_proof proof;
    uint64_t size;

    SOTTO_TRY(sotto_json_get_uint(&size, item, "size", err));
    SOTTO_TRY(get_subtree(&subtree, item, "root1", err));
    SOTTO_TRY(get_hash(&root, item, "root2", err));
    SOTTO_TRY(get_proof(&proof, item, err));
    return sotto_subtree_check_consistency(&proof, &subtree, size, &root, err);
}

static sotto_status run_inclusion(const json_t *item, sotto_err *err)
{
    sotto_merkle_hash root, leaf;
    sotto_merkle_proof proof;
    uint64_t index, size;

    SOTTO_TRY(sotto_json_get_uint(&index, item, "leafIdx", err));
    SOTTO_TRY(sotto_json_get_uint(&size, item, "treeSize", err));
    SOTTO_TRY(get_hash(&root, item, "root", err));
    SOTTO_TRY(get_hash(&leaf, item, "leafHash", err));
    SOTTO_TRY(get_proof(&proof, item, err));
    return sotto_merkle_check_inclusion(&proof, &leaf, index, size, &root, err);
}

static sotto_status run_consistency(const json_t *item, sotto_err *err)
{
    sotto_merkle_hash root1, root2;
    sotto_merkle_proof proof;
    uint64_t size1, size2;

    SOTTO_TRY(sotto_json_get_uint(&size1, item, "size1", err));
    SOTTO_TRY(sotto_json_get_uint(&size2, item, "size2", err));
    SOTTO_TRY(get_hash(&root1, item, "root1", err));
    SOTTO_TRY(get_hash(&root2, item, "root2", err));
    SOTTO_TRY(get_proof(&proof, item, err));
    return sotto_merkle_check_consistency(&proof, size1, &root1, size2, &root2, err);
}

static sotto_status check_proof(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    const json_t *bad = json_object_get(item, "wantErr");
    const bool part = has(item, "start"), included = has(item, "leafIdx");
    const sotto_status status = part && included ? run_subtree_inclusion(item, err)
                                : part           ? run_subtree_consistency(item, err)
                                : included       ? run_inclusion(item, err)
                                                 : run_consistency(item, err);

    (void)arena;
    if (!json_is_boolean(bad))
        return sotto_fail(err, SOTTO_MALFORMED, "wantErr: missing");
    if (status == SOTTO_MALFORMED)
        return status; /* of the file, not of the proof */
    if (json_is_true(bad) != (status != SOTTO_OK))
        return sotto_fail(err, SOTTO_REJECTED, "a proof that is to be refused holds");
    return SOTTO_OK;
}

/* ---- a tree ----------------------------------------------------------------------------------------------------- */

static sotto_status compare_hash(const json_t *list, size_t i, const sotto_merkle_hash *got,
                                 const char *what, sotto_arena *arena, sotto_err *err)
{
    sotto_bytes wanted;

    SOTTO_TRY(sotto_json_hex(&wanted, json_array_get(list, i), what, arena, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(got->bytes, sizeof got->bytes), what, err);
}

static sotto_status check_tree(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    json_t *leaves, *roots;
    const json_t *nodes = json_object_get(item, "nodes");
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash hash;
    sotto_bytes entry;

    SOTTO_TRY(sotto_json_get_array(&leaves, item, "leaf_inputs", err));
    SOTTO_TRY(sotto_json_get_array(&roots, item, "roots_by_size", err));
    if (json_array_size(roots) != json_array_size(leaves) + 1)
        return sotto_fail(err, SOTTO_MALFORMED, "roots_by_size: not one for each size");
    for (size_t i = 0; i <= json_array_size(leaves); i++) {
        sotto_merkle_root(&hash, &tree);
        SOTTO_TRY(compare_hash(roots, i, &hash, "root", arena, err));
        if (i == json_array_size(leaves))
            break;
        SOTTO_TRY(sotto_json_hex(&entry, json_array_get(leaves, i), "leaf", arena, err));
        sotto_merkle_leaf(&hash, entry);
        sotto_merkle_append(&tree, 0, &hash);
        for (unsigned k = 0; k < json_array_size(nodes); k++) /* each node, when it is whole */
            if (tree.size % ((uint64_t)1 << k) == 0 && (tree.size >> k & 1) != 0)
                SOTTO_TRY(compare_hash(json_array_get(nodes, k), (size_t)(tree.size >> k) - 1,
                                       &tree.edge[k], "node", arena, err));
    }
    return SOTTO_OK;
}

/* ---- notes and keys ------------------------------------------------------------------------------------------------ */

static sotto_status open_note(const json_t *item, const char *text, size_t *good, sotto_err *err)
{
    json_t *keys, *signers = json_object_get(item, "verified_signers");
    sotto_note note;

    SOTTO_TRY(sotto_json_get_array(&keys, item, "trusted_vkeys", err));
    SOTTO_TRY(sotto_note_decode(&note, bytes_of(text), err));
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *vkey = json_string_value(json_array_get(keys, i));
        sotto_err why = {0};
        sotto_note_key key;
        sotto_status status;

        SOTTO_TRY(sotto_note_key_decode(&key, bytes_of(vkey ? vkey : ""), err));
        status = sotto_note_check(&note, &key, NULL, &why);
        if (status == SOTTO_REJECTED)
            return sotto_fail(err, status, "%s", why.reason);
        for (size_t j = 0; status == SOTTO_OK && j < json_array_size(signers); j++) {
            const char *name = json_string_value(json_array_get(signers, j));

            if (name != NULL && sotto_bytes_equal_vartime(key.name, bytes_of(name)))
                (*good)++;
        }
    }
    return SOTTO_OK;
}

static sotto_status check_note(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    const json_t *valid = json_object_get(item, "valid");
    const char *text;
    size_t good = 0;
    sotto_status status;

    (void)arena;
    SOTTO_TRY(sotto_json_get_text(&text, item, "note", err));
    if (!json_is_boolean(valid))
        return sotto_fail(err, SOTTO_MALFORMED, "valid: missing");
    status = open_note(item, text, &good, err);
    if (json_is_true(valid) != (status == SOTTO_OK && good > 0))
        return sotto_fail(err, SOTTO_REJECTED, "a note that is to be refused holds");
    if (json_is_true(valid) && good != json_array_size(json_object_get(item, "verified_signers")))
        return sotto_fail(err, SOTTO_REJECTED, "verified_signers: %zu of them signed", good);
    return SOTTO_OK;
}

static sotto_status check_signing_key(const json_t *item, const sotto_note_key *key, sotto_err *err)
{
    sotto_note_signer signer;
    const char *text;
    sotto_status status;

    SOTTO_TRY(sotto_json_get_text(&text, item, "skey_test_only", err));
    status = sotto_note_signer_decode(&signer, bytes_of(text), err);
    if (status == SOTTO_OK &&
        (signer.key.id != key->id ||
         memcmp(signer.key.public_key, key->public_key, SOTTO_SIGN_PUBLIC) != 0))
        status = sotto_fail(err, SOTTO_REJECTED, "skey_test_only: another key");
    sotto_note_signer_clear(&signer);
    return status;
}

static sotto_status check_vkey(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    uint8_t memory[SOTTO_NOTE_KEY_TEXT];
    sotto_buf again = sotto_buf_over(memory, sizeof memory);
    const char *text, *name, *id;
    sotto_note_key key;
    char hex[9];

    (void)arena;
    if (json_is_string(item)) /* one that is to be refused */
        return sotto_note_key_decode(&key, bytes_of(json_string_value(item)), NULL) != SOTTO_OK
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_REJECTED, "a key that is to be refused is read");
    SOTTO_TRY(sotto_json_get_text(&text, item, "vkey", err));
    SOTTO_TRY(sotto_json_get_text(&name, item, "name", err));
    SOTTO_TRY(sotto_json_get_text(&id, item, "key_id", err));
    SOTTO_TRY(sotto_note_key_decode(&key, bytes_of(text), err));
    snprintf(hex, sizeof hex, "%08x", (unsigned)key.id);
    SOTTO_TRY(sotto_vectors_compare(bytes_of(name), key.name, "name", err));
    SOTTO_TRY(sotto_vectors_compare(bytes_of(id), bytes_of(hex), "key_id", err));
    SOTTO_TRY(sotto_note_key_encode(&again, &key, err));
    SOTTO_TRY(sotto_vectors_compare(bytes_of(text), sotto_buf_bytes(&again), "vkey", err));
    return has(item, "skey_test_only") ? check_signing_key(item, &key, err) : SOTTO_OK;
}

/* ---- tiles ----------------------------------------------------------------------------------------------------------- */

static sotto_status check_path(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    const char *wanted = json_string_value(json_array_get(item, 1));
    sotto_tile tile = {.width = SOTTO_TILE_WIDTH}, read;
    char path[SOTTO_TILE_PATH];

    (void)arena;
    if (wanted == NULL || !json_is_integer(json_array_get(item, 0)))
        return sotto_fail(err, SOTTO_MALFORMED, "tile_index_paths: no index and path");
    tile.index = (uint64_t)json_integer_value(json_array_get(item, 0));
    sotto_tile_path(path, &tile);
    SOTTO_TRY(
        sotto_vectors_compare(bytes_of(wanted), bytes_of(path + strlen("tile/0/")), "path", err));
    SOTTO_TRY(sotto_tile_path_decode(&read, bytes_of(path), err));
    return read.index == tile.index ? SOTTO_OK : sotto_fail(err, SOTTO_REJECTED, "index: another");
}

static sotto_status check_widths(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    uint64_t size, full, width;
    char key[40];

    (void)arena;
    SOTTO_TRY(sotto_json_get_uint(&size, item, "size", err));
    for (unsigned level = 0; level < SOTTO_TILE_LEVELS; level++) {
        snprintf(key, sizeof key, "level%u_full", level);
        if (!has(item, key))
            break;
        SOTTO_TRY(sotto_json_get_uint(&full, item, key, err));
        snprintf(key, sizeof key, "level%u_partial_width", level);
        SOTTO_TRY(sotto_json_get_uint(&width, item, key, err));
        if (sotto_tile_width(level, full, size) != width ||
            (full > 0 && sotto_tile_width(level, full - 1, size) != SOTTO_TILE_WIDTH))
            return sotto_fail(err, SOTTO_REJECTED, "%s: differs", key);
    }
    return SOTTO_OK;
}

/* ---- a whole log --------------------------------------------------------------------------------------------------------- */

typedef struct whole_log {
    const json_t *item;
    sotto_arena *arena;
} whole_log;

static sotto_status read_tile(void *context, const sotto_tile *tile,
                              sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err)
{
    const whole_log *log = context;
    char path[SOTTO_TILE_PATH];
    sotto_bytes file;

    sotto_tile_path(path, tile);
    SOTTO_TRY(
        sotto_json_get_hex(&file, json_object_get(log->item, "tiles_hex"), path, log->arena, err));
    return sotto_tile_decode(out, tile->width, file, err);
}

/* Of a tree with several tiles: proofs of its first, middle and last leaf. */
static sotto_status check_leaves(const whole_log *log, sotto_prover *prover,
                                 const sotto_checkpoint *now, sotto_err *err)
{
    static sotto_merkle_hash hashes[SOTTO_TILE_WIDTH];
    const uint64_t leaves[] = {0, now->size / 2, now->size - 1};
    sotto_merkle_proof proof;

    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        const uint64_t index = leaves[i] / SOTTO_TILE_WIDTH;
        const sotto_tile tile = {.index = index, .width = sotto_tile_width(0, index, now->size)};

        SOTTO_TRY(read_tile((void *)log, &tile, hashes, err));
        SOTTO_TRY(sotto_prover_inclusion(prover, &proof, leaves[i], now->size, err));
        SOTTO_TRY(sotto_merkle_check_inclusion(&proof, &hashes[leaves[i] % SOTTO_TILE_WIDTH],
                                               leaves[i], now->size, &now->root, err));
    }
    return SOTTO_OK;
}

/* Its bundle of entries hashes to the first tile, its root is the checkpoint's, and every proof from its tiles holds. */
static sotto_status check_size(const whole_log *log, sotto_prover *prover,
                               const sotto_checkpoint *now, sotto_err *err)
{
    static sotto_merkle_hash leaves[SOTTO_TILE_WIDTH], tile[SOTTO_TILE_WIDTH];
    const sotto_tile bundle = {.entries = true, .width = (unsigned)now->size};
    const sotto_tile first = {.width = (unsigned)now->size};
    char path[SOTTO_TILE_PATH];
    sotto_merkle_proof proof;
    sotto_merkle_hash root;
    sotto_bytes file;

    SOTTO_TRY(sotto_prover_root(prover, &root, now->size, err));
    SOTTO_TRY(sotto_vectors_compare(sotto_bytes_of(now->root.bytes, sizeof root),
                                    sotto_bytes_of(root.bytes, sizeof root), "root", err));
    if (now->size == 0)
        return SOTTO_OK;
    if (now->size > SOTTO_TILE_WIDTH)
        return check_leaves(log, prover, now, err);
    sotto_tile_path(path, &bundle);
    SOTTO_TRY(sotto_json_get_hex(&file, json_object_get(log->item, "entry_bundles_hex"), path,
                                 log->arena, err));
    SOTTO_TRY(sotto_tile_entries_hash(leaves, bundle.width, file, err));
    SOTTO_TRY(read_tile((void *)log, &first, tile, err));
    SOTTO_TRY(sotto_vectors_compare(sotto_bytes_of(tile, first.width * sizeof *tile),
                                    sotto_bytes_of(leaves, first.width * sizeof *tile), "tile",
                                    err));
    for (uint64_t i = 0; i < now->size; i++) {
        SOTTO_TRY(sotto_prover_inclusion(prover, &proof, i, now->size, err));
        SOTTO_TRY(sotto_merkle_check_inclusion(&proof, &leaves[i], i, now->size, &root, err));
    }
    return SOTTO_OK;
}

static sotto_status check_checkpoint(const whole_log *log, sotto_prover *prover, const char *text,
                                     sotto_err *err)
{
    const char *vkey;
    sotto_note_key key;
    const sotto_log_trust trust = {.log = &key};
    sotto_checkpoint now;

    SOTTO_TRY(sotto_json_get_text(&vkey, log->item, "vkey", err));
    SOTTO_TRY(sotto_note_key_decode(&key, bytes_of(vkey), err));
    SOTTO_TRY(sotto_checkpoint_open(&now, bytes_of(text), &trust, err));
    return check_size(log, prover, &now, err);
}

static void run_log(const sotto_vector_file *file)
{
    const whole_log log = {file->root, file->arena};
    json_t *checkpoints = json_object_get(file->root, "checkpoints"), *value;
    sotto_prover *prover = NULL;
    const char *size;
    sotto_err err = {0};

    if (sotto_prover_new(&prover, 64, read_tile, (void *)&log, &err) != SOTTO_OK) {
        sotto_tally_fail(file->tally, file->path, "", err.reason);
        return;
    }
    json_object_foreach(checkpoints, size, value)
    {
        const char *text = json_string_value(value);
        char name[48];

        err = (sotto_err){0};
        snprintf(name, sizeof name, "size %.32s", size);
        sotto_vectors_tell(file, name, check_checkpoint(&log, prover, text ? text : "", &err),
                           &err);
    }
    sotto_prover_free(prover);
}

/* ---- which of them --------------------------------------------------------------------------------------------------------- */

bool sotto_vectors_tlog_knows(const json_t *item)
{
    return has(item, "wantErr") || has(item, "leaf_inputs") || has(item, "trusted_vkeys") ||
           has(item, "tile_index_paths") || has(item, "checkpoints") ||
           (has(item, "valid") && has(item, "invalid"));
}

static void run_list(const sotto_vector_file *file, const json_t *list, const char *what,
                     check_function *check)
{
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        char name[96];
        sotto_err err = {0};

        if (id != NULL)
            snprintf(name, sizeof name, "%.90s", id);
        else
            snprintf(name, sizeof name, "%s %zu", what, i);
        sotto_vectors_tell(file, name, check(item, file->arena, &err), &err);
    }
}

void sotto_vectors_tlog(const sotto_vector_file *file)
{
    const json_t *root = file->root;
    sotto_err err = {0};

    if (json_is_array(root))
        run_list(file, root, "item",
                 has(json_array_get(root, 0), "wantErr") ? check_proof : check_note);
    else if (has(root, "leaf_inputs"))
        sotto_vectors_tell(file, "", check_tree(root, file->arena, &err), &err);
    else if (has(root, "checkpoints"))
        run_log(file);
    else if (has(root, "tile_index_paths")) {
        run_list(file, json_object_get(root, "tile_index_paths"), "path", check_path);
        run_list(file, json_object_get(root, "tiles_for_tree_size"), "size", check_widths);
    } else {
        run_list(file, json_object_get(root, "valid"), "valid", check_vkey);
        run_list(file, json_object_get(root, "invalid"), "invalid", check_vkey);
    }
}
