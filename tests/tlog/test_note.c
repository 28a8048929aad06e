/* Signed notes: one form, signatures of known keys that hold, and others that nobody looks at. */
#include "notes.h"

#include "base/base64.h"

#include <stdio.h>

static const char vkey[] = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
static const char skey[] =
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
static const char note_text[] =
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "\xe2\x80\x94 PeterNeumann "
    "x08go/ZJkuBS9UG/"
    "SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

static sotto_note_key key_of(sotto_test *t, const char *text)
{
    sotto_note_key key;

    CHECK_OK(t, sotto_note_key_decode(&key, bytes_of(text), &t->err));
    return key;
}

static sotto_note note_of(sotto_test *t, sotto_bytes bytes)
{
    sotto_note note;

    CHECK_OK(t, sotto_note_decode(&note, bytes, &t->err));
    return note;
}

static const char *with(sotto_test *t, const char *from, const char *to)
{
    char *out = sotto_arena_take(&t->arena, sizeof note_text + strlen(to) + 1);
    const char *at = strstr(note_text, from);

    CHECK(t, out != NULL && at != NULL);
    (void)sprintf(out, "%.*s%s%s", (int)(at - note_text), note_text, to, at + strlen(from));
    return out;
}

static void a_note_of_the_go_library_holds(sotto_test *t)
{
    const sotto_note_key key = key_of(t, vkey);
    const sotto_note note = note_of(t, bytes_of(note_text));

    CHECK_OK(t, sotto_note_check(&note, &key, NULL, &t->err));
    CHECK_EQUAL(t, 0xc74f20a3, key.id);
    CHECK_EQUAL(t, strstr(note_text, "\n\n") + 1 - note_text, note.text.len);
}

static void its_key_signs_the_same_line(sotto_test *t)
{
    sotto_buf out = sotto_test_buf(t, 4096), again = sotto_test_buf(t, SOTTO_NOTE_KEY_TEXT);
    const sotto_note note = note_of(t, bytes_of(note_text));
    sotto_note_signer signer;

    CHECK_OK(t, sotto_note_signer_decode(&signer, bytes_of(skey), &t->err));
    CHECK_OK(t, sotto_note_sign(&out, note.text, &signer, 0, &t->err));
    CHECK_EQUAL(t, note.signatures.len, out.len);
    CHECK_BYTES(t, note.signatures.data, out.data, out.len);
    CHECK_OK(t, sotto_note_key_encode(&again, &signer.key, &t->err));
    CHECK_BYTES(t, vkey, again.data, again.len);
    CHECK_EQUAL(t, strlen(vkey), again.len);
    sotto_note_signer_clear(&signer);
}

static void a_signing_key_is_read_back(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7};
    sotto_note_signer signer = signer_of(t, "a.example/b", SOTTO_NOTE_COSIGNATURE, 7), again;
    sotto_buf text = sotto_test_buf(t, SOTTO_NOTE_KEY_TEXT);

    CHECK_OK(t, sotto_note_signer_encode(&text, &signer.key, seed, &t->err));
    CHECK_OK(t, sotto_note_signer_decode(&again, sotto_buf_bytes(&text), &t->err));
    CHECK_EQUAL(t, signer.key.id, again.key.id);
    CHECK_EQUAL(t, SOTTO_NOTE_COSIGNATURE, again.key.kind);
    sotto_note_signer_clear(&signer);
    sotto_note_signer_clear(&again);
}

static void a_changed_text_is_rejected(sotto_test *t)
{
    const sotto_note_key key = key_of(t, vkey);
    const sotto_note note = note_of(t, bytes_of(with(t, "answer", "Answer")));

    CHECK_STATUS(t, SOTTO_REJECTED, sotto_note_check(&note, &key, NULL, &t->err));
    CHECK_REASON(t, "signed note: a signature of PeterNeumann does not hold");
}

/* The id fits, and the signature is not the key's: such a line must not be ignored. */
static void a_note_with_two_bad_signatures_is_rejected(sotto_test *t)
{
    const char *bad =
        "\xe2\x80\x94 PeterNeumann "
        "x08go/ZJkuBS9UG/"
        "SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAQ=\n";
    const sotto_note_key key = key_of(t, vkey);
    sotto_buf both = sotto_test_buf(t, 4096);
    sotto_note note;

    append(t, &both, note_text); /* a good one, then two bad ones */
    append(t, &both, bad);
    append(t, &both, bad);
    note = note_of(t, sotto_buf_bytes(&both));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_note_check(&note, &key, NULL, &t->err));
    CHECK_REASON(t, "signed note: a signature of PeterNeumann does not hold");
    /* Too short for a signature, but the key's by name and id. */
    both.len = 0;
    append(t, &both, "text\n\n\xe2\x80\x94 PeterNeumann x08gowAA\n");
    note = note_of(t, sotto_buf_bytes(&both));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_note_check(&note, &key, NULL, &t->err));
}

