#include "db/sealed.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 256 };

static const sotto_column_place place = {"hpke_keys", "secret", {(const uint8_t *)"\x01", 1}};

static sotto_column_keys keys_of(uint8_t first, uint8_t second)
{
    sotto_column_keys keys = {.count = second ? 2 : 1};

    memset(keys.key[0], first, sizeof keys.key[0]);
    memset(keys.key[1], second, sizeof keys.key[1]);
    return keys;
}

static sotto_bytes seal(sotto_test *t, const sotto_column_keys *keys, const char *plain)
{
    sotto_buf out = sotto_test_buf(t, ROOM);

    CHECK_OK(t,
             sotto_column_seal(&out, keys, &place, sotto_bytes_of(plain, strlen(plain)), &t->err));
    CHECK_EQUAL(t, strlen(plain) + SOTTO_COLUMN_OVERHEAD, out.len);
    return sotto_buf_bytes(&out);
}

static sotto_status open_at(sotto_test *t, const sotto_column_keys *keys,
                            const sotto_column_place *where, sotto_bytes sealed, const char *wanted)
{
    uint8_t room[ROOM];
    sotto_buf out = sotto_buf_over(room, sizeof room);
    sotto_status status = sotto_column_unseal(&out, keys, where, sealed, &t->err);

    if (status == SOTTO_OK)
        CHECK(t, out.len == strlen(wanted) && memcmp(room, wanted, out.len) == 0);
    else
        CHECK_EQUAL(t, 0, out.len);
    return status;
}

static void a_value_opens_where_it_was_sealed(sotto_test *t)
{
    sotto_column_keys keys = keys_of(1, 0);
    sotto_bytes sealed = seal(t, &keys, "a secret"), again = seal(t, &keys, "a secret");

    CHECK_OK(t, open_at(t, &keys, &place, sealed, "a secret"));
    CHECK_OK(t, open_at(t, &keys, &place, seal(t, &keys, ""), ""));
    CHECK(t, memcmp(sealed.data + 4, again.data + 4, 24) != 0); /* another salt each time */
    CHECK(t, memcmp(sealed.data + 28, again.data + 28, 8) != 0);
}

static void a_value_opens_nowhere_else(sotto_test *t)
{
    sotto_column_keys keys = keys_of(1, 0);
    sotto_bytes sealed = seal(t, &keys, "a secret");
    const sotto_column_place others[] = {
        {"hpke_keys", "secret", {(const uint8_t *)"\x02", 1}},
        {"hpke_keys", "secret", {(const uint8_t *)"\x01\x00", 2}},
        {"hpke_keys", "secre", {(const uint8_t *)"t\x01", 2}},
        {"hpke_key", "ssecret", {(const uint8_t *)"\x01", 1}},
        {"tokens", "secret", {(const uint8_t *)"\x01", 1}},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK_STATUS(t, SOTTO_REJECTED, open_at(t, &keys, &others[i], sealed, ""));
}

static void every_changed_byte_is_noticed(sotto_test *t)
{
    sotto_column_keys keys = keys_of(1, 0);
    sotto_bytes sealed = seal(t, &keys, "a secret");
    uint8_t copy[ROOM];

    for (size_t i = 0; i < sealed.len; i++) {
        memcpy(copy, sealed.data, sealed.len);
        copy[i] ^= 1;
        CHECK_STATUS(t, i < 4 ? SOTTO_MISSING : SOTTO_REJECTED,
                     open_at(t, &keys, &place, sotto_bytes_of(copy, sealed.len), ""));
    }
    for (size_t len = 0; len < sealed.len; len++)
        CHECK_STATUS(t, len < SOTTO_COLUMN_OVERHEAD ? SOTTO_MALFORMED : SOTTO_REJECTED,
                     open_at(t, &keys, &place, sotto_bytes_of(sealed.data, len), ""));
}

static void keys_are_rotated_without_losing_values(sotto_test *t)
{
    sotto_column_keys old = keys_of(1, 0), both = keys_of(2, 1), new = keys_of(2, 0);
    sotto_bytes before = seal(t, &old, "x"), after = seal(t, &both, "y");

    CHECK_OK(t, open_at(t, &both, &place, before, "x"));
    CHECK_OK(t, open_at(t, &both, &place, after, "y"));
    CHECK_STATUS(t, SOTTO_MISSING, open_at(t, &new, &place, before, ""));
    CHECK_OK(t, open_at(t, &new, &place, after, "y"));
}

/* By the name that the key itself is listed under, or nobody finds it. */
static void a_missing_key_is_named(sotto_test *t)
{
    sotto_column_keys old = keys_of(1, 0), new = keys_of(2, 0);
    char name[SOTTO_COLUMN_KEY_NAME], said[sizeof SOTTO_COLUMN_KEY_GONE + SOTTO_COLUMN_KEY_NAME];
    const char *at;

    CHECK_STATUS(t, SOTTO_MISSING, open_at(t, &new, &place, seal(t, &old, "x"), ""));
    sotto_column_key_name(name, old.key[0]);
    (void)snprintf(said, sizeof said, "%s%s", SOTTO_COLUMN_KEY_GONE, name);
    at = strstr(t->err.reason, SOTTO_COLUMN_KEY_GONE);
    CHECK(t, at != NULL && strcmp(at, said) == 0);
}

static void without_room_or_key_nothing_is_written(sotto_test *t)
{
    sotto_column_keys keys = keys_of(1, 0), none = {0};
    uint8_t room[SOTTO_COLUMN_OVERHEAD + 1];
    sotto_buf out = sotto_buf_over(room, sizeof room);

    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_column_seal(&out, &keys, &place, sotto_bytes_of("ab", 2), &t->err));
    CHECK_EQUAL(t, 0, out.len);
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_column_seal(&out, &none, &place, sotto_bytes_of("a", 1), &t->err));
    CHECK_OK(t, sotto_column_seal(&out, &keys, &place, sotto_bytes_of("a", 1), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_value_opens_where_it_was_sealed),
        CASE(a_value_opens_nowhere_else),
        CASE(every_changed_byte_is_noticed),
        CASE(keys_are_rotated_without_losing_values),
        CASE(a_missing_key_is_named),
        CASE(without_room_or_key_nothing_is_written),
    };
    return RUN_TESTS(argc, argv, cases);
}
