/* Keys of signed notes as text. */
#include "tlog/note.h"

#include "base/base64.h"
#include "base/character.h"
#include "base/hex.h"
#include "base/rule.h"
#include "base/writer.h"
#include "crypto/hash.h"
#include "tlog/lines.h"

#include <string.h>

static const char private_prefix[] = "PRIVATE+KEY+";

enum {
    ID_HEX = 8,
    MATERIAL = 1 + SOTTO_SIGN_PUBLIC,
    MATERIAL_TEXT = SOTTO_BASE64_SIZE(MATERIAL),
    PRIVATE = sizeof private_prefix - 1
};

/* What Unicode counts as white space. */
static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

bool sotto_note_is_name(sotto_bytes name)
{
    for (size_t at = 0, from = 0; at < name.len; from = at) {
        const uint32_t c = sotto_character_next(name, &at);

        if (is_space(c) || c == '+' || c < 0x20 || (c == SOTTO_CHARACTER_BAD && at - from == 1))
            return false;
    }
    return name.len > 0;
}

static uint32_t id_of(sotto_bytes name, sotto_note_kind kind,
                      const uint8_t public_key[SOTTO_SIGN_PUBLIC])
{
    const uint8_t head[] = {'\n', (uint8_t)kind};
    uint8_t digest[32];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, name);
    sotto_hash_update(&hash, sotto_bytes_of(head, sizeof head));
    sotto_hash_update(&hash, sotto_bytes_of(public_key, SOTTO_SIGN_PUBLIC));
    sotto_hash_final(&hash, digest);
    return (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
           digest[3];
}

sotto_status sotto_note_key_init(sotto_note_key *out, sotto_bytes name, sotto_note_kind kind,
                                 const uint8_t public_key[SOTTO_SIGN_PUBLIC], sotto_err *err)
{
    if (SOTTO_RULE(note_key_named) && (name.len > SOTTO_NOTE_NAME_MAX || !sotto_note_is_name(name)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "note key: the name is empty, too long, or has a space or a plus");
    out->name = name;
    out->kind = kind;
    out->id = id_of(name, kind, public_key);
    memcpy(out->public_key, public_key, SOTTO_SIGN_PUBLIC);
    return SOTTO_OK;
}

/* "name+id+material": material is the kind and 32 bytes. */
typedef struct key_text {
    sotto_bytes name;
    uint32_t id;
    uint8_t material[MATERIAL];
} key_text;

static bool split(key_text *out, sotto_bytes text)
{
    const size_t tail = 1 + ID_HEX + 1 + MATERIAL_TEXT;
    uint8_t id[ID_HEX / 2];
    const uint8_t *at;

    if (text.len <= tail)
        return false;
    out->name = sotto_bytes_of(text.data, text.len - tail);
    at = text.data + out->name.len;
    if (at[0] != '+' || at[1 + ID_HEX] != '+' ||
        !sotto_hex_decode(id, sizeof id, sotto_bytes_of(at + 1, ID_HEX)))
        return false;
    out->id = (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
    return sotto_base64_decode(out->material, MATERIAL, SOTTO_BASE64_STANDARD,
                               sotto_bytes_of(at + tail - MATERIAL_TEXT, MATERIAL_TEXT));
}

static bool is_kind(uint8_t kind)
{
    return kind == SOTTO_NOTE_ED25519 || kind == SOTTO_NOTE_COSIGNATURE;
}

sotto_status sotto_note_key_decode(sotto_note_key *out, sotto_bytes vkey, sotto_err *err)
{
    key_text text = {0};

    if (!split(&text, vkey))
        return sotto_fail(err, SOTTO_MALFORMED, "note key: not name+id+key");
    if (!is_kind(text.material[0]))
        return sotto_fail(err, SOTTO_MISSING, "note key: signatures of kind %u are not known",
                          text.material[0]);
    SOTTO_TRY(sotto_note_key_init(out, text.name, (sotto_note_kind)text.material[0],
                                  text.material + 1, err));
    if (SOTTO_RULE(note_key_id_matches) && out->id != text.id)
        return sotto_fail(err, SOTTO_MALFORMED, "note key: the id is another key's");
    return SOTTO_OK;
}

static void write_material(sotto_writer *w, const sotto_note_key *key, const uint8_t bytes[32])
{
    uint8_t material[MATERIAL] = {(uint8_t)key->kind};
    char text[MATERIAL_TEXT + 1];

    memcpy(material + 1, bytes, MATERIAL - 1);
    sotto_base64_encode(text, SOTTO_BASE64_STANDARD, sotto_bytes_of(material, sizeof material));
    sotto_write_bytes(w, key->name);
    sotto_write_format(w, "+%08x+", key->id);
    sotto_write_bytes(w, sotto_bytes_of(text, MATERIAL_TEXT));
    sotto_wipe(material, sizeof material);
    sotto_wipe(text, sizeof text);
}

sotto_status sotto_note_key_encode(sotto_buf *out, const sotto_note_key *key, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    write_material(&w, key, key->public_key);
    return sotto_writer_finish(&w, "note key", err);
}

sotto_status sotto_note_signer_encode(sotto_buf *out, const sotto_note_key *key,
                                      const uint8_t seed[SOTTO_SIGN_SEED], sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(private_prefix, PRIVATE));
    write_material(&w, key, seed);
    return sotto_writer_finish(&w, "note key", err);
}

sotto_status sotto_note_signer_decode(sotto_note_signer *out, sotto_bytes text, sotto_err *err)
{
    key_text parts = {0};
    sotto_status status;

    memset(out, 0, sizeof *out);
    if (text.len < PRIVATE || memcmp(text.data, private_prefix, PRIVATE) != 0 ||
        !split(&parts, sotto_bytes_of(text.data + PRIVATE, text.len - PRIVATE)) ||
        !is_kind(parts.material[0])) {
        sotto_wipe(&parts, sizeof parts);
        return sotto_fail(err, SOTTO_MALFORMED, "no key for signing notes");
    }
    status = sotto_signer_init(&out->signer, parts.material + 1, err);
    if (status == SOTTO_OK)
        status = sotto_note_key_init(&out->key, parts.name, (sotto_note_kind)parts.material[0],
                                     out->signer.public_key, err);
    if (status == SOTTO_OK && out->key.id != parts.id)
        status = sotto_fail(err, SOTTO_MALFORMED, "key for signing notes: the id is another key's");
    sotto_wipe(&parts, sizeof parts);
    return status;
}

void sotto_note_signer_clear(sotto_note_signer *signer)
{
    sotto_signer_clear(&signer->signer);
}