static void signatures_of_strangers_are_ignored(sotto_test *t)
{
    const sotto_note_key key = key_of(t, vkey);
    sotto_buf text = sotto_test_buf(t, 8192);
    char big[4097];
    sotto_note note;

    memset(big, 'A', sizeof big - 1);
    big[sizeof big - 1] = 0;
    append(t, &text, note_text);
    append(t, &text, "\xe2\x80\x94 PeterNeumann AAAAAAAA\n"); /* its name, another id */
    append(t, &text, "\xe2\x80\x94 Other x08gowAA\n");        /* its id, another name */
    append(t, &text, "\xe2\x80\x94 PeterNeumann ");           /* as long as some kinds are */
    append(t, &text, big);
    append(t, &text, "\n");
    note = note_of(t, sotto_buf_bytes(&text));
    CHECK_OK(t, sotto_note_check(&note, &key, NULL, &t->err));
    text.len = 0;
    append(t, &text, "text\n\n\xe2\x80\x94 Other x08gowAA\n");
    note = note_of(t, sotto_buf_bytes(&text));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_note_check(&note, &key, NULL, &t->err));
    CHECK_REASON(t, "signed note: not signed by PeterNeumann");
}

static void a_text_may_have_empty_lines(sotto_test *t)
{
    sotto_note_signer signer = signer_of(t, "a", SOTTO_NOTE_ED25519, 3);
    const char *text = "one\n\ntwo\n\xe2\x80\x94 b AAAA\n\nthree\n";
    sotto_buf note = sotto_test_buf(t, 4096);
    sotto_note read;

    append(t, &note, text);
    append(t, &note, "\n");
    CHECK_OK(t, sotto_note_sign(&note, bytes_of(text), &signer, 0, &t->err));
    read = note_of(t, sotto_buf_bytes(&note));
    CHECK_EQUAL(t, strlen(text), read.text.len);
    CHECK_OK(t, sotto_note_check(&read, &signer.key, NULL, &t->err));
    sotto_note_signer_clear(&signer);
}

static void a_cosignature_covers_its_time(sotto_test *t)
{
    sotto_note_signer signer = signer_of(t, "w.example", SOTTO_NOTE_COSIGNATURE, 9);
    sotto_buf note = sotto_test_buf(t, 4096), later = sotto_test_buf(t, 4096);
    uint8_t bytes[76];
    char line[128];
    uint64_t time = 0;
    sotto_note read;

    append(t, &note, "text\n\n");
    CHECK_OK(t, sotto_note_sign(&note, bytes_of("text\n"), &signer, 1679315147, &t->err));
    read = note_of(t, sotto_buf_bytes(&note));
    CHECK_OK(t, sotto_note_check(&read, &signer.key, &time, &t->err));
    CHECK_EQUAL(t, 1679315147, time);
    CHECK(t,
          sotto_base64_decode(bytes, sizeof bytes, SOTTO_BASE64_STANDARD,
                              sotto_bytes_of(read.signatures.data + 14, read.signatures.len - 15)));
    bytes[11]++; /* one second later */
    sotto_base64_encode(line, SOTTO_BASE64_STANDARD, sotto_bytes_of(bytes, sizeof bytes));
    append(t, &later, "text\n\n\xe2\x80\x94 w.example ");
    append(t, &later, line);
    append(t, &later, "\n");
    read = note_of(t, sotto_buf_bytes(&later));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_note_check(&read, &signer.key, &time, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_note_sign(&note, bytes_of("text\n"), &signer, UINT64_MAX, &t->err));
    sotto_note_signer_clear(&signer);
}

