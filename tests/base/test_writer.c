#include "base/writer.h"
#include "support/test.h"

#include <string.h>

static void writer_writes_big_endian_and_prefixed(sotto_test *t)
{
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, 0x0102, 2);
    sotto_write_uint(&w, UINT64_MAX - 1, 8);
    sotto_write_bytes(&w, sotto_bytes_of("raw", 3));
    sotto_write_bytes(&w, sotto_bytes_of(NULL, 0));
    sotto_write_opaque8(&w, sotto_bytes_of("a", 1));
    sotto_write_opaque16(&w, sotto_bytes_of("bc", 2));
    sotto_write_opaque32(&w, sotto_bytes_of(NULL, 0));
    CHECK_OK(t, sotto_writer_finish(&w, "message", &t->err));

    sotto_bytes wanted = sotto_test_hex(t, "0102fffffffffffffffe7261770161000262"
                                           "6300000000");
    CHECK_EQUAL(t, wanted.len, out.len);
    CHECK_BYTES(t, wanted.data, memory, wanted.len);
}

static void writer_takes_back_what_did_not_fit_at_every_size(sotto_test *t)
{
    enum { WHOLE = 1 + 2 + 5 };

    for (size_t cap = 0; cap <= WHOLE; cap++) {
        uint8_t memory[3 + WHOLE];
        sotto_buf out = sotto_buf_over(memory, 3 + cap);

        memset(memory, 0x55, sizeof memory);
        out.len = 3; /* somebody wrote here before */
        sotto_writer w = sotto_writer_on(&out);
        sotto_write_uint(&w, 9, 1);
        sotto_write_opaque16(&w, sotto_bytes_of("hello", 5));
        if (cap == WHOLE) {
            CHECK_OK(t, sotto_writer_finish(&w, "message", &t->err));
            continue;
        }
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_writer_finish(&w, "message", &t->err));
        CHECK_REASON(t, "message: does not fit");
        CHECK_EQUAL(t, 3, out.len);
        CHECK_BYTES(t, "\x55\x55\x55", memory, 3);
        for (size_t i = 3; i < sizeof memory; i++) /* half a message may hold a secret */
            CHECK(t, memory[i] == 0 || memory[i] == 0x55);
    }
}

static void writer_stays_shut_after_an_overflow(sotto_test *t)
{
    uint8_t memory[4];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, 1, 8);
    sotto_write_uint(&w, 1, 1); /* would fit */
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_writer_finish(&w, "message", &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

static void writer_refuses_a_text_longer_than_its_prefix_can_say(sotto_test *t)
{
    uint8_t *text = sotto_arena_take(&t->arena, 65536);
    uint8_t *memory = sotto_arena_take(&t->arena, 70000);
    CHECK(t, text && memory);

    sotto_buf out = sotto_buf_over(memory, 70000);
    sotto_writer w = sotto_writer_on(&out);
    sotto_write_opaque8(&w, sotto_bytes_of(text, 255));
    sotto_write_opaque16(&w, sotto_bytes_of(text, 65535));
    CHECK_OK(t, sotto_writer_finish(&w, "longest", &t->err));

    out.len = 0;
    w = sotto_writer_on(&out);
    sotto_write_opaque8(&w, sotto_bytes_of(text, 256));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_writer_finish(&w, "name", &t->err));

    w = sotto_writer_on(&out);
    sotto_write_opaque16(&w, sotto_bytes_of(text, 65536));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_writer_finish(&w, "list", &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

static void writer_on_no_memory_at_all_only_overflows(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(NULL, 0);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_bytes(&w, sotto_bytes_of("x", 1));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_writer_finish(&w, "message", NULL));
}

static void a_text_is_written_as_printf_writes_it(sotto_test *t)
{
    enum { CUT = 1023 };
    char long_text[CUT + 100];
    uint8_t memory[2 * CUT];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&out);

    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = 0;
    sotto_write_format(&w, "%d of %s", 7, "nine");
    sotto_write_format(&w, "%s", "");
    CHECK_OK(t, sotto_writer_finish(&w, "text", &t->err));
    CHECK_EQUAL(t, 9, out.len);
    CHECK_BYTES(t, (const uint8_t *)"7 of nine", memory, 9);
    sotto_write_format(&w, "%.*s", CUT, long_text);
    CHECK_OK(t, sotto_writer_finish(&w, "text", &t->err));
    CHECK_EQUAL(t, 9 + CUT, out.len);
    /* What is longer is not cut: it fails, and nothing of it stays. */
    out.len = 0;
    w = sotto_writer_on(&out);
    sotto_write_format(&w, "%.*s", CUT + 1, long_text);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_writer_finish(&w, "text", &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(writer_writes_big_endian_and_prefixed),
        CASE(writer_takes_back_what_did_not_fit_at_every_size),
        CASE(writer_stays_shut_after_an_overflow),
        CASE(writer_refuses_a_text_longer_than_its_prefix_can_say),
        CASE(writer_on_no_memory_at_all_only_overflows),
        CASE(a_text_is_written_as_printf_writes_it),
    };
    return RUN_TESTS(argc, argv, cases);
}
