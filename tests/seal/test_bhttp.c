#include "seal/keys.h"

#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/date.h"

#include <string.h>

#define CONTROL                                                                                    \
    "03474554"                                                                                     \
    "056874747073"                                                                                 \
    "0161"                                                                                         \
    "012f" /* GET https a / */

static sotto_status decode(sotto_test *t, sotto_bhttp *out, const char *hex)
{
    const sotto_bytes wire = sotto_test_hex(t, hex);
    uint8_t *copy = sotto_arena_take(&t->arena, wire.len + 1);

    if (wire.len > 0)
        memcpy(copy, wire.data, wire.len);
    return sotto_bhttp_decode(out, copy, wire.len, &t->err);
}

static void refuse(sotto_test *t, const char *hex, const char *reason)
{
    sotto_bhttp m;

    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, &m, hex));
    CHECK_REASON(t, reason);
}

static void same(sotto_test *t, const char *wanted, sotto_bytes got)
{
    CHECK_EQUAL(t, strlen(wanted), got.len);
    CHECK_BYTES(t, wanted, got.data, got.len);
}

static void a_request_survives_the_wire_at_any_size(sotto_test *t)
{
    uint8_t memory[400], lines[64];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);
    sotto_bytes value;
    sotto_bhttp back;

    sotto_bhttp_field_write(&w, "content-type", ascii("text/plain"));
    sotto_bhttp_field_write(&w, "x", ascii(""));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    const sotto_bhttp m = {.method = ascii("PUT"),
                           .scheme = ascii("https"),
                           .authority = ascii("leader.example"),
                           .path = ascii("/a/b"),
                           .fields = sotto_buf_bytes(&fields),
                           .content = ascii("hello")};

    for (size_t size = 80; size <= 300; size += 20) {
        sotto_buf out = sotto_buf_over(memory, sizeof memory);

        CHECK_OK(t, sotto_bhttp_encode(&out, &m, size, &t->err));
        CHECK_EQUAL(t, size, out.len);
        CHECK_OK(t, sotto_bhttp_decode(&back, memory, out.len, &t->err));
        CHECK(t, !back.response);
        same(t, "PUT", back.method);
        same(t, "leader.example", back.authority);
        same(t, "/a/b", back.path);
        same(t, "hello", back.content);
        CHECK(t, sotto_bhttp_field(back.fields, "content-type", &value));
        same(t, "text/plain", value);
        CHECK(t, sotto_bhttp_field(back.fields, "x", &value) && value.len == 0);
        CHECK(t, !sotto_bhttp_field(back.fields, "y", &value));
    }
}

static void a_message_that_does_not_fit_its_size_is_not_written(sotto_test *t)
{
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_bhttp m = {.response = true, .status = 200, .content = ascii("0123456789")};

    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_bhttp_encode(&out, &m, 14, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_bhttp_encode(&out, &m, 65, &t->err));
    CHECK_EQUAL(t, 0, out.len);
    CHECK_OK(t, sotto_bhttp_encode(&out, &m, 15, &t->err));
    CHECK_EQUAL(t, 15, out.len);
}

static void chunks_are_joined(sotto_test *t)
{
    sotto_bhttp m;

    CHECK_OK(t, decode(t, &m,
                       "02" CONTROL "00"
                       "02"
                       "6865"
                       "01"
                       "6c"
                       "02"
                       "6c6f"
                       "00"
                       "00"));
    same(t, "hello", m.content);
    CHECK_OK(t, decode(t, &m, "02" CONTROL));
    CHECK_EQUAL(t, 0, m.content.len);
}

static void framings_that_are_none_are_refused(sotto_test *t)
{
    refuse(t, "", "BHTTP: empty");
    refuse(t, "04" CONTROL, "BHTTP: unknown framing");
    refuse(t, "4004" CONTROL, "BHTTP: unknown framing");
}

static void truncated_messages_are_refused(sotto_test *t)
{
    refuse(t,
           "00"
           "03474554"
           "056874747073"
           "0161"
           "02"
           "2f",
           "BHTTP: control data: too short");
    refuse(t,
           "00" CONTROL "05"
           "0161",
           "BHTTP: fields: too short");
    refuse(t,
           "00" CONTROL "02"
           "0161",
           "BHTTP: fields: too short");
    refuse(t,
           "00" CONTROL "00"
           "05"
           "6161",
           "BHTTP: content: too short");
    refuse(t,
           "00" CONTROL "00"
           "ffffffffffffffff"
           "6161",
           "BHTTP: content: too short");
    refuse(t,
           "00" CONTROL "00"
           "00"
           "02"
           "01",
           "BHTTP: fields: too short");
    refuse(t,
           "02" CONTROL "0161"
           "0162",
           "BHTTP: fields: too short");
    refuse(t,
           "02" CONTROL "00"
           "02"
           "6161",
           "BHTTP: content: too short");
    refuse(t, "01", "BHTTP: control data: too short");
    refuse(t,
           "01"
           "4067",
           "BHTTP: control data: too short");
    refuse(t,
           "01"
           "4067"
           "00",
           "BHTTP: control data: too short");
}

