/* Images in the IDX format of MNIST, plain or gzipped; and verses as JSON. */
#define _POSIX_C_SOURCE 200809L
#include "learn_data.h"

#include "base/file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1 << 28, LINE = 65 };

/* ---- files ----------------------------------------------------------------------------------------------------------- */

static bool unpack(int to, const char *path)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        if (dup2(to, STDOUT_FILENO) >= 0)
            (void)execlp("gzip", "gzip", "-dc", "--", path, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* What gzip makes of it, by way of a file without a name. */
static sotto_status read_gzipped(sotto_bytes *out, const char *path, sotto_arena *arena,
                                 sotto_err *err)
{
    FILE *file = tmpfile();
    sotto_status status = SOTTO_IO;

    if (!file)
        return sotto_fail(err, SOTTO_IO, "no temporary file: %s", strerror(errno));
    if (unpack(fileno(file), path) && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        uint8_t *data = size > 0 && size < MOST ? sotto_arena_take(arena, (size_t)size) : NULL;

        if (data && fseek(file, 0, SEEK_SET) == 0 &&
            fread(data, 1, (size_t)size, file) == (size_t)size) {
            *out = sotto_bytes_of(data, (size_t)size);
            status = SOTTO_OK;
        }
    }
    (void)fclose(file);
    return status == SOTTO_OK ? SOTTO_OK
                              : sotto_fail(err, SOTTO_IO, "%.120s: gzip can't unpack it", path);
}

static sotto_status read_either(sotto_bytes *out, const char *folder, const char *name,
                                sotto_arena *arena, sotto_err *err)
{
    char path[4096];
    sotto_status status;

    (void)snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    status = sotto_file_read(out, path, MOST, arena, NULL);
    if (status == SOTTO_OK)
        return status;
    (void)snprintf(path, sizeof path, "%.4000s/%s.gz", folder, name);
    if (access(path, R_OK) != 0)
        return sotto_fail(err, SOTTO_MISSING, "%.100s has no %s", folder, name);
    return read_gzipped(out, path, arena, err);
}

/* ---- images ---------------------------------------------------------------------------------------------------------- */

/* IDX: two zeros, the type of numbers (bytes), how many sizes follow, and these with 4 bytes each. */
static sotto_status read_idx(sotto_bytes *out, uint64_t *sizes, unsigned count, sotto_bytes file,
                             const char *name, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(file);
    uint64_t product = 1;

    if (sotto_read_uint(&in, 4) != (0x800 | count))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: no IDX file of bytes", name);
    for (unsigned i = 0; i < count; i++) {
        sizes[i] = sotto_read_uint(&in, 4);
        if (sizes[i] < 1 || sizes[i] > 1000000)
            return sotto_fail(err, SOTTO_MALFORMED, "%s: a size is out of range", name);
        product *= sizes[i];
    }
    *out = sotto_read_bytes(&in, (size_t)product);
    return sotto_reader_finish(&in, name, err);
}

static sotto_status read_part(learn_rows *rows, const char *folder, const char *part, bool test,
                              sotto_arena *arena, sotto_err *err)
{
    char names[2][64];
    sotto_bytes files[2], images, labels;
    uint64_t sizes[3], count[1];

    (void)snprintf(names[0], sizeof names[0], "%s-images-idx3-ubyte", part);
    (void)snprintf(names[1], sizeof names[1], "%s-labels-idx1-ubyte", part);
    SOTTO_TRY(read_either(&files[0], folder, names[0], arena, err));
    SOTTO_TRY(read_either(&files[1], folder, names[1], arena, err));
    SOTTO_TRY(read_idx(&images, sizes, 3, files[0], names[0], err));
    SOTTO_TRY(read_idx(&labels, count, 1, files[1], names[1], err));
    if (sizes[0] != count[0] || sizes[1] > 64 || sizes[2] > 64 ||
        (test && (sizes[1] != rows->height || sizes[2] != rows->width)))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: images and labels do not match", names[0]);
    rows->height = (size_t)sizes[1];
    rows->width = (size_t)sizes[2];
    const size_t before = test ? rows->training : 0, width = rows->height * rows->width;
    uint8_t *values = sotto_arena_take(arena, (before + images.len / width) * width);
    uint8_t *all = sotto_arena_take(arena, before + labels.len);

    if (!values || !all)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for images");
    if (test) {
        memcpy(values, rows->values, before * width);
        memcpy(all, rows->labels, before);
    }
    memcpy(values + before * width, images.data, images.len);
    memcpy(all + before, labels.data, labels.len);
    rows->values = values;
    rows->labels = all;
    *(test ? &rows->test : &rows->training) = labels.len;
    return SOTTO_OK;
}

sotto_status learn_data_images(learn_rows *rows, const char *folder, sotto_arena *arena,
                               sotto_err *err)
{
    memset(rows, 0, sizeof *rows);
    rows->classes = 10;
    SOTTO_TRY(read_part(rows, folder, "train", false, arena, err));
    return read_part(rows, folder, "t10k", true, arena, err);
}

/* Who wrote each training digit: 2 bytes each, little endian, in MNIST's order. Users are numbered as they come. */
sotto_status learn_data_writers(learn_rows *rows, const char *folder, sotto_arena *arena,
                                sotto_err *err)
{
    uint32_t *user = sotto_arena_take_array(arena, 65536, sizeof *user); /* plus one */
    char path[4096];
    sotto_bytes file;

    rows->owner = sotto_arena_take_array(arena, rows->training, sizeof *rows->owner);
    if (!user || !rows->owner)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for writers");
    (void)snprintf(path, sizeof path, "%.4000s/mnist_train_writer_u16le.bin", folder);
    SOTTO_TRY(sotto_file_read(&file, path, MOST, arena, err));
    if (file.len != 2 * rows->training)
        return sotto_fail(err, SOTTO_MALFORMED, "%.100s: two bytes a digit wanted", path);
    for (size_t i = 0; i < rows->training; i++) {
        uint32_t *of = &user[file.data[2 * i] | file.data[2 * i + 1] << 8];

        if (*of == 0)
            *of = (uint32_t)++rows->users;
        rows->owner[i] = *of - 1;
    }
    return SOTTO_OK;
}

/* ---- text ------------------------------------------------------------------------------------------------------------ */

static const char alphabet[] = " abcdefghijklmnopqrstuvwxyz.,;:'?!()-";

/* Marks of paragraphs and italics go; capitals become small; what is left over becomes a space. */
static int symbol_of(char c)
{
    const char small = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const char *at = strchr(alphabet, small);

    if (c == '#' || c == '[' || c == ']' || c == 0)
        return -1;
    return at ? (int)(at - alphabet) : 0;
}

typedef struct chapter {
    char name[64];
    uint8_t text[LINE];
    size_t len;
    uint32_t number;
} chapter;

/* Cuts the text of a chapter into lines; its last piece, shorter than a line, is left out. */
static void add_text(learn_rows *rows, chapter *c, const char *text)
{
    for (; *text; text++) {
        const int symbol = symbol_of(*text);

        if (symbol < 0)
            continue;
        c->text[c->len++] = (uint8_t)symbol;
        if (c->len == LINE) {
            memcpy(rows->values + rows->training * LINE, c->text, LINE);
            rows->owner[rows->training++] = c->number;
            c->len = 0;
        }
    }
}

/* Every tenth chapter is for tests: its lines go behind the others. */
static void set_aside(learn_rows *rows, sotto_arena *arena, sotto_err *err, sotto_status *status)
{
    uint8_t *kept = sotto_arena_take(arena, rows->training * LINE);
    size_t training = 0, test = 0;
    uint32_t users = 0, last = UINT32_MAX;

    if (!kept) {
        *status = sotto_fail(err, SOTTO_NO_MEMORY, "no memory for text");
        return;
    }
    for (size_t i = 0; i < rows->training; i++) {
        const uint8_t *line = rows->values + i * LINE;

        if (rows->owner[i] % 10 == 9) {
            memcpy(kept + test++ * LINE, line, LINE);
            continue;
        }
        users += rows->owner[i] != last;
        last = rows->owner[i];
        memmove(rows->values + training * LINE, line, LINE);
        rows->owner[training++] = users - 1;
    }
    memcpy(rows->values + training * LINE, kept, test * LINE);
    rows->training = training;
    rows->test = test;
    rows->users = users;
}

/* {"Genesis 1:1": "In the beginning ...", ...}: a chapter is what stands before the colon. */
static sotto_status read_verses(learn_rows *rows, json_t *verses, sotto_err *err)
{
    chapter c = {.number = UINT32_MAX};
    const char *place;
    json_t *verse;

    json_object_foreach(verses, place, verse)
    {
        const char *text = json_string_value(verse), *colon = strrchr(place, ':');

        if (!text || !colon || (size_t)(colon - place) >= sizeof c.name)
            return sotto_fail(err, SOTTO_MALFORMED, "a verse has no place such as Genesis 1:1");
        if (strncmp(c.name, place, (size_t)(colon - place)) != 0 || c.name[colon - place] != 0) {
            memset(c.name, 0, sizeof c.name);
            memcpy(c.name, place, (size_t)(colon - place));
            c.len = 0;
            c.number++;
        }
        add_text(rows, &c, text);
        add_text(rows, &c, " ");
    }
    return rows->training ? SOTTO_OK : sotto_fail(err, SOTTO_MALFORMED, "there are no verses");
}

sotto_status learn_data_chapters(learn_rows *rows, const char *folder, sotto_arena *arena,
                                 sotto_err *err)
{
    sotto_bytes file;
    sotto_status status;
    json_t *verses;

    *rows = (learn_rows){.classes = sizeof alphabet - 1, .height = 1, .width = LINE};
    SOTTO_TRY(read_either(&file, folder, "verses-1769.json", arena, err));
    rows->values = sotto_arena_take(arena, file.len + LINE);
    rows->owner = sotto_arena_take_array(arena, file.len / LINE + 1, sizeof *rows->owner);
    if (!rows->values || !rows->owner)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for text");
    verses = json_loadb((const char *)file.data, file.len, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(verses))
        status = read_verses(rows, verses, err);
    else
        status = sotto_fail(err, SOTTO_MALFORMED, "verses-1769.json: a JSON object wanted");
    json_decref(verses);
    if (status == SOTTO_OK)
        set_aside(rows, arena, err, &status);
    return status;
}