static void what_is_no_note_is_malformed(sotto_test *t)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "no empty line before signatures"},
        {"text\n", "no empty line before signatures"},
        {"text\n\n", "no signature"},
        {"text\n\n- a AAAAAAAA\n", "signature line 1 is malformed"},
        {"text\n\n\xe2\x80\x94 a AAAAAAAA", "signature line 1 is malformed"},
        {"text\n\n\xe2\x80\x94 a AAAAAAAA\nmore\n", "signature line 2 is malformed"},
        {"text\n\n\xe2\x80\x94 a AAAA\n", "signature line 1 is malformed"},
        {"text\n\n\xe2\x80\x94 a+b AAAAAAAA\n", "signature line 1 is malformed"},
        {"text\n\n\xe2\x80\x94 a\xc2\xa0"
         "b AAAAAAAA\n",
         "signature line 1 is malformed"},
        {"text\n\n\xe2\x80\x94  AAAAAAAA\n", "signature line 1 is malformed"},
        {"text\n\n\xe2\x80\x94 a AAA!AAAA\n", "signature line 1 is malformed"},
    };
    sotto_note note;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_note_decode(&note, bytes_of(bad[i].text), &t->err));
        CHECK_REASON(t, bad[i].why);
    }
}

static void a_note_is_utf_eight_without_control_codes(sotto_test *t)
{
    static const char *const bad[] = {"te\rxt", "te\txt", "te\xfft", "te\xc0\x80t"};
    sotto_note note;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sotto_buf text = sotto_test_buf(t, 256);

        append(t, &text, bad[i]);
        append(t, &text, "\n\n\xe2\x80\x94 a AAAAAAAA\n");
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_note_decode(&note, sotto_buf_bytes(&text), &t->err));
        CHECK_REASON(t, "signed note: not UTF-8, or with control codes");
    }
    CHECK_OK(t, sotto_note_decode(&note, bytes_of("\xef\xbf\xbd\n\n\xe2\x80\x94 a AAAAAAAA\n"),
                                  &t->err));
}

static void too_many_signatures_are_refused(sotto_test *t)
{
    sotto_buf text = sotto_test_buf(t, 4096);
    sotto_note note;

    append(t, &text, "text\n\n");
    for (int i = 0; i < SOTTO_NOTE_SIGNATURES; i++)
        append(t, &text, "\xe2\x80\x94 a AAAAAAAA\n");
    CHECK_OK(t, sotto_note_decode(&note, sotto_buf_bytes(&text), &t->err));
    append(t, &text, "\xe2\x80\x94 a AAAAAAAA\n");
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_note_decode(&note, sotto_buf_bytes(&text), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_note_decode(&note, sotto_bytes_of("", SOTTO_NOTE_MAX + 1), &t->err));
}

static void a_key_has_its_own_id(sotto_test *t)
{
    sotto_note_key key;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_note_key_decode(
                     &key,
                     bytes_of("PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"),
                     &t->err));
    CHECK_REASON(t, "note key: the id is another key's");
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_note_key_decode(
                     &key,
                     bytes_of("PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"),
                     &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_note_key_decode(&key, bytes_of("PeterNeumann+c74f20a3+AAAA"), &t->err));
}

static void a_key_s_name_has_no_space_or_plus(sotto_test *t)
{
    static const char *const bad[] = {"",
                                      "a b",
                                      "a+b",
                                      "a\xe2\x80\x83"
                                      "b",
                                      "a\nb",
                                      "\xff"};
    const uint8_t public_key[SOTTO_SIGN_PUBLIC] = {1};
    sotto_note_key key;
    char name[SOTTO_NOTE_NAME_MAX + 2];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_note_key_init(&key, bytes_of(bad[i]), SOTTO_NOTE_ED25519, public_key, &t->err));
    memset(name, 'n', sizeof name);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_note_key_init(&key, sotto_bytes_of(name, SOTTO_NOTE_NAME_MAX + 1),
                                     SOTTO_NOTE_ED25519, public_key, &t->err));
    CHECK_OK(t, sotto_note_key_init(&key, sotto_bytes_of(name, SOTTO_NOTE_NAME_MAX),
                                    SOTTO_NOTE_ED25519, public_key, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_note_of_the_go_library_holds),
        CASE(its_key_signs_the_same_line),
        CASE(a_signing_key_is_read_back),
        CASE(a_changed_text_is_rejected),
        CASE(a_note_with_two_bad_signatures_is_rejected),
        CASE(signatures_of_strangers_are_ignored),
        CASE(a_text_may_have_empty_lines),
        CASE(a_cosignature_covers_its_time),
        CASE(what_is_no_note_is_malformed),
        CASE(a_note_is_utf_eight_without_control_codes),
        CASE(too_many_signatures_are_refused),
        CASE(a_key_has_its_own_id),
        CASE(a_key_s_name_has_no_space_or_plus),
    };

    return RUN_TESTS(argc, argv, cases);
}