static void control_data_is_one_line(sotto_test *t)
{
    refuse(t,
           "00"
           "00"
           "056874747073"
           "0161"
           "012f",
           "BHTTP: control data has an invalid byte");
    refuse(t,
           "00"
           "03474554"
           "056874747073"
           "02610a"
           "012f",
           "BHTTP: control data has an invalid byte");
    refuse(t,
           "00"
           "03474554"
           "056874747073"
           "0161"
           "022f20",
           "BHTTP: control data has an invalid byte");
    refuse(t,
           "00"
           "03474554"
           "056874747073"
           "0161"
           "022f80",
           "BHTTP: control data has an invalid byte");
}

static void names_are_lower_case_tokens(sotto_test *t)
{
    refuse(t,
           "00" CONTROL "04"
           "0141"
           "0161",
           "BHTTP: an invalid field name");
    refuse(t,
           "00" CONTROL "05"
           "023a61"
           "0161",
           "BHTTP: an invalid field name");
    refuse(t,
           "00" CONTROL "03"
           "00"
           "0161",
           "BHTTP: an invalid field name");
    refuse(t,
           "00" CONTROL "04"
           "0100"
           "0161",
           "BHTTP: an invalid field name");
}

static void values_are_one_line(sotto_test *t)
{
    refuse(t,
           "00" CONTROL "06"
           "0161"
           "03610a61",
           "BHTTP: an invalid field value");
    refuse(t,
           "00" CONTROL "06"
           "0161"
           "03610061",
           "BHTTP: an invalid field value");
    refuse(t,
           "00" CONTROL "05"
           "0161"
           "022061",
           "BHTTP: an invalid field value");
    refuse(t,
           "00" CONTROL "05"
           "0161"
           "026109",
           "BHTTP: an invalid field value");
}

static void a_response_ends_with_a_final_status(sotto_test *t)
{
    sotto_bhttp m;

    CHECK_OK(t, decode(t, &m,
                       "01"
                       "4067"
                       "04"
                       "0161"
                       "0162"
                       "40c8"));
    CHECK_EQUAL(t, 200, m.status);
    CHECK_EQUAL(t, 0, m.fields.len);
    refuse(t,
           "01"
           "4063",
           "BHTTP: an invalid status");
    refuse(t,
           "01"
           "4258",
           "BHTTP: an invalid status");
}

static void padding_is_zero(sotto_test *t)
{
    sotto_bhttp m;

    CHECK_OK(t, decode(t, &m, "00" CONTROL "00000000000000"));
    refuse(t, "00" CONTROL "00000000000001", "BHTTP: padding is not zero");
}

static void dates_are_read_as_they_are_written(sotto_test *t)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } dates[] = {{0, "Thu, 01 Jan 1970 00:00:00 GMT"},
                 {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
                 {951782399, "Mon, 28 Feb 2000 23:59:59 GMT"},
                 {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
                 {4107542400, "Mon, 01 Mar 2100 00:00:00 GMT"},
                 {253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"}};
    static const char *const wrong[] = {"",
                                        "Sun, 06 Nov 1994 08:49:37 UTC",
                                        "Mon, 06 Nov 1994 08:49:37 GMT",
                                        "Sun, 06 Nov 1994 08:49:60 GMT",
                                        "Thu, 31 Nov 1994 08:49:37 GMT",
                                        "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun, 06 Nov 1994 08:4/:37 GMT",
                                        "Thu, 01 Jan 1960 00:00:00 GMT"};
    char text[SOTTO_HTTP_DATE];
    int64_t seconds;

    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        sotto_http_date_write(text, dates[i].seconds);
        CHECK_BYTES(t, dates[i].text, text, sizeof text);
        CHECK_OK(t, sotto_http_date_read(&seconds, ascii(dates[i].text), &t->err));
        CHECK(t, seconds == dates[i].seconds);
    }
    for (int64_t day = 0; day < 400 * 366; day += 13) { /* over every kind of leap year */
        sotto_http_date_write(text, day * 86400 + 4711);
        CHECK_OK(t, sotto_http_date_read(&seconds, sotto_bytes_of(text, sizeof text), &t->err));
        CHECK(t, seconds == day * 86400 + 4711);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_http_date_read(&seconds, ascii(wrong[i]), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_request_survives_the_wire_at_any_size),
        CASE(a_message_that_does_not_fit_its_size_is_not_written),
        CASE(chunks_are_joined),
        CASE(framings_that_are_none_are_refused),
        CASE(truncated_messages_are_refused),
        CASE(control_data_is_one_line),
        CASE(names_are_lower_case_tokens),
        CASE(values_are_one_line),
        CASE(a_response_ends_with_a_final_status),
        CASE(padding_is_zero),
        CASE(dates_are_read_as_they_are_written),
    };

    return RUN_TESTS(argc, argv, cases);
}
