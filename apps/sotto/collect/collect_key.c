/* sotto collect key - the key pair that both servers seal their shares to. */
#include "collect.h"

#include "base/hex.h"
#include "base/secret_file.h"
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 256 };

static void print_config(const char *path, sotto_bytes config, bool json)
{
    char hex[2 * CONFIG_MAX + 1];

    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_hex(&j, "config", config);
        (void)sotto_show_end(&j);
        return;
    }
    sotto_hex_encode(hex, config);
    printf("%s\n", hex);
    (void)fprintf(stderr,
                  "The line above is public: it goes into the parties file as a collector's "
                  "\"config\".\n%s is secret: without it no answer can be opened, and whoever has "
                  "it can open all of them.\n",
                  path);
}

static int write_key(const char *path, uint8_t id, bool json)
{
    uint8_t memory[SOTTO_COLLECTOR_KEY_MAX], wire[CONFIG_MAX];
    sotto_buf file = sotto_buf_over(memory, sizeof memory);
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_collector_key key;
    sotto_hpke_config public_half;
    sotto_err err = {0};
    sotto_status status = sotto_collector_key_new(&key, id, &err);

    public_half = sotto_collector_key_config(&key);
    if (status == SOTTO_OK)
        status = sotto_collector_key_encode(&file, &key, &err);
    if (status == SOTTO_OK)
        status = sotto_hpke_config_encode(&config, &public_half, &err);
    if (status == SOTTO_OK)
        status = sotto_secret_file_write(path, sotto_buf_bytes(&file), &err);
    if (status == SOTTO_OK)
        print_config(path, sotto_buf_bytes(&config), json);
    else
        (void)fprintf(stderr, "sotto collect key: %s: %s\n", path, err.reason);
    sotto_wipe(memory, sizeof memory);
    sotto_wipe(&key, sizeof key);
    return sotto_exit_code(status, SOTTO_AT_FILE);
}

int sotto_collect_key(int argc, char **argv)
{
    const char *path = NULL;
    uint64_t id = 1;
    bool json = false;
    const sotto_argument words[] = {{.name = "FILE", .text = &path, .needed = true},
                                    {.name = "--id", .whole = &id, .most = 255},
                                    {.name = "--json", .flag = &json}};
    const int code =
        sotto_arguments_read("collect key", words, sizeof words / sizeof words[0], argc, argv);

    if (code != EXIT_DONE)
        return code;
    return write_key(path, (uint8_t)id, json);
}
