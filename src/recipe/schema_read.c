/* Reading values that the table has found right. */
#include "recipe/schema.h"

#include "base/hex.h"
#include "crypto/hash.h"
#include "recipe/calendar.h"

#include <string.h>

void *sotto_reading_take(sotto_reading *r, size_t count, size_t size)
{
    void *memory = sotto_arena_take_array(r->arena, count ? count : 1, size);

    if (!memory)
        r->no_memory = true;
    return memory;
}

bool sotto_reading_keep(sotto_reading *r, sotto_bytes *text, uint8_t hash[32])
{
    uint8_t *copy = sotto_reading_take(r, r->text.len, 1);

    if (!copy)
        return false;
    memcpy(copy, r->text.data, r->text.len);
    *text = sotto_bytes_of(copy, r->text.len);
    sotto_hash_once(hash, SOTTO_SHA256, *text);
    return true;
}

char *sotto_reading_take_text(sotto_reading *r, size_t len)
{
    enum { CHUNK = 4096 };
    char *text;

    if (len + 1 > r->pack_left) {
        size_t room = len + 1 > CHUNK ? len + 1 : CHUNK;
        char *pack = sotto_reading_take(r, room, 1);

        if (!pack)
            return NULL;
        r->pack = pack;
        r->pack_left = room;
    }
    text = r->pack;
    r->pack += len + 1;
    r->pack_left -= len + 1;
    return text;
}

const char *sotto_reading_copy(sotto_reading *r, const char *text)
{
    size_t len = strlen(text);
    char *copy = sotto_reading_take_text(r, len);

    if (copy)
        memcpy(copy, text, len + 1);
    return copy;
}

const char *sotto_reading_text(sotto_reading *r, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? sotto_reading_copy(r, text) : NULL;
}

sotto_bytes sotto_reading_hex(sotto_reading *r, const json_t *text)
{
    const char *digits = json_string_value(text);
    size_t len = strlen(digits) / 2;
    uint8_t *bytes = sotto_reading_take(r, len, 1);

    for (size_t i = 0; bytes && i < len; i++)
        bytes[i] = (uint8_t)(sotto_hex_digit_vartime((uint8_t)digits[2 * i]) << 4 |
                             sotto_hex_digit_vartime((uint8_t)digits[2 * i + 1]));
    return sotto_bytes_of(bytes, bytes ? len : 0);
}

unsigned sotto_reading_choice(const json_t *object, const char *rows, const char *key)
{
    size_t count;
    const sotto_schema_key *row = sotto_schema_rows(rows, &count);
    const char *text = json_string_value(json_object_get(object, key));
    unsigned position = 0;

    for (size_t i = 0; text && i < count; i++) {
        if (strcmp(row[i].key, key) != 0)
            continue;
        size_t len = strlen(text);
        for (const char *word = row[i].of; word; word = strchr(word, '|')) {
            word += *word == '|';
            if (strncmp(word, text, len) == 0 && (word[len] == '|' || !word[len]))
                return position;
            position++;
        }
    }
    return 0;
}

sotto_decimal sotto_reading_decimal(const sotto_reading *r, const sotto_place *object,
                                    const char *key)
{
    sotto_place place = {object, key, 0};
    sotto_decimal decimal = {0};
    sotto_span span;

    /* Checked before: what isn't there or doesn't parse has been reported and stays 0. */
    if (sotto_place_find(&place, r->text, &span) &&
        sotto_decimal_parse(&decimal,
                            sotto_bytes_of(r->text.data + span.value, span.end - span.value),
                            SOTTO_DECIMAL_EXACT, NULL) != SOTTO_OK)
        decimal.units = 0;
    return decimal;
}

int64_t sotto_reading_time(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    int64_t seconds = 0;

    return text && sotto_calendar_parse_time(&seconds, text) ? seconds : 0;
}

uint64_t sotto_reading_duration(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    uint64_t seconds = 0;

    return text && sotto_calendar_parse_duration(&seconds, text) ? seconds : 0;
}
